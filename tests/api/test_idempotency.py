"""Requests that may come again: the same key is the same request, done once and answered the same."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from layover.api.problems import Refusal
from layover.api.request import Response
from layover.api.routes import ROUTES
from layover.api.routing import Routes
from layover.errors import WrongState
from layover.model.shared import Body, Resource
from layover.ports.errors import StoreError
from tests.api.harness import UNLIMITED, listening
from tests.runtime.harness import Between, engine_at, engine_on

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from layover.api.request import Request
    from layover.runtime.runtime import Runtime
    from tests.api.harness import Api

each_database = pytest.mark.usefixtures("each_database")


class Asked(Body, frozen=True, kw_only=True):
    a: int = 0
    b: dict[str, int] = {}  # noqa: RUF012 - a struct makes a copy of an empty default for each instance


class Done(Resource, frozen=True, kw_only=True):
    times: int


class Deeds:
    """Routes of these tests, and how often each was done; a test may say what happens when one is."""

    def __init__(self) -> None:
        self.times = 0
        self.on_deed: Callable[[], object] | None = None
        self.held: asyncio.Event | None = None
        self.begun = asyncio.Event()
        routes = Routes("Deeds", "Deeds.")
        own = routes.post("/deeds/{id}", needs=("execution:start",), body=Asked, answers={201: Done})
        own(self.do)
        gone = routes.post("/gone", needs=("execution:start",), body=Asked, answers={204: None})
        gone(self.remove)
        shared = routes.post(
            "/shared", needs=("execution:start",), body=Asked, answers={201: Done}, scope=lambda call: str(call.body.a)
        )
        shared(self.do)
        text = routes.post("/text", needs=("execution:start",), body=bytes, answers={201: Done})
        text(self.do)
        self.routes = routes.routes

    async def do(self, call: Request[Asked, Any]) -> Response:  # noqa: ARG002 - nothing is asked
        """Do it."""
        self.begun.set()
        if self.held is not None:
            await self.held.wait()
        self.times += 1
        if self.on_deed is not None:
            self.on_deed()
        return Response(Done(times=self.times), 201)

    async def remove(self, call: Request[Asked, Any]) -> Response:
        """Remove it."""
        await self.do(call)
        return Response(status=204)


@asynccontextmanager
async def doing(engine: Runtime, deeds: Deeds, **made_with: Any) -> AsyncIterator[Api]:
    async with listening(engine, routes=[*ROUTES, *deeds.routes], **made_with) as api:
        yield api


@each_database
async def test_the_same_request_is_done_once_and_answered_the_same(tmp_path: Path) -> None:
    deeds = Deeds()
    async with engine_at(tmp_path) as engine, doing(engine, deeds) as api:
        first = await api.post("/deeds/1", {"a": 1, "b": {"x": 1, "y": 2}}, key="k", as_="operator")
        again = await api.post("/deeds/1", {"b": {"y": 2, "x": 1}, "a": 1}, key="k", as_="operator")
        removed = [await api.post("/gone", key="k", as_="operator") for _ in range(2)]

    assert (first.status, again.status, first.body) == (201, 201, again.body)
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["content-type"] == "application/json"
    assert [(one.status, one.body) for one in removed] == [(204, b"")] * 2
    assert deeds.times == 2


@each_database
async def test_another_request_with_the_same_key_is_refused(tmp_path: Path) -> None:
    deeds = Deeds()
    async with engine_at(tmp_path) as engine, doing(engine, deeds) as api:
        await api.post("/deeds/1", {"a": 1}, key="k", as_="operator")
        other = await api.post("/deeds/1", {"a": 2}, key="k", as_="operator")
        text = await api.ask("POST", "/text", raw=b"a", key="k", as_="operator")
        same = await api.ask("POST", "/text", raw=b"a", key="k", as_="operator")
        changed = await api.ask("POST", "/text", raw=b"b", key="k", as_="operator")

    assert (other.status, other.code) == (409, "idempotency_mismatch")
    assert (text.status, same.body, changed.status) == (201, text.body, 409)
    assert deeds.times == 2


async def test_a_key_belongs_to_a_caller_and_a_path(tmp_path: Path) -> None:
    deeds = Deeds()
    async with engine_at(tmp_path) as engine, doing(engine, deeds) as api:
        asked = [
            await api.post("/deeds/1", key="k", as_="operator"),
            await api.post("/deeds/2", key="k", as_="operator"),
            await api.post("/deeds/1", key="k", as_="bob:operator"),
            await api.post("/deeds/1", key="other", as_="operator"),
            await api.post("/deeds/1", as_="operator"),
            await api.post("/deeds/" + "long" * 1_000, key="k", as_="operator"),
        ]

    assert [one.json["times"] for one in asked] == [1, 2, 3, 4, 5, 6]


async def test_a_route_may_say_what_a_key_belongs_to(tmp_path: Path) -> None:
    deeds = Deeds()
    async with engine_at(tmp_path) as engine, doing(engine, deeds) as api:
        first = await api.post("/shared", {"a": 1}, key="k", as_="operator")
        other = await api.post("/shared", {"a": 2}, key="k", as_="operator")
        same = await api.post("/shared", {"a": 1}, key="k", as_="operator")

    assert (first.json["times"], other.json["times"], same.json["times"]) == (1, 2, 1)


async def test_where_callers_share_a_key_each_is_answered_by_the_handler(tmp_path: Path) -> None:
    deeds = Deeds()
    async with engine_at(tmp_path) as engine, doing(engine, deeds) as api:
        first = await api.post("/shared", {"a": 1}, key="k", as_="operator")
        others = await api.post("/shared", {"a": 1}, key="k", as_="bob:operator")
        changed = await api.post("/shared", {"a": 1, "b": {"x": 1}}, key="k", as_="bob:operator")
        again = await api.post("/shared", {"a": 1}, key="k", as_="operator")

    assert (first.json["times"], others.json["times"], again.json["times"]) == (1, 2, 1)
    assert (changed.status, changed.code) == (409, "idempotency_mismatch")


@each_database
async def test_a_reply_kept_by_a_release_that_did_not_note_the_caller_is_given_only_where_keys_are_not_shared(
    tmp_path: Path,
) -> None:
    deeds, store = Deeds(), Unowned(tmp_path)
    async with engine_on(store) as engine, doing(engine, deeds) as api:
        own = [(await api.post("/deeds/1", key="k", as_="operator")).json["times"] for _ in range(2)]
        shared = [(await api.post("/shared", key="k", as_="operator")).json["times"] for _ in range(2)]

    assert (own, shared) == ([1, 1], [2, 3])


async def test_a_caller_without_permission_gets_no_stored_answer(tmp_path: Path) -> None:
    deeds = Deeds()
    async with engine_at(tmp_path) as engine, doing(engine, deeds) as api:
        await api.post("/shared", key="k", as_="operator")
        refused = await api.post("/shared", key="k", as_="viewer")

    assert (refused.status, refused.code) == (403, "forbidden")


@each_database
async def test_while_the_first_is_worked_at_a_second_is_sent_away(tmp_path: Path) -> None:
    deeds = Deeds()
    deeds.held = asyncio.Event()
    async with engine_at(tmp_path) as engine, doing(engine, deeds) as api:
        first = asyncio.create_task(api.post("/deeds/1", key="k", as_="operator"))
        await deeds.begun.wait()
        second = await api.post("/deeds/1", key="k", as_="operator")
        other = await api.post("/deeds/1", {"a": 7}, key="k", as_="operator")
        deeds.held.set()
        done = await first
        third = await api.post("/deeds/1", key="k", as_="operator")

    assert (second.status, second.code, second.headers["retry-after"]) == (409, "in_progress", "1")
    assert (other.status, other.code) == (409, "idempotency_mismatch")
    assert (done.status, third.body, deeds.times) == (201, done.body, 1)


async def test_many_at_once_are_done_once(tmp_path: Path) -> None:
    deeds = Deeds()
    async with engine_at(tmp_path) as engine, doing(engine, deeds) as api:
        await api.key_of("operator")
        asked = await asyncio.gather(*(api.post("/deeds/1", key="k", as_="operator") for _ in range(20)))

    assert deeds.times == 1
    assert {one.status for one in asked} <= {201, 409}
    assert {one.code for one in asked if one.status == 409} <= {"in_progress"}


def refused() -> None:
    raise Refusal("unknown_point", "There is none.")


def wrong_state() -> None:
    raise WrongState("It is closed.", "closed")


def faulty() -> None:
    raise ZeroDivisionError


def unavailable() -> None:
    raise StoreError("no room on the disk of db.internal")


@each_database
@pytest.mark.parametrize(("deed", "status"), [(refused, 404), (wrong_state, 409)])
async def test_a_refusal_is_an_answer_like_any_other(tmp_path: Path, deed: Callable[[], None], status: int) -> None:
    deeds = Deeds()
    deeds.on_deed = deed
    async with engine_at(tmp_path) as engine, doing(engine, deeds) as api:
        first = await api.post("/deeds/1", key="k", as_="operator")
        deeds.on_deed = None
        again = await api.post("/deeds/1", key="k", as_="operator")

    assert (first.status, again.status, again.body) == (status, status, first.body)
    assert again.headers["content-type"] == "application/problem+json"
    assert again.headers["idempotency-replayed"] == "true"
    assert deeds.times == 1


@each_database
@pytest.mark.parametrize(("deed", "status"), [(faulty, 500), (unavailable, 503)])
async def test_a_fault_is_no_answer_and_may_be_tried_again(
    tmp_path: Path, deed: Callable[[], None], status: int
) -> None:
    deeds = Deeds()
    deeds.on_deed = deed
    async with engine_at(tmp_path) as engine, doing(engine, deeds) as api:
        first = await api.post("/deeds/1", key="k", as_="operator")
        deeds.on_deed = None
        again = await api.post("/deeds/1", key="k", as_="operator")

    assert (first.status, again.status, deeds.times) == (status, 201, 2)
    assert "db.internal" not in first.body.decode()


async def test_what_cannot_be_done_is_found_out_before_the_key_is_used(tmp_path: Path) -> None:
    deeds = Deeds()
    async with engine_at(tmp_path) as engine, doing(engine, deeds) as api:
        wrong = await api.post("/deeds/1", {"a": "x"}, key="k", as_="operator")
        right = await api.post("/deeds/1", {"a": 1}, key="k", as_="operator")

    assert (wrong.status, right.status) == (422, 201)


@pytest.mark.parametrize("key", ["", " ", "x" * 256, "\xa0"])
async def test_a_key_is_a_short_text_that_can_be_seen(tmp_path: Path, key: str) -> None:
    deeds = Deeds()
    async with engine_at(tmp_path) as engine, doing(engine, deeds) as api:
        refused = await api.post("/deeds/1", key=key, as_="operator")

    assert (refused.status, refused.code, deeds.times) == (400, "invalid_parameter", 0)


async def test_the_longest_key_is_taken(tmp_path: Path) -> None:
    deeds = Deeds()
    async with engine_at(tmp_path) as engine, doing(engine, deeds) as api:
        asked = [await api.post("/deeds/1", key="x" * 255, as_="operator") for _ in range(2)]

    assert [one.status for one in asked] == [201, 201]
    assert deeds.times == 1


class Unowned(Between):
    """A store whose replies were kept by a release that did not note whose they are."""

    async def idempotency_finish(self, reply: Any) -> None:
        body = msgspec.msgpack.encode(msgspec.msgpack.decode(reply.body)[:3])
        await self.store.idempotency.finish(msgspec.structs.replace(reply, body=body))


class Dying(Between):
    """A store of a server that dies after a deed, before its answer is kept; or cannot keep it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.is_dying = True
        self.error: StoreError | None = None

    async def idempotency_finish(self, reply: Any) -> None:
        if self.error is not None:
            raise self.error
        if not self.is_dying:
            await self.store.idempotency.finish(reply)


@each_database
async def test_a_request_whose_server_died_is_worked_at_anew_once_it_is_over(tmp_path: Path) -> None:
    deeds, store = Deeds(), Dying(tmp_path)
    soon = msgspec.structs.replace(UNLIMITED, reply_worked_at=0.0)
    async with engine_on(store) as engine, doing(engine, deeds) as api:
        lost = await api.post("/deeds/1", key="k", as_="operator")
        working = await api.post("/deeds/1", key="k", as_="operator")
    store = Dying(tmp_path)
    async with engine_on(store) as engine, doing(engine, deeds, settings=soon) as api:
        first = await api.post("/deeds/2", key="k", as_="operator")
        store.is_dying = False
        again = await api.post("/deeds/2", key="k", as_="operator")
        same = await api.post("/deeds/2", key="k", as_="operator")

    assert (lost.status, working.status, working.code) == (201, 409, "in_progress")
    assert [one.json["times"] for one in (first, again, same)] == [2, 3, 3]


async def test_an_answer_that_cannot_be_kept_is_given_all_the_same(tmp_path: Path) -> None:
    deeds, store = Deeds(), Dying(tmp_path)
    store.error = StoreError("the disk is full")
    async with engine_on(store) as engine, doing(engine, deeds) as api:
        done = await api.post("/deeds/1", key="k", as_="operator")

    assert (done.status, deeds.times) == (201, 1)
