"""The page about the Python interface says what is true, and leaves no name, method, field or code out."""

from __future__ import annotations

import inspect
import re
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import msgspec
import pytest

import layover
from layover import errors
from layover.interface.door import Door
from tests.docs.pages import blocks, page

PAGE = page("reference/python.md")
_STRUCTS = PAGE.partition("## Structs")[2].partition("\n## ")[0]
HANDLES = (
    layover.ExecutionHandle,
    layover.PausePointHandle,
    layover.WorkflowHandle,
    layover.CallbackHandle,
    layover.TriggerHandle,
    layover.DestinationHandle,
    layover.DeliveryHandle,
    layover.Listing,
)
STRUCTS = [
    value
    for name in layover.__all__
    if isinstance(value := getattr(layover, name), type)
    and issubclass(value, msgspec.Struct)
    and value.__module__.startswith(("layover.model.", "layover.errors"))
]
ERRORS = [
    value
    for name in layover.__all__
    if isinstance(value := getattr(layover, name), type) and issubclass(value, layover.LayoverError)
]
_CODES = re.findall(r'"([a-z_]+)"', inspect.getsource(errors))


def test_its_program_runs_and_prints_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (program,) = blocks(PAGE, "python")
    exec(compile(program, "python.md", "exec", dont_inherit=True), {"__name__": "page"})  # noqa: S102 - our own page
    assert capsys.readouterr().out == "".join(blocks(PAGE, ""))


def test_every_public_name_is_there() -> None:
    assert [name for name in layover.__all__ if not re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", PAGE)] == []


@pytest.mark.parametrize("class_", [Door, layover.Engine, *HANDLES], ids=lambda class_: str(class_.__name__))
def test_every_method_is_there_with_its_parameters(class_: type) -> None:
    methods = [name for name, _ in inspect.getmembers(class_, inspect.isroutine) if not name.startswith("_")]
    assert [name for name in methods if f"`{name}(" not in PAGE] == []
    for name in methods:
        parameters = [one for one in inspect.signature(getattr(class_, name)).parameters if one != "self"]
        shown = re.findall(rf"`{name}\(([^`]*)\)`", PAGE)
        assert any(all(re.search(rf"\b{one}\b", text) for one in parameters) for text in [*shown, *_same(shown)]), name


def _same(shown: list[str]) -> list[str]:
    """Return what `…` stands for: the parameters of the method before it."""
    return ["data comment seen idempotency_key"] if "…" in shown else []


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda struct: str(struct.__name__))
def test_every_field_of_a_struct_is_in_its_row(struct: type[msgspec.Struct]) -> None:
    (row,) = [line for line in _STRUCTS.splitlines() if re.match(rf"\| [^|]*`{struct.__name__}`", line)]
    told = set(re.findall(r"`(\w+)`", row))
    assert {field.name for field in msgspec.structs.fields(struct)} - told == set()


@pytest.mark.parametrize("error", [one for one in ERRORS if one is not layover.LayoverError], ids=lambda one: one.code)
def test_every_error_is_there_with_its_codes(error: type[layover.LayoverError]) -> None:
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{error.__name__}` |")]
    codes = set(re.findall(r"`(\w+)`", row.split("|")[2]))
    known = {code for code in _CODES if errors.class_of(code) is error}
    assert codes == (known or {error.code})
