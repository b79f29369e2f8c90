"""The client for programs without an event loop: it is the asynchronous one, written from it and run in a thread."""

from __future__ import annotations

import importlib.util
import inspect
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from layover.client import ApiError, AsyncClient, Client
from layover.client.errors import ClientClosed
from tests.api.harness import ADMIN_KEY
from tests.client.in_a_thread import served_in_a_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOOL = Path(__file__).parents[2] / "tools" / "blocking_calls.py"
ASKING = {"name": "asking", "nodes": [{"id": "size", "type": "form", "title": "Which?", "schema": {"type": "integer"}}]}


def test_it_is_what_is_made_from_the_asynchronous_one() -> None:
    spec = importlib.util.spec_from_file_location("blocking_calls", _TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    made = {path: content for path, content in tool.modules().items() if path.read_text() != content}
    assert not made, "run python tools/blocking_calls.py"


def test_every_call_has_a_twin_with_the_same_signature() -> None:
    first, second = AsyncClient("http://h.invalid"), Client("http://h.invalid")
    names = {name for name in vars(first) if not name.startswith("_")}
    assert names == {name for name in vars(second) if not name.startswith("_")}
    for name in names:
        ours, theirs = _calls(getattr(first, name)), _calls(getattr(second, name))
        assert ours.keys() == theirs.keys()
        for call, signature in ours.items():
            assert signature.replace("AsyncIterator", "Iterator") == theirs[call]
            assert not inspect.iscoroutinefunction(getattr(getattr(second, name), call))


def _calls(group: object) -> dict[str, str]:
    members = inspect.getmembers(group, inspect.isroutine)
    return {name: str(inspect.signature(call)) for name, call in members if not name.startswith("_")}


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a server that runs in a thread of its own."""
    with served_in_a_thread(tmp_path) as address:
        yield address


def test_a_script_starts_answers_and_follows(url: str) -> None:
    with Client(url, key=ADMIN_KEY) as client:
        client.workflows.save(ASKING)
        execution = client.executions.start("asking", wait="30s")
        (point,) = client.points.each(execution_id=execution.id)
        stream = client.executions.stream(execution.id)
        assert next(stream).type == "ExecutionCreated"
        client.points.answer(point.id, 5)
        assert [event.type for event in stream][-1] == "ExecutionCompleted"
        assert client.executions.get(execution.id).output == 5
        assert [one.id for one in client.executions.each()] == [execution.id]
        with pytest.raises(ApiError) as raised:
            client.executions.cancel(execution.id)
        assert raised.value.code == "wrong_state"


def test_a_stream_may_be_left(url: str) -> None:
    with Client(url, key=ADMIN_KEY) as client:
        client.workflows.save(ASKING)
        execution = client.executions.start("asking", wait="30s")
        for event in client.executions.stream(execution.id):
            assert event.seq == 0
            break
        assert client.executions.get(execution.id).status == "paused"


def test_several_threads_share_a_client(url: str) -> None:
    with Client(url, key=ADMIN_KEY) as client:
        client.workflows.save(ASKING)
        threads = [threading.Thread(target=client.executions.start, args=("asking",)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len([*client.executions.each()]) == 8


def test_a_closed_client_opens_again_and_leaves_no_thread(url: str) -> None:
    client = Client(url, key=ADMIN_KEY)
    for _ in range(2):
        assert client.keys.me().user == "admin"
        client.close()
        client.close()
        assert "layover-client" not in {thread.name for thread in threading.enumerate()}


def test_what_is_waited_for_when_it_is_closed_ends(url: str) -> None:
    client = Client(url, key=ADMIN_KEY)
    client.workflows.save(ASKING)
    execution = client.executions.start("asking", wait="30s")
    stream = client.executions.stream(execution.id)
    ends: list[ClientClosed] = []
    for _ in range(execution.last_seq + 1):
        next(stream)

    def follow() -> None:
        try:
            next(stream)
        except ClientClosed as error:
            ends.append(error)

    thread = threading.Thread(target=follow)
    thread.start()
    client.close()
    thread.join()
    assert len(ends) == 1
