"""Forms and approvals asked line by line: what each line means, and what is asked again."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from layover import Moment, PausePoint
from layover.cli.prompts import EndOfInput, PromptAnswer, ask


class Typist:
    """Somebody who types lines, one for each prompt."""

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)
        self.prompts: list[str] = []

    async def read(self, prompt: str) -> str | None:
        self.prompts.append(prompt)
        return self._lines.pop(0) if self._lines else None

    def forget(self) -> None:
        self.prompts.clear()


class Asked(NamedTuple):
    """A pause point, and the data of the event that opened it."""

    point: PausePoint
    opening: dict[str, object]


def _form(schema: object, **details: object) -> Asked:
    point = PausePoint(**_BASE, kind="form", title="T", schema=schema)
    return Asked(point, {"details": {"title": "T", **details}})


def _approval(schema: object = None, **rules: object) -> Asked:
    return Asked(PausePoint(**_BASE, kind="approval", schema=schema), {"rules": rules})


_BASE: dict[str, Any] = {
    "id": "p",
    "execution_id": "e",
    "workflow": "w",
    "context_id": "ask",
    "node": "ask",
    "status": "open",
    "opened_at": Moment.of(0),
}


async def _data(schema: object, *lines: str) -> object:
    return (await ask(*_form(schema), Typist(*lines))).data


FIELDS = {
    "type": "object",
    "required": ["text", "flag"],
    "properties": {
        "text": {"type": "string", "minLength": 2},
        "flag": {"type": "boolean"},
        "count": {"type": ["integer", "null"]},
        "list": {"type": "array", "items": {"type": "integer"}},
        "one": {"enum": ["Red", 2, None]},
        "there": {"$ref": "#/$defs/there"},
    },
    "$defs": {"there": {"type": "string", "default": "here"}},
}


async def test_every_line_becomes_what_its_field_is() -> None:
    found = await _data(FIELDS, "12", "yes", "3", "[1, 2]", "red", '"x"')
    assert found == {"text": "12", "flag": True, "count": 3, "list": [1, 2], "one": "Red", "there": "x"}


async def test_what_is_not_needed_may_be_left_out() -> None:
    assert await _data(FIELDS, "ab", "no", "", "", "", "") == {"text": "ab", "flag": False}


async def test_what_does_not_fit_is_asked_again() -> None:
    typist = Typist("", "a", "ab", "maybe", "true", "x", "null", "[x]", "[]", "green", "2", "5", "there")
    found = (await ask(*_form(FIELDS), typist)).data
    assert found == {"text": "ab", "flag": True, "count": None, "list": [], "one": 2, "there": "there"}
    assert len(typist.prompts) == 13


async def test_the_whole_is_checked_in_the_end() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "minProperties": 1}
    assert await _data(schema, "", "1") == {"a": 1}


@pytest.mark.parametrize(
    ("schema", "lines", "data"),
    [
        (None, ["{x", '{"x": 1}'], {"x": 1}),
        ({}, [""], None),
        (True, ["5"], 5),
        ({"type": "string"}, ["5"], "5"),
        ({"type": "integer"}, ["x", '"5"', "5"], 5),
        ({"type": "object", "properties": {}}, ['{"y": 2}'], {"y": 2}),
    ],
)
async def test_data_without_known_fields_is_typed_as_json(schema: object, lines: list[str], data: object) -> None:
    assert await _data(schema, *lines) == data


async def test_a_decision_is_yes_or_no() -> None:
    assert await ask(*_approval(), Typist("what", "Y", "")) == PromptAnswer(None, approved=True)
    assert await ask(*_approval(), Typist("no", "because")) == PromptAnswer(None, approved=False, comment="because")


async def test_a_comment_that_is_required_is_asked_for_until_it_is_there() -> None:
    typist = Typist("y", "", "", "fine")
    assert await ask(*_approval(comment_required=True), typist) == PromptAnswer(None, approved=True, comment="fine")


async def test_an_approval_may_have_a_form() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert await ask(*_approval(schema), Typist("y", "", "4")) == PromptAnswer({"n": 4}, approved=True)


async def test_the_end_of_input_answers_nothing() -> None:
    with pytest.raises(EndOfInput):
        await ask(*_form(FIELDS), Typist("ab"))


async def test_what_is_shown_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    await ask(*_form(None, shown={"total": 5}, failure={"message": "no"}), Typist("1"))
    out = capsys.readouterr().out
    assert '  shown: {"total":5}' in out.splitlines()
    assert '  failure: {"message":"no"}' in out.splitlines()
