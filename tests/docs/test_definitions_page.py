"""The page about definitions says what is true: its examples check, and it leaves no field out."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from layover.core.definitions import DEFAULT_LIMITS, Node, RetryDefinition, WorkflowSettings, check
from layover.core.definitions.node_types import TYPES, CallNode

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "definitions.md").read_text()
README = (ROOT / "README.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("block", blocks(PAGE, "yaml") + blocks(README, "yaml"))
def test_every_example_is_a_sound_definition(block: str) -> None:
    assert [p for p in check(block, syntax="yaml").problems if p.severity == "error"] == []


def test_there_are_examples() -> None:
    assert blocks(PAGE, "yaml")
    assert blocks(README, "yaml")


@pytest.mark.parametrize(
    "struct",
    [WorkflowSettings, RetryDefinition, Node, CallNode, *TYPES.values()],
    ids=lambda struct: str(struct.__name__),
)
def test_every_field_is_mentioned(struct: type[msgspec.Struct]) -> None:
    names = {field.encode_name for field in msgspec.structs.fields(struct)} - {"extra"}
    assert {name for name in names if not re.search(rf"`[^`\n]*\b{name}\b[^`]*`", PAGE)} == set()


@pytest.mark.parametrize("name", TYPES)
def test_every_type_is_mentioned(name: str) -> None:
    assert f"- `{name}`: " in PAGE


def test_the_limits_are_the_real_ones() -> None:
    for number in (DEFAULT_LIMITS.values, DEFAULT_LIMITS.nodes, DEFAULT_LIMITS.edges, DEFAULT_LIMITS.depth):
        assert f"{number:,}" in PAGE
    assert f"{DEFAULT_LIMITS.bytes // 1024**2} MiB" in PAGE
