"""Signals and callbacks over HTTP."""

from __future__ import annotations

import logging
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from layover.ports.access import AuditFilter
from tests.api.acting import ended, served_forgetfully
from tests.api.harness import listening, served
from tests.runtime.harness import HOUR, HandWound, Held, end, engine_on, flow, form, until, until_status

if TYPE_CHECKING:
    from layover.ports.records import AuditRow
    from tests.api.harness import Api

pytestmark = pytest.mark.usefixtures("each_database")

SETTLED: dict[str, Any] = {"id": "settled", "type": "wait_signal", "signal": "payment", "key": "${input.order}"}
WAITS = flow(SETTLED, end("${nodes.settled.data}"))
PICK: dict[str, Any] = {"id": "pick", "type": "callback", "call": "work", "input": {"token": "${callback.token}"}}
ACTS = ("", "/fail", "/heartbeat")


async def waiting(api: Api, work: Held, workflow: dict[str, Any]) -> tuple[str, str]:
    """Return an execution that waits for a reply, and its token."""
    await api.engine.workflows.register(workflow)
    started = await api.engine.executions.start("flow")
    call = await work.begun()
    call.returns()
    await until_status(api.engine, started.id, "waiting")
    return started.id, str(call.given["token"])


# Signals


async def test_a_signal_reaches_the_execution_that_waits_for_it(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(WAITS)
        one = await api.engine.executions.start("flow", {"order": "1"}, wait="rest")
        await api.engine.executions.start("flow", {"order": "2"}, wait="rest")
        sent = await api.post("/signals", {"name": "payment", "key": "1", "data": {"paid": 12.5}}, as_="mia:operator")

        assert (sent.status, sent.json["matched"]) == (202, [one.id])
        assert await ended(api, one.id) == {"paid": 12.5}
        (entry, *_) = await api.engine.instance.store.audit.list_entries(AuditFilter(act="signal.send"))
        assert (entry.user, entry.target) == ("mia", "payment")


async def test_a_signal_with_a_known_id_is_ignored(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        body = {"name": "payment", "key": "1", "id": "evt-1"}
        first, again = await api.post("/signals", body), await api.post("/signals", body)

        assert (first.status, first.json) == (202, {"id": "evt-1", "matched": [], "repeated": False})
        assert (again.status, again.json) == (200, {"id": "evt-1", "matched": [], "repeated": True})
        assert len(await api.engine.instance.store.audit.list_entries(AuditFilter(act="signal.send"))) == 1


async def test_a_signal_whose_answer_was_lost_is_known_by_its_key(tmp_path: Path) -> None:
    async with served_forgetfully(tmp_path) as api:
        body = {"name": "payment", "key": "1"}
        first = await api.post("/signals", body, key="k")
        again = await api.post("/signals", body, key="k")
        other = await api.post("/signals", body, as_="operator", key="k")

    assert (first.status, again.status, other.status) == (202, 200, 202)
    assert first.json["id"] == again.json["id"] != other.json["id"]


@pytest.mark.parametrize(
    "body",
    [{}, {"name": ""}, {"name": "x" * 256}, {"name": "a", "key": 1}, {"name": "a", "by": "mia"}, {"name": "a\0b"}],
)
async def test_a_signal_that_is_none_is_refused(tmp_path: Path, body: dict[str, Any]) -> None:
    async with served(tmp_path) as api:
        refused = await api.post("/signals", body)

    assert (refused.status, refused.code) == (422, "invalid_body")


async def test_what_a_signal_brings_may_not_look_like_a_reference(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        refused = await api.post("/signals", {"name": "a", "data": {"$secret": "KEY"}})

    assert (refused.status, refused.code) == (422, "payload_reserved")


async def test_signals_need_the_permission_to_start(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        found = {as_: await api.post("/signals", {"name": "a"}, as_=as_) for as_ in ("", "viewer", "approver")}

    assert {as_: (one.status, one.code) for as_, one in found.items()} == {
        "": (401, "unauthenticated"),
        "viewer": (403, "forbidden"),
        "approver": (403, "forbidden"),
    }


# Callbacks


@pytest.mark.parametrize(
    ("raw", "output"),
    [
        (b'{"pallet":[7,null]}', {"pallet": [7, None]}),
        (b"", None),
        (b"3", 3),
        (b'{"a\\u0000":"\\u0000"}', {"a\0": "\0"}),
    ],
)
async def test_the_holder_of_the_token_may_reply_once(tmp_path: Path, raw: bytes, output: object) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        execution, token = await waiting(api, work, flow(PICK, end("${nodes.pick}")))
        replied = await api.post(f"/callbacks/{token}", raw=raw, as_="")
        again = await api.post(f"/callbacks/{token}", raw=raw, as_="")

        assert (replied.status, replied.json) == (202, {"status": "accepted"})
        assert (again.status, again.code) == (410, "token_used")
        assert await ended(api, execution) == output


async def test_a_point_shows_the_data_of_its_callback(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        execution, token = await waiting(api, work, flow(PICK, end("${nodes.pick}")))
        (row,) = await api.engine.points.list(execution)
        await api.post(f"/callbacks/{token}", {"pallet": 7}, as_="")
        await ended(api, execution)
        point = (await api.get(f"/pause-points/{row.point.id}")).json

        assert (point["status"], point["answer"], point["answered_by"]) == ("applied", {"pallet": 7}, None)
        assert point["answered_at"] == point["applied_at"] is not None


async def test_a_reply_may_say_that_it_failed(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        execution, token = await waiting(api, work, flow(PICK))
        failed = await api.post(f"/callbacks/{token}/fail", {"message": "No pallet.", "retryable": False}, as_="")

        assert failed.status == 202
        error = (await api.engine.executions.wait(execution)).error
        assert error is not None
        assert (error.code, error.message, error.retryable) == ("callback_failed", "No pallet.", False)


async def test_replies_are_audited_and_heartbeats_are_not(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        first, token = await waiting(api, work, flow({**PICK, "heartbeat": "1h"}))
        second, other = await waiting(api, work, flow({**PICK, "heartbeat": "1h"}))
        for path in (f"/callbacks/{token}/heartbeat", f"/callbacks/{token}", f"/callbacks/{token}"):
            await api.post(path, as_="")
        await api.post(f"/callbacks/{other}/fail", {"message": "No pallet."}, as_="")
        entries = [*await entries_of(api, first), *await entries_of(api, second)]

    assert [(one.user, one.act, one.credential) for one in entries] == [
        ("", "callback.complete", "callback token"),
        ("", "callback.fail", "callback token"),
    ]
    assert not any(secret in one.entry.decode() for one in entries for secret in (token, other))


async def entries_of(api: Api, execution_id: str) -> list[AuditRow]:
    return list(await api.engine.instance.store.audit.list_entries(AuditFilter(execution_id=execution_id)))


async def test_a_heartbeat_keeps_the_wait_alive(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        execution, token = await waiting(api, work, flow({**PICK, "heartbeat": "1h"}, end("${nodes.pick}")))
        before = (await api.engine.queries.get(execution)).last_seq
        beaten = await api.post(f"/callbacks/{token}/heartbeat", as_="")

        assert beaten.status == 202
        await until(api.engine, execution, lambda head: head.last_seq > before)
        assert (await api.post(f"/callbacks/{token}", {"a": 1}, as_="")).status == 202
        assert await ended(api, execution) == {"a": 1}


@pytest.mark.parametrize("token", ["nobody-knows-it", "x" * 5_000, "%F0%9F%98%80"])
@pytest.mark.parametrize("act", ACTS)
async def test_an_unknown_token_is_not_found(tmp_path: Path, act: str, token: str) -> None:
    async with served(tmp_path) as api:
        refused = await api.post(f"/callbacks/{token}{act}", as_="")

    assert (refused.status, refused.code) == (404, "unknown_token")


@pytest.mark.parametrize("act", ACTS)
async def test_a_token_of_what_is_over_is_gone(tmp_path: Path, act: str) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        execution, token = await waiting(api, work, flow(PICK))
        await api.engine.control.cancel(execution)
        refused = await api.post(f"/callbacks/{token}{act}", as_="")

    assert (refused.status, refused.code) == (410, "token_used")


@pytest.mark.parametrize("act", ACTS)
async def test_a_token_that_has_expired_is_gone(tmp_path: Path, act: str) -> None:
    work, clock = Held(), HandWound()
    async with engine_on(clock.store(tmp_path), work) as engine, listening(engine) as api:
        late = {**PICK, "deadline": "1h", "on_deadline": "continue"}
        execution, token = await waiting(api, work, flow(late, form()))
        clock.skip(engine, 2 * HOUR)
        await until_status(engine, execution, "paused")
        refused = await api.post(f"/callbacks/{token}{act}", as_="")

    assert (refused.status, refused.code) == (410, "token_used")


@pytest.mark.parametrize(
    ("act", "raw", "code"),
    [
        ("", b"{", (400, "malformed")),
        ("", b'{"a":{"$secret":"KEY"}}', (422, "payload_reserved")),
        ("/fail", b'{"message":7}', (422, "invalid_body")),
        ("/fail", b"{", (400, "malformed")),
        ("/heartbeat", b'{"alive":true}', (422, "invalid_body")),
    ],
)
async def test_a_reply_that_cannot_be_read_changes_nothing(
    tmp_path: Path, act: str, raw: bytes, code: tuple[int, str]
) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        execution, token = await waiting(api, work, flow(PICK, end("${nodes.pick}")))
        refused = await api.post(f"/callbacks/{token}{act}", raw=raw, as_="")
        assert (refused.status, refused.code) == code
        assert (await api.engine.queries.get(execution)).status == "waiting"
        assert (await api.post(f"/callbacks/{token}", {"a": 1}, as_="")).status == 202


async def test_a_token_is_in_no_log_and_in_no_answer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    work = Held()
    caplog.set_level(logging.DEBUG)
    async with served(tmp_path, work) as api:
        _, token = await waiting(api, work, flow(PICK))
        answers = [await api.post(f"/callbacks/{token}/heartbeat", as_="")]
        answers += [await api.post(f"/callbacks/{token}", raw=b"{", as_="")]
        answers += [await api.post(f"/callbacks/{token}", {"said": token}, as_="") for _ in range(2)]
        answers += [await api.post(f"/callbacks/{token}{act}", as_="") for act in ACTS]
        answers += [await api.post(f"/callbacks/{token}wrong", as_=""), await api.get(f"/callbacks/{token}", as_="")]

    beat = answers[6].status  # after the reply was taken, and before or after it was applied
    assert beat in (202, 410)
    assert [one.status for one in answers] == [202, 400, 202, 410, 410, 410, beat, 404, 405]
    for one in answers:
        assert token not in one.body.decode() + str(one.headers)
    assert token not in caplog.text
