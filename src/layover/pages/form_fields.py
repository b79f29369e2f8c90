"""Forms from JSON Schemas: the fields of a form, how they look, and the data that was typed into them.

The subset: an object of text (also one of several, a date, a time, a mail address), numbers, yes or no, and lists of
single values. Any other field is written as JSON, and so is an answer whose schema is no such object. What fits is
judged by the server: a schema may ask for much more than its fields show.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import msgspec

from layover.pages.facts import label_of, short_text
from layover.pages.html import element, text_field, textarea

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.pages.html import Html

Kind = Literal["text", "choice", "date", "time", "mail", "number", "integer", "yes_no", "choices", "lines", "json"]

PREFIX: Final = "data."  # of the names of fields
WHOLE: Final = ""  # the name of the field that is the whole answer
_MOST_FIELDS: Final = 100
_MOST_CHOICES: Final = 200
_LONG_TEXT: Final = 200  # characters from which on a text has several lines
_MOST_DEPTH: Final = 50
_LOCAL_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?")
_NUMBER: Final = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,3})?")
_INTEGER: Final = re.compile(r"[+-]?\d{1,40}")
_TEXTS: Final[dict[str, Kind]] = {"date": "date", "date-time": "time", "email": "mail"}
_INPUTS: Final[dict[Kind, str]] = {"date": "date", "time": "datetime-local", "mail": "email"}
_HINTS: Final[dict[Kind, str]] = {
    "time": "In UTC.",
    "lines": "One on each line.",
    "json": "Written as JSON.",
    "integer": "A whole number.",
    "number": "A number, such as 12.5.",
}


class FormField(msgspec.Struct, frozen=True, kw_only=True):
    """A field of a form."""

    name: str
    kind: Kind
    label: str
    hint: str = ""
    required: bool = False
    choices: tuple[object, ...] = ()
    default: object = None
    longest: int | None = None
    items: Kind = "text"  # of a list

    @property
    def id(self) -> str:
        """The id of its element."""
        return f"field-{msgspec.json.encode(self.name).hex()[:64]}" if self.name else "field-answer"


class TypedForm(NamedTuple):
    """What was typed, as data and as it stands in the fields; and what is wrong with it, by field."""

    data: object
    errors: dict[str, str]


def fields_of(schema: object) -> tuple[FormField, ...]:
    """Return the fields of a schema; one for the whole answer if it is none that fields can show."""
    if schema is None:
        return ()
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(schema, Mapping) or not _is_plain_object(schema, properties):
        return (FormField(name=WHOLE, kind="json", label="Answer", hint=_about(schema), required=True),)
    required = schema.get("required")
    needed = set(required) if isinstance(required, list) and all(isinstance(one, str) for one in required) else set()
    given: Mapping[str, object] = properties if isinstance(properties, Mapping) else {}
    return tuple(_field(name, one, required=name in needed) for name, one in given.items())


def _is_plain_object(schema: Mapping[str, Any], properties: object) -> bool:
    if schema.get("type", "object") != "object" or any(one in schema for one in ("$ref", "oneOf", "anyOf", "allOf")):
        return False
    return isinstance(properties, Mapping) and 0 < len(properties) <= _MOST_FIELDS


def _field(name: str, schema: object, *, required: bool) -> FormField:
    if not isinstance(schema, Mapping):
        return FormField(name=name, kind="json", label=label_of(name), required=required)
    title = schema.get("title")
    kind, choices, items = _kind(schema)
    longest = schema.get("maxLength")
    return FormField(
        name=name,
        kind=kind,
        label=short_text(title) if isinstance(title, str) and title.strip() else label_of(name),
        hint=_about(schema),
        required=required,
        choices=choices,
        default=schema.get("default"),
        longest=longest if isinstance(longest, int) and 0 < longest < 100_000 else None,
        items=items,
    )


def _kind(schema: Mapping[str, Any]) -> tuple[Kind, tuple[object, ...], Kind]:
    """Return how a field looks, what can be chosen, and of which kind the items of a list are."""
    if any(one in schema for one in ("$ref", "oneOf", "anyOf", "allOf", "not", "const")):
        return "json", (), "text"
    choices = schema.get("enum")
    if isinstance(choices, list):
        fits = 0 < len(choices) <= _MOST_CHOICES and all(isinstance(one, str | int | float) for one in choices)
        return ("choice", tuple(choices), "text") if fits else ("json", (), "text")
    match schema.get("type"):
        case "string":
            return _TEXTS.get(str(schema.get("format")), "text"), (), "text"
        case "number":
            return "number", (), "text"
        case "integer":
            return "integer", (), "text"
        case "boolean":
            return "yes_no", (), "text"
        case "array" if isinstance(items := schema.get("items"), Mapping):
            inner, inner_choices, _ = _kind(items)
            if inner == "choice":
                return "choices", inner_choices, "text"
            if inner in ("text", "mail", "date", "number", "integer"):
                return "lines", (), inner
    return "json", (), "text"


def _about(schema: object) -> str:
    about = schema.get("description") if isinstance(schema, Mapping) else None
    return short_text(about, 500) if isinstance(about, str) else ""


# How fields look


def rendered(field: FormField, typed: Mapping[str, Sequence[str]] | None, error: str | None) -> Html:
    """Return a field with its label, and with what was typed if that is refused."""
    given = list(typed.get(field.name, ())) if typed is not None else _defaults(field)
    hint = " ".join(one for one in (field.hint, _HINTS.get(field.kind, "")) if one)
    described = [f"{field.id}-{what}" for what, there in (("hint", hint), ("error", error)) if there]
    attributes = {
        "id": field.id,
        "name": f"{PREFIX}{field.name}",
        "aria_invalid": "true" if error else None,
        "aria_required": "true" if field.required and field.kind not in ("yes_no", "choices") else None,
        "aria_describedby": " ".join(described) or None,
    }
    told = [
        element("p", hint, id=f"{field.id}-hint", class_="hint") if hint else None,
        element("p", error, id=f"{field.id}-error", class_="error") if error else None,
    ]
    label = _label(field)
    if field.kind == "yes_no":
        box = element("input", type="checkbox", value="true", checked="true" in given, **attributes)
        return element("div", element("div", box, label, class_="check"), told, class_="field")
    if field.kind == "choices":
        return _choices(field, given, told, error)
    return element("div", label, told, _control(field, given, attributes), class_="field")


def _label(field: FormField) -> Html:
    optional = (
        None if field.required or field.kind in ("yes_no", "choices") else element("span", " (optional)", class_="hint")
    )
    return element("label", element("bdi", field.label), optional, for_=field.id)


def _control(field: FormField, given: list[str], attributes: dict[str, str | None]) -> Html:
    text = given[-1] if given else ""
    if field.kind == "choice":
        empty = element("option", "Choose…" if field.required else "-", value="", selected=not text)
        options = [
            element("option", short_text(one), value=_choice(one), selected=_choice(one) == text)
            for one in field.choices
        ]
        return element("select", empty, options, **attributes)
    if field.kind in ("lines", "json"):
        return textarea("\n".join(given), rows=4, class_="code" if field.kind == "json" else None, **attributes)
    if field.kind == "text" and (field.longest is None or field.longest > _LONG_TEXT) and "\n" in text:
        return textarea(text, rows=4, maxlength=field.longest, dir="auto", **attributes)
    mode = {"number": "decimal", "integer": "numeric"}.get(field.kind)
    return text_field(
        text.removesuffix("Z")[:19] if field.kind == "time" else text,
        type=_INPUTS.get(field.kind, "text"),
        maxlength=field.longest,
        inputmode=mode,
        dir="auto" if field.kind == "text" else None,
        autocomplete="off",
        **attributes,
    )


def _choices(field: FormField, given: list[str], told: list[Html | None], error: str | None) -> Html:
    boxes = [
        element(
            "div",
            element(
                "input",
                type="checkbox",
                id=field.id if not index else f"{field.id}-{index}",
                name=f"{PREFIX}{field.name}",
                value=_choice(one),
                checked=_choice(one) in given,
                aria_invalid="true" if error else None,
            ),
            element("label", element("bdi", short_text(one)), for_=field.id if not index else f"{field.id}-{index}"),
            class_="check",
        )
        for index, one in enumerate(field.choices)
    ]
    return element("fieldset", element("legend", element("bdi", field.label)), told, boxes, class_="field")


def _defaults(field: FormField) -> list[str]:
    default = field.default
    if default is None:
        return []
    if field.kind == "json":
        return [msgspec.json.format(msgspec.json.encode(default)).decode()]
    if field.kind in ("choices", "lines") and isinstance(default, list):
        return [_choice(one) for one in default]
    return [_choice(default)]


def _choice(one: object) -> str:
    """Return a value as the text that a form sends for it."""
    return one if isinstance(one, str) else msgspec.json.encode(one).decode()


# What was typed


def typed_data(fields: Sequence[FormField], typed: Mapping[str, Sequence[str]]) -> TypedForm:
    """Return the data of a form; a field that is left empty and may be is left out."""
    if not fields:
        return TypedForm(None, {})
    data: dict[str, object] = {}
    errors: dict[str, str] = {}
    for field in fields:
        try:
            found = _value(field, list(typed.get(field.name, ())))
        except ValueError as error:
            errors[field.name] = str(error)
            continue
        if found is not _LEFT_OUT:
            data[field.name] = found
    if fields[0].name == WHOLE:
        return TypedForm(data.get(WHOLE), errors)
    return TypedForm(data, errors)


class _LeftOut:
    """Nothing was typed."""


_LEFT_OUT: Final = _LeftOut()


def _value(field: FormField, given: list[str]) -> object:
    text = given[-1].strip() if given else ""
    match field.kind:
        case "yes_no":
            return "true" in given
        case "choices":
            chosen = [one for one in field.choices if _choice(one) in given]
            return chosen if chosen or field.required else _LEFT_OUT
        case "lines":
            lines = [line.strip() for line in "\n".join(given).splitlines() if line.strip()]
            return [_single(field.items, line) for line in lines] if lines or field.required else _LEFT_OUT
        case _ if not text:
            if field.required:
                raise ValueError("Choose one." if field.kind == "choice" else "Fill this in.")
            return _LEFT_OUT
        case "choice":
            for one in field.choices:
                if _choice(one) == given[-1]:
                    return one
            raise ValueError("Choose one of these.")
        case "json":
            return _decoded(text)
        case "text":
            return given[-1]
        case kind:
            return _single(kind, text)


def _single(kind: Kind, text: str) -> object:
    match kind:
        case "integer":
            if not _INTEGER.fullmatch(text):
                raise ValueError(f"“{short_text(text, 40)}” is not a whole number.")
            return int(text)
        case "number":
            if not _NUMBER.fullmatch(text):
                raise ValueError(f"“{short_text(text, 40)}” is not a number: write it like 12.5.")
            return int(text) if _INTEGER.fullmatch(text) else float(text)
        case "time" if _LOCAL_TIME.fullmatch(text):
            return f"{text}Z" if len(text) > 16 else f"{text}:00Z"
        case _:
            return text


def _decoded(text: str) -> object:
    depth = deepest = 0
    for one in text:
        depth += (one in "[{") - (one in "]}")
        deepest = max(deepest, depth)
    if deepest > _MOST_DEPTH:
        raise ValueError("This is nested too deeply.")
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise ValueError(f"This is not valid JSON: {short_text(str(error), 200)}.") from error
