"""The proof: a program that uses one door may use any other. Every method of the door and of the handles is called
through all four classes in the same scenario, and what comes back is compared field by field."""

from __future__ import annotations

import ast
import asyncio
import inspect
import textwrap
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from layover import (
    BatchHandle,
    BatchInfo,
    CallbackHandle,
    Client,
    Delivery,
    DeliveryHandle,
    Destination,
    DestinationHandle,
    Engine,
    Execution,
    ExecutionHandle,
    Listing,
    PausePoint,
    PausePointHandle,
    Settings,
    SyncBatchHandle,
    SyncCallbackHandle,
    SyncClient,
    SyncDeliveryHandle,
    SyncDestinationHandle,
    SyncEngine,
    SyncExecutionHandle,
    SyncListing,
    SyncPausePointHandle,
    SyncTriggerHandle,
    SyncWorkflowHandle,
    Trigger,
    TriggerHandle,
    WorkflowHandle,
    WorkflowVersion,
)
from layover.interface.door import Door
from tests.interface.in_a_thread import served_in_a_thread
from tests.interface.play import Play, public_methods
from tests.interface.scenario import SCENES, charge, order_goods
from tests.runtime.harness import address_in

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

NODES = (charge, order_goods)
CLASSES = (
    Door,
    ExecutionHandle,
    PausePointHandle,
    WorkflowHandle,
    CallbackHandle,
    TriggerHandle,
    DestinationHandle,
    DeliveryHandle,
    BatchHandle,
    Listing,
)
TWINS = (
    (SyncEngine, Engine),
    (SyncClient, Client),
    (SyncExecutionHandle, ExecutionHandle),
    (SyncPausePointHandle, PausePointHandle),
    (SyncWorkflowHandle, WorkflowHandle),
    (SyncCallbackHandle, CallbackHandle),
    (SyncTriggerHandle, TriggerHandle),
    (SyncDestinationHandle, DestinationHandle),
    (SyncDeliveryHandle, DeliveryHandle),
    (SyncBatchHandle, BatchHandle),
    (SyncListing, Listing),
)
_SHORTER = {
    " | msgspec.UnsetType": "",
    "Value": "Any",
    "ExecutionId": "str",
    "ContextId": "str",
    "WorkflowName": "str",
    "Literal['open', 'answered', 'applied', 'completed', 'expired', 'cancelled', 'superseded']": "str",
    'Literal["open", "answered", "applied", "completed", "expired", "cancelled", "superseded"]': "str",
    "ExecutionStatus": "str",  # a handle is refreshed: a checker would not believe that a Literal changes
    "WorkflowState": "str",
    "TriggerState": "str",
    "DeliveryState": "str",
    "DestinationState": "str",
    "Uuid": "str",
    "BatchAct": "str",
    "BatchStatus": "str",
}
USER, ROLES = "ada", ("admin",)
SETTINGS = Settings(poll="20ms", command_poll="10ms", outbox_poll="20ms")


@asynccontextmanager
async def opened(kind: type[Any], folder: Path) -> AsyncIterator[Any]:
    """Open a door of a class on a new database, as the same user each time."""
    async with AsyncExitStack() as stack:
        if issubclass(kind, Engine | SyncEngine):
            door: Any = kind(address_in(folder), nodes=NODES, settings=SETTINGS, user=USER, roles=ROLES)
        else:
            server = stack.enter_context(served_in_a_thread(folder, *NODES))
            door = kind(server.url, api_key=server.key_of(f"{USER}:{','.join(ROLES)}"))
        if hasattr(door, "__aenter__"):
            yield await stack.enter_async_context(door)
        else:
            yield stack.enter_context(door)


async def played(kind: type, folder: Path) -> Play:
    """Play the whole scenario through a door of a class."""
    async with opened(kind, folder) as door:
        play = Play(door)
        for scene in SCENES:
            play.note("scene", scene.__name__)
            await scene(play)
    return play


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Play:
    """The scenario through an embedded engine on SQLite."""
    return asyncio.run(played(Engine, tmp_path_factory.mktemp("reference")))


@pytest.mark.usefixtures("each_database")
@pytest.mark.parametrize("kind", [Engine, Client, SyncEngine, SyncClient])
async def test_every_door_does_the_same(kind: type, tmp_path: Path, reference: Play) -> None:
    play = await played(kind, tmp_path)
    for number, (expected, found) in enumerate(zip(reference.steps, play.steps, strict=True)):
        assert found == expected, f"step {number}"


def test_every_method_is_called(reference: Play) -> None:
    wanted = {(class_.__name__, name) for class_ in CLASSES for name in public_methods(class_)}
    assert sorted(wanted - reference.called) == []


def test_engine_and_client_differ_in_construction_and_lifecycle_only() -> None:
    assert _own(Engine) == {"as_user", "close", "hook_addresses", "notifier", "serve"}
    assert _own(Client) == {"callback", "close"}  # a callback is known by its point in an engine only
    for name in public_methods(Engine) & public_methods(Client):
        assert inspect.signature(getattr(Engine, name)) == inspect.signature(getattr(Client, name)), name


@pytest.mark.parametrize(("sync", "of"), TWINS)
def test_a_blocking_class_has_the_methods_and_signatures_of_the_other(sync: type, of: type) -> None:
    methods = public_methods(of) - {"__aiter__"}
    assert public_methods(sync) - {"open"} == methods
    for name in methods:
        assert inspect.signature(getattr(sync, name)) == inspect.signature(getattr(of, name)), name
        assert not inspect.iscoroutinefunction(getattr(sync, name))
    if of in (Engine, Client):
        assert inspect.signature(sync) == inspect.signature(of)


@pytest.mark.parametrize(
    ("handle", "struct", "others"),
    [
        (ExecutionHandle, Execution, {"closed": "bool"}),
        (PausePointHandle, PausePoint, {}),
        (WorkflowHandle, WorkflowVersion, {}),
        (TriggerHandle, Trigger, {}),
        (DestinationHandle, Destination, {}),
        (DeliveryHandle, Delivery, {}),
        (BatchHandle, BatchInfo, {}),
    ],
)
def test_a_handle_has_the_fields_of_what_it_has_read(handle: type, struct: type, others: dict[str, str]) -> None:
    fields = {name: _short(str(type_)) for name, type_ in struct.__annotations__.items()} | others
    hidden = public_methods(handle) | {"pause_points"}  # what is only there after a start is not for every handle
    assert _annotations(handle) == {name: type_ for name, type_ in fields.items() if name not in hidden}


def _own(class_: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(class_, inspect.isfunction) if name in vars(class_)} - {
        name for name in vars(class_) if name.startswith("_")
    }


def _annotations(handle: type) -> dict[str, str]:
    """Return the fields that a type checker sees on a handle."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(handle))).body
    assert isinstance(tree, ast.ClassDef)
    (block,) = [one for one in tree.body if isinstance(one, ast.If)]
    return {
        ast.unparse(one.target): _short(ast.unparse(one.annotation))
        for one in block.body
        if isinstance(one, ast.AnnAssign)
    }


def _short(type_: str) -> str:
    """Return a type as a handle says it: what JSON can say is Any, and names have no pattern."""
    for long, short in _SHORTER.items():
        type_ = type_.replace(long, short)
    return type_
