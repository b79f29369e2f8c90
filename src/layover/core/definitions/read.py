"""From a tree of values to the model, collecting every problem on the way.

A reader is made once for each type of the model, by following its annotations. It takes a tree and gives the value,
or `BAD` after it has reported the problem; reading then goes on with the next field, so that an author sees everything
at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
from msgspec import inspect

from layover.core.definitions.durations import parse_duration
from layover.core.definitions.instants import is_instant
from layover.core.definitions.kinds import NAMING, fields_of, kind_of
from layover.core.definitions.model import DefinitionPart, HookSecret, RetryDefinition
from layover.core.definitions.problems import Problems, display
from layover.core.definitions.tree import Json, Tree
from layover.core.definitions.trigger_types import TRIGGER_TYPES

if TYPE_CHECKING:
    from layover.core.definitions.model import GraphDefinition


class Bad:
    """The result of reading a value whose problem has been reported."""


BAD: Final = Bad()


class Reading:
    """One run of the reader: where problems go, and which piece of the text each part was made from."""

    def __init__(self, problems: Problems, read_graph: Callable[[Tree, Reading], GraphDefinition | Bad]) -> None:
        self.problems = problems
        self.read_graph = read_graph
        self._sites: dict[int, tuple[DefinitionPart, Tree]] = {}
        self.steps = 0

    def note(self, part: DefinitionPart, tree: Tree) -> None:
        """Remember from which tree a part was read."""
        self._sites[id(part)] = (part, tree)  # holding the part keeps its id from being given to another

    def site(self, part: DefinitionPart) -> Tree:
        """Return the tree that a part was read from."""
        return self._sites[id(part)][1]

    def bad(self, code: str, tree: Tree, message: str) -> Bad:
        """Report a problem and return the stand-in for the missing value."""
        self.problems.add(code, tree.place, message)
        return BAD


Read: TypeAlias = Callable[[Tree, str, Reading], object]


class Field(msgspec.Struct, frozen=True):
    """How one field of a struct is read."""

    attribute: str
    required: bool
    read: Read


def read_struct(
    struct: type[DefinitionPart], tree: Tree, reading: Reading, ignore: frozenset[str] = frozenset()
) -> DefinitionPart | Bad:
    """Read a mapping into a struct; fields in `ignore` are read elsewhere."""
    written = _fields_in(struct, tree)
    if written is None:
        return reading.bad("bad_type", tree, f"{_article(struct)} is a mapping, not {display(tree)}.")
    fields, has_extra = _fields_of(struct)
    reading.steps += len(written) + 1
    values: dict[str, object] = {}
    extra: dict[str, Json] = {}
    for key, child in written.items():
        field = fields.get(key)
        if field is not None:
            values[field.attribute] = field.read(child, key, reading)
        elif has_extra and key.startswith("x-"):
            extra[key] = child.plain()
        elif key not in ignore:
            what = f"{_article(struct)} has no field `{key}`"
            reading.problems.unknown("unknown_field", child.key_place, what, key, fields)
    complete = True
    for key, field in fields.items():
        if field.required and key not in written:
            reading.bad("missing_field", tree, f"{_article(struct)} needs the field `{key}`.")
        if field.required and values.get(field.attribute, BAD) is BAD:
            complete = False
    if not complete:
        return BAD
    if extra:
        values["extra"] = extra
    part = struct(**{name: value for name, value in values.items() if value is not BAD})
    reading.note(part, tree.with_value(written))
    return part


def _fields_in(struct: type[DefinitionPart], tree: Tree) -> dict[str, Tree] | None:
    """Return the fields of a mapping, with shorthands and other names resolved; None if it is not a mapping."""
    if struct is RetryDefinition and tree.value == "forever":
        return {"max_attempts": tree}
    if struct is HookSecret and isinstance(tree.value, str):
        return {"name": tree}
    if not isinstance(tree.value, dict):
        return None
    written = tree.value
    for name in struct.lists:
        if (one := written.get(name)) is not None and not isinstance(one.value, list):
            written = {**written, name: one.with_value([one])}
    for alias, name in struct.aliases.items():
        if alias in written and name not in written:
            written = {name if key == alias else key: child for key, child in written.items()}
    return written


_FIELDS: dict[type[DefinitionPart], tuple[dict[str, Field], bool]] = {}


def _fields_of(struct: type[DefinitionPart]) -> tuple[dict[str, Field], bool]:
    """Return the fields by the names they have in a document, and whether `x-` fields are kept."""
    known = _FIELDS.get(struct)
    if known is None:
        declared = fields_of(struct)
        fields = {
            field.encode_name: Field(field.name, field.required, _reader(field.type))
            for field in declared
            if kind_of(field.type) != "extra"
        }
        known = _FIELDS[struct] = (fields, len(fields) < len(declared))
    return known


def _reader(type_: inspect.Type) -> Read:
    """Make the reader of a type."""
    kind = kind_of(type_)
    if kind in _KINDS:
        return _KINDS[kind]
    match type_:
        case inspect.Metadata():
            return _reader(type_.type)
        case inspect.StrType():
            return _text_reader(type_)
        case inspect.BoolType():
            return _read_bool
        case inspect.IntType():
            return _number_reader(type_, "a whole number", int)
        case inspect.FloatType():
            return _number_reader(type_, "a number", float)
        case inspect.LiteralType():
            return _choice_reader(type_)
        case inspect.VarTupleType():
            return _list_reader(type_)
        case inspect.StructType() if issubclass(type_.cls, DefinitionPart):
            return _struct_reader(type_.cls)
        case inspect.UnionType():
            return _union_reader(type_)
        case _:
            raise TypeError(f"the model has a field of a type that cannot be read: {type_}")


def _struct_reader(struct: type[DefinitionPart]) -> Read:
    return lambda tree, _name, reading: read_struct(struct, tree, reading)


def _text_reader(type_: inspect.StrType) -> Read:
    pattern = re.compile(type_.pattern) if type_.pattern else None
    shortest = type_.min_length or 0
    longest = type_.max_length

    def read(tree: Tree, name: str, reading: Reading) -> object:
        text = tree.value
        if not isinstance(text, str):
            return reading.bad("bad_type", tree, f"`{name}` is text, not {display(tree)}.")
        if longest is not None and len(text) > longest:
            return reading.bad("too_long", tree, f"`{name}` has at most {longest} characters, not {len(text)}.")
        if len(text) < shortest:
            return reading.bad("bad_value", tree, f"`{name}` may not be empty.")
        if pattern is not None and not pattern.fullmatch(text):
            return reading.bad("bad_name", tree, f"`{name}` cannot be {display(tree)}: {NAMING[pattern.pattern]}.")
        return text

    return read


def _number_reader(type_: inspect.IntType | inspect.FloatType, what: str, make: type[int | float]) -> Read:
    least, most = type_.ge, type_.le

    def read(tree: Tree, name: str, reading: Reading) -> object:
        value = tree.value
        if isinstance(value, bool) or not isinstance(value, int if make is int else int | float):
            return reading.bad("bad_type", tree, f"`{name}` is {what}, not {display(tree)}.")
        if (least is not None and value < least) or (most is not None and value > most):
            return reading.bad("bad_value", tree, f"`{name}` is {what} from {least} to {most}, not {display(tree)}.")
        return make(value)

    return read


def _read_number(tree: Tree, name: str, reading: Reading) -> object:
    if isinstance(tree.value, bool) or not isinstance(tree.value, int | float):
        return reading.bad("bad_type", tree, f"`{name}` is a number, not {display(tree)}.")
    return tree.value


def _read_bool(tree: Tree, name: str, reading: Reading) -> object:
    if not isinstance(tree.value, bool):
        return reading.bad("bad_type", tree, f"`{name}` is true or false, not {display(tree)}.")
    return tree.value


def _choice_reader(type_: inspect.LiteralType) -> Read:
    choices = tuple(str(value) for value in type_.values)
    listed = ", ".join(f"`{choice}`" for choice in choices)

    def read(tree: Tree, name: str, reading: Reading) -> object:
        if tree.value in choices:
            return tree.value
        wrong = tree.value if isinstance(tree.value, str) else ""
        reading.problems.unknown(
            "bad_value", tree.place, f"`{name}` is one of {listed}, not {display(tree)}", wrong, choices
        )
        return BAD

    return read


def _list_reader(type_: inspect.VarTupleType) -> Read:
    read_item = _reader(type_.item_type)
    shortest, longest = type_.min_length or 0, type_.max_length

    def read(tree: Tree, name: str, reading: Reading) -> object:
        if not isinstance(tree.value, list):
            return reading.bad("bad_type", tree, f"`{name}` is a list, not {display(tree)}.")
        if longest is not None and len(tree.value) > longest:
            return reading.bad("too_long", tree, f"`{name}` has at most {longest} items, not {len(tree.value)}.")
        if len(tree.value) < shortest:
            return reading.bad("bad_value", tree, f"`{name}` may not be empty.")
        items = [read_item(child, name, reading) for child in tree.value]
        return tuple(item for item in items if item is not BAD)

    return read


def _union_reader(type_: inspect.UnionType) -> Read:
    """Read one of several types: the shape of the value tells which."""
    types = [member for member in type_.types if not isinstance(member, inspect.NoneType)]
    optional = len(types) < len(type_.types)
    readers = [_reader(member) for member in types]
    words = [word for member in types if isinstance(member, inspect.LiteralType) for word in member.values]
    choices = [reader for member, reader in zip(types, readers, strict=True) if isinstance(member, inspect.LiteralType)]
    texts = [reader for member, reader in zip(types, readers, strict=True) if kind_of(member) == "template"]
    parts = [reader for member, reader in zip(types, readers, strict=True) if isinstance(member, inspect.StructType)]
    others = [reader for reader in readers if reader not in choices and reader not in texts]

    def read(tree: Tree, name: str, reading: Reading) -> object:
        if tree.value is None and optional:
            return None
        if choices and (tree.value in words or not others):
            return choices[0](tree, name, reading)
        if texts and isinstance(tree.value, str):
            return texts[0](tree, name, reading)
        if parts and isinstance(tree.value, dict):
            return parts[0](tree, name, reading)
        return (others or texts)[0](tree, name, reading)

    return read


def _read_duration(tree: Tree, name: str, reading: Reading) -> object:
    if not isinstance(tree.value, str):
        hint = "" if isinstance(tree.value, list | dict) else ": a number needs its unit"
        return reading.bad("bad_duration", tree, f"`{name}` is a duration such as `30s`, not {display(tree)}{hint}.")
    try:
        return parse_duration(tree.value)
    except ValueError as error:
        return reading.bad("bad_duration", tree, f"`{name}` cannot be {display(tree)}: {error}.")


def _read_span(tree: Tree, name: str, reading: Reading) -> object:
    if isinstance(tree.value, str) and "${" in tree.value:
        return tree.value
    return _read_duration(tree, name, reading)


def _read_expression(tree: Tree, name: str, reading: Reading) -> object:
    text = _scalar_text(tree)
    if text is None:
        return reading.bad("bad_type", tree, f"`{name}` is an expression, not {display(tree)}.")
    if text.strip().startswith("${"):
        return reading.bad("bare_expression", tree, f"`{name}` is a bare expression: write it without `${{ }}`.")
    return text


def _read_template(tree: Tree, name: str, reading: Reading) -> object:
    text = _scalar_text(tree)
    return text if text is not None else reading.bad("bad_type", tree, f"`{name}` is text, not {display(tree)}.")


def _scalar_text(tree: Tree) -> str | None:
    """Return text as it is, and a number or boolean of YAML as the text that was meant."""
    value = tree.value
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else None


def _read_schema(tree: Tree, name: str, reading: Reading) -> object:
    if not isinstance(tree.value, dict | bool):
        return reading.bad("bad_schema", tree, f"`{name}` is a JSON Schema (a mapping), not {display(tree)}.")
    return tree.plain()


def _read_value(tree: Tree, name: str, reading: Reading) -> object:  # noqa: ARG001 - any value is valid
    return tree.plain()


def _read_data(tree: Tree, name: str, reading: Reading) -> object:
    if not isinstance(tree.value, dict):
        return reading.bad("bad_type", tree, f"`{name}` is a mapping, not {display(tree)}.")
    return tree.plain()


def _read_instant(tree: Tree, name: str, reading: Reading) -> object:
    if isinstance(tree.value, str) and is_instant(tree.value):
        return tree.value
    message = f"`{name}` is a date or a time such as `2027-01-31T08:00`, not {display(tree)}."
    return reading.bad("bad_instant", tree, message)


def _read_trigger(tree: Tree, name: str, reading: Reading) -> object:  # noqa: ARG001 - a trigger names itself
    """Read a trigger as its type says."""
    if not isinstance(tree.value, dict):
        return reading.bad("bad_type", tree, f"A trigger is a mapping, not {display(tree)}.")
    written = tree.get("type")
    if written is None:
        listed = ", ".join(f"`{one}`" for one in TRIGGER_TYPES)
        return reading.bad("missing_field", tree, f"A trigger needs the field `type`: one of {listed}.")
    kind = written.value
    struct = TRIGGER_TYPES.get(kind) if isinstance(kind, str) else None
    if struct is None:
        what = f"There is no trigger of the type {display(written)}"
        word = kind if isinstance(kind, str) else ""
        reading.problems.unknown("unknown_trigger_type", written.place, what, word, TRIGGER_TYPES)
        return BAD
    return read_struct(struct, tree, reading)


def _read_graph(tree: Tree, name: str, reading: Reading) -> object:  # noqa: ARG001 - a graph reports its own problems
    return reading.read_graph(tree, reading)


_KINDS: dict[str | None, Read] = {
    "duration": _read_duration,
    "span": _read_span,
    "expression": _read_expression,
    "template": _read_template,
    "value": _read_value,
    "values": _read_data,
    "number": _read_number,
    "schema": _read_schema,
    "data": _read_data,
    "graph": _read_graph,
    "trigger": _read_trigger,
    "instant": _read_instant,
}


def _article(struct: type[DefinitionPart]) -> str:
    """Return the beginning of a sentence about such a part."""
    words = struct.noun or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", struct.__name__).lower()
    return f"{'An' if words[0] in 'aeio' else 'A'} {words}"
