"""Decisions in logs are held against audit entries: what has none is found, and nothing else is."""

from __future__ import annotations

from contextlib import asynccontextmanager, closing
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from layover import Engine
from layover.runtime.audit.verify import verify_audit
from tests.audit.signing import NEVER
from tests.runtime.harness import HOUR, HandWound, address_in, approval, end, engine_at, engine_on, flow, form

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.runtime.audit.findings import AuditVerification
    from layover.runtime.runtime import Runtime


@asynccontextmanager
async def deciding(folder: Path, *nodes: dict[str, object]) -> AsyncIterator[Any]:
    """Give an engine of a user who decides, with a workflow; something was sealed before."""
    async with (
        engine_at(folder, audit_poll=NEVER) as sealing,
        Engine(address_in(folder), user="ada", roles=["admin"]) as engine,
    ):
        await engine.register(flow(*nodes, end(1)))
        await sealing.instance.sealer.seal_all()
        yield engine


async def sealed_and_verified(engine: Runtime) -> AuditVerification:
    await engine.instance.sealer.seal_all()
    return await verify_audit(engine.instance.store)


@pytest.mark.usefixtures("each_database")
class TestNoFalseAlarm:
    """What people and deadlines do in order raises no alarm."""

    async def test_after_a_decision_is_taken_back(self, tmp_path: Path) -> None:
        async with deciding(tmp_path, approval(undo="1h")) as engine:
            one = await engine.start("flow", until="people")
            point = await one.point("review")
            await point.approve()
            await point.take_back("the wrong one")
            two = await engine.start("flow", until="people")
            again = await two.point("review")
            await again.approve()
            await again.take_back("the wrong one")
            await again.reject(comment="no")
            await two.cancel()
        await self._is_whole(tmp_path)

    async def test_after_decisions_that_become_final(self, tmp_path: Path) -> None:
        async with deciding(tmp_path, form(undo="1s", next="review"), approval(undo="1s")) as engine:
            one = await engine.start("flow", until="people")
            await one.answer("ask", {"n": 1})
            await one.wait("people")
            point = await one.point("review")
            await point.approve()
            await point.take_back()
            await point.reject()
            await one.wait()
        await self._is_whole(tmp_path, 3)  # the one that was taken back is in the log too

    async def test_after_a_rewind(self, tmp_path: Path) -> None:
        async with deciding(tmp_path, form(next="review"), approval()) as engine:
            one = await engine.start("flow", until="people")
            for _ in range(2):
                await one.answer("ask", {"n": 1})
                await one.wait("people")
                await (await one.point("review")).approve()
                await one.wait()
                await one.rewind("ask")
                await one.wait("people")
        await self._is_whole(tmp_path, 4)

    async def test_after_a_resume_that_decides(self, tmp_path: Path) -> None:
        async with deciding(tmp_path, approval()) as engine:
            one = await engine.start("flow", until="people")
            await one.resume(approved=True, reason="in a hurry")
            await one.wait()
        await self._is_whole(tmp_path, 1)

    async def test_after_a_batch_of_answers(self, tmp_path: Path) -> None:
        async with deciding(tmp_path, form()) as engine:
            started = [await engine.start("flow", until="people") for _ in range(3)]
            made = await engine.batch("answer", {"workflow": "flow", "node": "ask"}, data={"n": 1})
            await made.wait()
            for one in started:
                await one.wait()
        await self._is_whole(tmp_path, 3)

    @pytest.mark.parametrize("on_deadline", ["approve", "reject", "fail"])
    async def test_after_a_deadline(self, tmp_path: Path, on_deadline: str) -> None:
        clock = HandWound()
        async with engine_on(clock.store(tmp_path), audit_poll=NEVER) as engine:
            await engine.workflows.register(flow(approval(deadline="1h", on_deadline=on_deadline), end(1)))
            for n in range(2):
                started = await engine.executions.start("flow", n, wait="rest")
                clock.skip(engine, 2 * HOUR)
                await engine.executions.wait(started.id)
                engine.instance.clock.set(clock.now)
                found = await sealed_and_verified(engine)
                assert [one for one in found.findings if "decision" in one.code] == []
                assert found.decisions == (0 if on_deadline == "fail" else n + 1)

    async def _is_whole(self, folder: Path, decisions: int | None = None) -> None:
        async with engine_at(folder, audit_poll=NEVER) as engine:
            found = await sealed_and_verified(engine)
        assert found.findings == ()
        assert decisions is None or found.decisions == decisions


async def test_a_decision_whose_entry_was_deleted_before_its_seal_is_found(tmp_path: Path) -> None:
    async with deciding(tmp_path, approval()) as engine:
        one = await engine.start("flow", until="people")
        point = await one.point("review")
        await point.approve()
        await one.wait()
        with closing(apsw.Connection(str(tmp_path / "layover.db"))) as db:
            db.set_busy_timeout(10_000)
            db.execute("DELETE FROM audit WHERE act = 'approval.approve' AND seal IS NULL")
            assert db.changes() == 1
    async with engine_at(tmp_path, audit_poll=NEVER) as runtime:
        (found,) = (await sealed_and_verified(runtime)).findings
    assert found.code == "decision_without_entry"
    assert point.id in found.message


async def test_a_decision_whose_entry_was_erased_for_its_user_raises_no_alarm(tmp_path: Path) -> None:
    async with deciding(tmp_path, approval()) as engine:
        one = await engine.start("flow", until="people")
        await (await one.point("review")).approve()
        await one.wait()
    async with engine_at(tmp_path, audit_poll=NEVER) as runtime:
        await runtime.instance.sealer.seal_all()
    with closing(apsw.Connection(str(tmp_path / "layover.db"))) as db:
        db.execute(
            "UPDATE audit SET entry = NULL, salt = NULL, user = '', details = '{}' WHERE act = 'approval.approve'"
        )
        assert db.changes() == 1
    async with engine_at(tmp_path, audit_poll=NEVER) as runtime:
        found = await sealed_and_verified(runtime)
    assert (found.findings, found.erased) == ((), 1)


async def test_an_entry_of_a_decision_that_nobody_made_is_found(tmp_path: Path) -> None:
    async with deciding(tmp_path, approval()) as engine:
        one = await engine.start("flow", until="people")
        point = await one.point("review")
        await point.approve()
        await one.wait()
    with closing(apsw.Connection(str(tmp_path / "layover.db"))) as db:
        db.execute("UPDATE audit SET user = 'eve' WHERE act = 'approval.approve'")
    async with engine_at(tmp_path, audit_poll=NEVER) as runtime:
        found = {one.code for one in (await sealed_and_verified(runtime)).findings}
    assert found == {"entry_changed", "decision_without_entry", "entry_without_decision"}
