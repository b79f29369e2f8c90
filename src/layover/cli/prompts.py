"""Asking the person at the terminal what an execution waits for: a decision, or the fields of a form.

Every field is checked when it is typed, and asked again if it does not fit. Nothing is sent before all of it does.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple, Protocol

from layover.cli.opened_points import details_of
from layover.cli.screen import brief, moment, say
from layover.core.schemas import misfits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover import PausePoint

_YES = {"y": True, "yes": True, "n": False, "no": False}
_TRUTH = {**_YES, "true": True, "false": False}


class Typed(Protocol):
    """Where lines come from."""

    async def read(self, prompt: str) -> str | None:
        """Return the next line; None if there are no more."""

    def forget(self) -> None:
        """Drop what was typed before the question."""


class PromptAnswer(NamedTuple):
    """What a person answered."""

    data: object = None
    approved: bool | None = None
    comment: str = ""


class EndOfInput(Exception):  # noqa: N818 - it says what happened
    """There are no more lines to read."""


async def ask(point: PausePoint, opening: Mapping[str, object], typed: Typed) -> PromptAnswer:
    """Ask for the answer to a pause point; `opening` is the data of the event that opened it."""
    typed.forget()  # it was the answer to another question, if to any
    say("")
    say(point.title or f"`{point.context_id}` asks", "bold")
    for name, value in details_of(opening).items():
        if name not in ("title", "schema", "response"):
            say(f"  {name}: {value if isinstance(value, str) else brief(value, 300)}")
    if point.deadline is not None:
        say(f"  until {moment(point.deadline)}")
    say("  (Ctrl-C leaves it open)", "dim")
    if point.kind == "approval":
        rules = opening.get("rules")
        needed = isinstance(rules, dict) and rules.get("comment_required") is True
        return await _decision(point.schema, typed, needed=needed)
    return PromptAnswer(await _data(point.schema, typed))


async def _decision(schema: object, typed: Typed, *, needed: bool) -> PromptAnswer:
    approved = await _choice("Approve? [y/n]", _YES, typed)
    comment = await _line("Comment:" if needed else "Comment (may be empty):", typed)
    while needed and not comment:
        comment = await _line("A comment is required:", typed)
    return PromptAnswer(await _data(schema, typed) if schema else None, approved, comment)


async def _data(schema: object, typed: Typed) -> object:
    """Ask until there is data that fits a schema."""
    while True:
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if isinstance(schema, dict) and isinstance(properties, dict) and properties:
            data: object = await _fields(schema, properties, typed)
        else:
            data = await _whole(schema, typed)
        wrong = _wrong(schema, data)
        if not wrong:
            return data
        for line in wrong:
            say(f"  {line}", "red")


async def _fields(schema: dict[str, object], properties: dict[str, object], typed: Typed) -> dict[str, object]:
    required = schema.get("required")
    needed = set(map(str, required)) if isinstance(required, list) else set()
    found: dict[str, object] = {}
    for name, given in properties.items():
        field = _Field(name, given, schema, needed=name in needed)
        while (value := field.parsed(await _line(field.prompt, typed))) is _AGAIN:
            pass
        if value is not _LEFT_OUT:
            found[name] = value
    return found


async def _whole(schema: object, typed: Typed) -> object:
    """Ask for data whose fields are not known: a text if the schema wants one, else JSON."""
    is_text = isinstance(schema, dict) and schema.get("type") == "string"
    while True:
        line = await _line("Answer:" if is_text else "Answer (JSON):", typed)
        if is_text:
            return line
        try:
            return json.loads(line or "null")
        except (ValueError, RecursionError) as error:
            say(f"  not valid JSON: {error}", "red")


_LEFT_OUT = object()
_AGAIN = object()


class _Field:
    """One field of a form: what is asked, and what a line means."""

    def __init__(self, name: str, given: object, schema: dict[str, object], *, needed: bool) -> None:
        self._name = name
        self._schema: dict[str, object] = given if isinstance(given, dict) else {}
        self._around: dict[str, object] = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
        self._needed = needed
        choices = self._schema.get("enum")
        self._choices = choices if isinstance(choices, list) else []
        self._type = self._schema.get("type")

    @property
    def prompt(self) -> str:
        """Return what is asked."""
        told = [str(self._schema.get("title") or self._name)]
        if self._schema.get("description"):
            told.append(f"- {self._schema['description']}")
        if self._choices:
            told.append(f"({', '.join(map(_plain, self._choices))})")
        elif isinstance(self._type, str):
            told.append("(yes/no)" if self._type == "boolean" else f"({self._type})")
        if "default" in self._schema:
            told.append(f"[{_plain(self._schema['default'])}]")
        elif not self._needed:
            told.append("[may be empty]")
        return f"{' '.join(told)}:"

    def parsed(self, line: str) -> object:
        """Return the value of a line; or that it is left out, or to be asked again."""
        if not line and "default" in self._schema:
            return self._schema["default"]
        if not line and not self._needed:
            return _LEFT_OUT
        value = self._value(line)
        schema: dict[str, object] = {**self._schema, **self._around}
        wrong = _wrong(schema, value) if line or self._type == "string" else [f"{self._name} is needed"]
        for told in wrong:
            say(f"  {told}", "red")
        return _AGAIN if wrong else value

    def _value(self, line: str) -> object:
        for choice in self._choices:
            if _plain(choice).casefold() == line.casefold():
                return choice
        if self._type == "boolean":
            return _TRUTH.get(line.casefold(), line)
        if self._type == "string":
            return line
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            return line
        return value


async def _choice(prompt: str, choices: dict[str, bool], typed: Typed) -> bool:
    while (found := choices.get((await _line(prompt, typed)).casefold())) is None:
        say("  yes or no?", "red")
    return found


async def _line(prompt: str, typed: Typed) -> str:
    line = await typed.read(prompt)
    if line is None:
        raise EndOfInput
    return line


def _plain(value: object) -> str:
    return value if isinstance(value, str) else brief(value, 60)


def _wrong(schema: object, data: object) -> list[str]:
    try:
        return [f"{path}: {what}" if path else what for path, what in misfits(schema, data)]
    except ValueError:  # a part of a schema may not stand alone; the whole is checked in the end
        return []
