"""The page about testing says what is true: its tests pass, and it leaves nothing out."""

from __future__ import annotations

import inspect
import re
import shlex

import pytest

from layover.interface.door import Door
from layover.testing import FakeCall, Layover
from tests.docs.pages import blocks, page

pytest_plugins = ["pytester"]

PAGE = page("how-to/test-a-workflow.md")


@pytest.mark.parametrize("command", [shlex.split(line) for block in blocks(PAGE, "sh") for line in block.splitlines()])
def test_its_tests_pass_by_its_commands(pytester: pytest.Pytester, command: list[str]) -> None:
    tests = "\n\n".join(blocks(PAGE, "python"))
    pytester.makepyfile(tests)
    result = pytester.runpytest_inprocess("-p", "no:asyncio", *command[1:])
    chosen = len(re.findall(r"async def test_\w*survives" if "-k" in command else "async def test_", tests))
    assert chosen
    assert result.parseoutcomes()["passed"] == chosen
    assert "failed" not in result.parseoutcomes()


def test_it_leaves_out_nothing_that_the_kit_adds_to_an_engine() -> None:
    internal = {"another", "handles", "only_crash", "reached"}
    added = {name for name, _ in inspect.getmembers(Layover) if not name.startswith("_")} - set(dir(Door)) - internal
    assert {name for name in added if not re.search(rf"`[^`\n]*\b{name}\b[^`]*`", PAGE)} == set()


def test_it_names_what_a_fake_remembers() -> None:
    known = {*FakeCall.__struct_fields__, "idempotency_key"} - {"execution_id"}
    assert {name for name in known if f"`{name}`" not in PAGE} == set()
