"""The types of the blocking classes: a stub that is written from the async ones, which a type checker reads."""

from __future__ import annotations

import ast
import importlib.util
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, assert_type

import pytest

from layover import (
    Caller,
    Event,
    Execution,
    ExecutionSummary,
    Page,
    PausePoint,
    SyncClient,
    SyncEngine,
    SyncExecutionHandle,
    SyncListing,
    SyncPausePointHandle,
    SyncWorkflowHandle,
    WorkflowVersion,
)
from layover.interface.door import Door
from layover.interface.execution_handle import ExecutionHandle

ROOT = Path(__file__).parents[2]


def test_the_stub_is_what_the_tool_writes() -> None:
    spec = importlib.util.spec_from_file_location("sync_stub", ROOT / "tools" / "sync_stub.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.STUB.read_text() == tool.stub(), "run python tools/sync_stub.py"


@pytest.mark.parametrize(("name", "of"), [("SyncDoor", Door), ("SyncExecutionHandle", ExecutionHandle)])
def test_the_stub_has_every_method_also_those_of_parts(name: str, of: type) -> None:
    tree = ast.parse((ROOT / "src" / "layover" / "sync" / "__init__.pyi").read_text(encoding="utf-8"))
    found = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    there = {node.name for node in found.body if isinstance(node, ast.FunctionDef)}
    assert {each for each, value in inspect.getmembers(of, inspect.isfunction) if not each.startswith("_")} <= there


def test_the_stub_is_shipped_where_a_type_checker_looks() -> None:
    package = ROOT / "src" / "layover"
    assert (package / "py.typed").is_file()
    assert (package / "sync" / "__init__.pyi").is_file()


def _types(door: SyncEngine | SyncClient) -> None:
    """Say which types a type checker sees; this is read by it, and never called."""
    execution = door.start("order", until="people")
    assert_type(execution, SyncExecutionHandle)
    assert_type(execution.pause(), SyncExecutionHandle)
    assert_type(execution.info, Execution)
    assert_type(execution.tags, tuple[str, ...])
    assert_type(execution.points(), SyncListing[SyncPausePointHandle])
    assert_type(execution.events(), Iterator[Event])
    assert_type(execution.history().page(), Page[Event])
    assert_type(execution.history().all(), list[Event])
    for summary in door.executions():
        assert_type(summary, ExecutionSummary)
    point = execution.point("ask")
    assert_type(point.approve(), SyncPausePointHandle)
    assert_type(point.info, PausePoint)
    workflow = door.register({})
    assert_type(workflow, SyncWorkflowHandle)
    assert_type(workflow.info, WorkflowVersion)
    assert_type(workflow.state, str)
    assert_type(door.me(), Caller)
    assert_type(door.run(workflow), Any)
    assert_type(SyncEngine("sqlite:///x.db", drive=False).as_user("ada"), SyncEngine)
    assert_type(SyncClient("http://h").open(), SyncClient)
    door.start("order", until="soon")  # type: ignore[arg-type]  # only the words that there are
    execution.wait(timeout=5)  # type: ignore[arg-type]  # a length of time, not a number
