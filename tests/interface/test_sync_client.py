"""The client for programs without an event loop: the async one, on a loop in a thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from layover import BadUse, Closed, SyncClient, WrongState
from tests.api.harness import ADMIN_KEY
from tests.interface.in_a_thread import served_in_a_thread

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ASKING = {"name": "asking", "nodes": [{"id": "size", "type": "form", "title": "Which?", "schema": {"type": "integer"}}]}


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a server that runs in a thread of its own."""
    with served_in_a_thread(tmp_path) as server:
        yield server.url


def test_a_script_starts_answers_and_follows(url: str) -> None:
    with SyncClient(url, api_key=ADMIN_KEY) as client:
        client.register(ASKING)
        execution = client.start("asking", until="people", timeout="30s")
        (point,) = client.points(execution_id=execution.id)
        stream = execution.events()
        assert next(stream).type == "ExecutionCreated"
        point.answer(5)
        assert [event.type for event in stream][-1] == "ExecutionCompleted"
        assert execution.refresh().output == 5
        assert [one.id for one in client.executions()] == [execution.id]
        with pytest.raises(WrongState):
            execution.cancel()


def test_a_stream_may_be_left(url: str) -> None:
    with SyncClient(url, api_key=ADMIN_KEY) as client:
        client.register(ASKING)
        execution = client.start("asking", until="people")
        for event in execution.events():
            assert event.seq == 0
            break
        assert execution.refresh().status == "paused"


def test_several_threads_share_a_client(url: str) -> None:
    with SyncClient(url, api_key=ADMIN_KEY) as client:
        client.register(ASKING)
        threads = [threading.Thread(target=client.start, args=("asking",)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(client.executions().all()) == 8


def test_a_closed_client_opens_again_and_leaves_no_thread(url: str) -> None:
    client = SyncClient(url, api_key=ADMIN_KEY)
    for _ in range(2):
        with client:
            assert client.me().user == "admin"
        client.close()
        assert "layover-client" not in {thread.name for thread in threading.enumerate()}
        with pytest.raises(Closed, match=r"client\.open\(\)"):
            client.me()


def test_only_an_engine_knows_a_callback_by_its_point(url: str) -> None:
    with SyncClient(url) as client, pytest.raises(BadUse):
        client.callback(point_id="p")


def test_what_is_waited_for_when_it_is_closed_ends(url: str) -> None:
    client = SyncClient(url, api_key=ADMIN_KEY).open()
    client.register(ASKING)
    execution = client.start("asking", until="people")
    stream = execution.events()
    ends: list[Closed] = []
    for _ in range(execution.last_seq + 1):
        next(stream)

    def follow() -> None:
        try:
            next(stream)
        except Closed as error:
            ends.append(error)

    thread = threading.Thread(target=follow)
    thread.start()
    client.close()
    thread.join()
    assert len(ends) == 1
