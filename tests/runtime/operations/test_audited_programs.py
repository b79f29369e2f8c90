"""Every act is in the audit log without its caller's help: those of a program, and what a deadline decides."""

from __future__ import annotations

import hashlib
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import msgspec
import pytest

from layover import Engine
from layover.core.audit_proofs import leaf_of
from layover.ports.access import AuditFilter
from tests.runtime.harness import HOUR, HandWound, address_in, approval, end, engine_at, engine_on, flow, form

if TYPE_CHECKING:
    from layover.model.access import AuditEntry
    from layover.ports.records import AuditRow

pytestmark = pytest.mark.usefixtures("each_database")

ASKING = flow(form(), end("${nodes.ask}"))


async def acts(engine: Engine) -> list[AuditEntry]:
    return [one async for one in engine.audit()]


async def test_what_a_program_does_is_audited_in_the_name_of_the_engine(tmp_path: Path) -> None:
    async with Engine(address_in(tmp_path)) as engine:
        await engine.register(ASKING)
        started = await engine.start("flow", until="rest")
        await started.pause("to look")
        await started.resume()
        point = await started.point("ask")
        await point.answer({"size": "ü"}, comment="as asked")
        await engine.signal("paid")
        found = await acts(engine)
        assert [one.act for one in reversed(found)] == [
            "workflow.save",
            "execution.pause",
            "execution.resume",
            "point.answer",
        ]
        assert {(one.user, one.credential) for one in found} == {("engine", "program")}
        answered = found[0]
        assert (answered.target, answered.execution_id) == (point.id, started.id)
        assert answered.after == {"data": {"size": "ü"}}
        assert answered.details == {"comment": "as asked"}
        assert answered.address


async def test_the_entry_is_all_of_the_act_and_its_leaf_the_hash_of_it(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as runtime, Engine(address_in(tmp_path), user="ada", roles=["admin"]) as engine:
        await engine.register(ASKING)
        started = await engine.start("flow", until="rest")
        await (await started.point("ask")).answer({"size": 1}, comment="fine")
        row: AuditRow = (await runtime.instance.store.audit.list_entries(AuditFilter(act="point.answer")))[0]
        said = msgspec.json.decode(row.entry)
        assert row.entry == msgspec.json.encode(said, order="sorted")
        assert (said["user"], said["credential"], said["act"]) == ("ada", "embedded", "point.answer")
        assert (said["id"], said["target"], said["execution_id"]) == (row.id, row.target, started.id)
        assert (said["after"], said["details"]["comment"]) == ({"data": {"size": 1}}, "fine")
        assert row.leaf == leaf_of(row.salt, row.entry) == hashlib.sha256(b"\0" + row.salt + row.entry).digest()
        assert len(row.salt) == 16


async def test_long_data_of_an_answer_stand_in_its_entry_by_their_hash(tmp_path: Path) -> None:
    async with Engine(address_in(tmp_path)) as engine:
        await engine.register(ASKING)
        started = await engine.start("flow", until="rest")
        await (await started.point("ask")).answer({"size": "x" * 20_000})
        (found, *_) = await acts(engine)
        data = msgspec.json.encode({"size": "x" * 20_000})
        assert found.after == {"data_sha256": hashlib.sha256(data).hexdigest()}


@pytest.mark.parametrize(("on_deadline", "act"), [("approve", "approval.approve"), ("reject", "approval.reject")])
async def test_what_a_deadline_decides_is_audited(tmp_path: Path, on_deadline: str, act: str) -> None:
    asked = approval(deadline="1h", on_deadline=on_deadline)
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(asked, end(1)))
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        clock.skip(engine, 2 * HOUR)
        await engine.executions.wait(started.id)
        (entry,) = await engine.instance.store.audit.list_entries(AuditFilter(execution_id=started.id))
        assert (entry.user, entry.credential, entry.act, entry.target) == ("engine", "deadline", act, row.point.id)
        assert msgspec.json.decode(entry.entry)["after"] == {"approved": on_deadline == "approve"}


async def test_a_deadline_that_decides_nothing_is_no_act(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(approval(deadline="1h", on_deadline="fail"), end(1)))
        started = await engine.executions.start("flow", wait="rest")
        clock.skip(engine, 2 * HOUR)
        await engine.executions.wait(started.id)
        assert await engine.instance.store.audit.list_entries(AuditFilter()) == []
