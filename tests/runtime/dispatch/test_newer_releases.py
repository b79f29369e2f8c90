"""What a newer release has written waits for an instance of that release: nothing of it is lost, and nothing spins."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import msgspec
import pytest

from layover.core.engine import command_codec
from layover.core.engine import commands as cmd
from layover.core.engine.codec import encode_events
from layover.core.engine.events import ExecutionPausing
from layover.core.moments import Moment
from layover.ports.records import Append, Claim, Claims, Enqueue, Message, Rest
from layover.runtime.dispatch import claimer
from layover.runtime.execution.unknown_commands import READABLE
from layover.runtime.runtime import Runtime  # noqa: TC001 - as above
from tests.runtime.harness import YEAR, Between, HandWound, Held, call, engine_on, flow, form, look, until, until_status

pytestmark = pytest.mark.usefixtures("each_database")

HASTEN = msgspec.json.encode({"reason": "be quick", "speed": 2})


class Counted(Between):
    """A store whose time passes by hand, and that counts looks and claims."""

    def __init__(self, folder: Path, clock: HandWound) -> None:
        self.store = clock.store(folder)
        self.looks = 0
        self.claimed: list[str] = []

    async def claims_claim(self, wish: Claim) -> Claims:
        claims = await self.store.claims.claim(wish)
        self.looks += 1
        self.claimed += [one.head.execution_id for one in claims.claimed]
        return claims

    async def looked(self, engine: Runtime, times: int = 3) -> None:
        """Return when the engine has looked some more times for what is due."""
        wanted = self.looks + times
        while self.looks < wanted:
            look(engine)
            await asyncio.sleep(0)


async def hasten(engine: Runtime, execution_id: str, kind: str = "Hasten", body: bytes = HASTEN) -> None:
    """Send what only a newer release knows."""
    await engine.instance.driver.send([Enqueue(execution_id=execution_id, kind=kind, body=body)])


def upgrade(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this release know the command: to it, it is a pause."""
    monkeypatch.setitem(vars(command_codec)["_DECODERS"], "Hasten", msgspec.json.Decoder(cmd.Pause))
    monkeypatch.setattr(claimer, "READABLE", READABLE | {"command:Hasten"})


async def write(store: Counted, clock: HandWound, execution_id: str, **fields: object) -> int:
    """Add something to a log as an instance of a newer release does; return its epoch."""
    wish = Claim(instance="newer", now=clock.now, lease_until=clock.now + YEAR, most=1, execution_id=execution_id)
    head = (await store.store.claims.claim(wish)).claimed[0].head
    append = Append(
        execution_id=execution_id,
        owner="newer",
        epoch=head.epoch,
        expected_seq=head.last_seq,
        commands_seen=0,
        at=clock.now,
        status="waiting",
        rest=Rest(wake_at=None),
        **{"events": b"[]", "count": 0, **fields},  # type: ignore[arg-type]  # a wrong one is noticed at once
    )
    assert (await store.store.appends.commit([append]))[0].verdict == "passed"
    return head.epoch


def open_engine(store: Counted, *nodes: Held) -> Runtime:
    return engine_on(store, *nodes, lease_ttl=YEAR)


async def test_an_unknown_command_stays_queued_until_an_instance_knows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Counted(tmp_path, HandWound())
    async with open_engine(store) as engine:
        await engine.workflows.register(flow(form()))
        started = await engine.executions.start("flow", wait="rest")
        await hasten(engine, started.id)
        head = await until(engine, started.id, lambda head: bool(head.missing) and head.owner is None)
        assert (head.missing, head.commands_done, head.commands_seq) == (("command:Hasten",), 0, 1)
        (reason, *_) = (await engine.queries.why(started.id)).reasons
        assert (reason.kind, "understands the command `Hasten`" in reason.text) == ("command", True)
        assert reason.since == Moment.maybe(head.missing_since)
        upgrade(monkeypatch)
        look(engine)
        await until_status(engine, started.id, "paused")
        await until(engine, started.id, lambda head: head.commands_done == 1 and not head.missing)
        assert (await engine.queries.get(started.id)).paused_reason == "be quick"


@pytest.mark.parametrize(("kind", "body"), [("Hasten", HASTEN), ("Pause", b'{"reason": 5}')], ids=["kind", "body"])
async def test_what_cannot_be_read_is_not_taken_up_again_and_again(tmp_path: Path, kind: str, body: bytes) -> None:
    clock = HandWound()
    store = Counted(tmp_path, clock)
    async with open_engine(store) as engine:
        await engine.workflows.register(flow(form()))
        started = await engine.executions.start("flow", wait="rest")
        await hasten(engine, started.id, kind, body)
        await until(engine, started.id, lambda head: bool(head.missing) and head.owner is None)
        before = len(store.claimed)
        await store.looked(engine)
        assert len(store.claimed) == before
        clock.skip(engine, 60_000)  # perhaps somebody else can read it: it is looked again
        await until(engine, started.id, lambda head: head.epoch == before + 2 and head.owner is None)
        assert (await engine.queries.history(started.id))[-1].at < clock.now  # and nothing was written for that


async def test_nothing_overtakes_a_command_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Counted(tmp_path, HandWound())
    async with open_engine(store) as engine:
        await engine.workflows.register(flow(form()))
        started = await engine.executions.start("flow", wait="rest")
        await hasten(engine, started.id)
        cancelled = asyncio.create_task(engine.control.cancel(started.id, "enough"))
        await until(engine, started.id, lambda head: head.commands_seq == 2 and head.owner is None)
        await store.looked(engine)
        assert (await engine.queries.get(started.id)).status == "paused"  # it waits for a person, as before
        upgrade(monkeypatch)
        look(engine)
        assert (await cancelled).status == "cancelled"
        events = [type(one.event).__name__ for one in await engine.queries.history(started.id)]
        assert events.index("ExecutionPausing") < events.index("ExecutionCancelled")


async def test_a_driven_execution_is_released_and_its_call_repeated_by_an_instance_that_can_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, work = Counted(tmp_path, HandWound()), Held()
    async with open_engine(store, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        first = await work.begun()
        await hasten(engine, started.id)
        await first.cancelled.wait()
        await until(engine, started.id, lambda head: head.owner is None and head.commands_done == 0)
        upgrade(monkeypatch)
        look(engine)
        await until_status(engine, started.id, "paused")
        await engine.control.resume(started.id)
        (await work.begun()).returns("well")
        assert await engine.executions.result(started.id) == "well"


async def test_a_log_that_cannot_be_read_is_not_taken_up_again_and_again(tmp_path: Path) -> None:
    clock = HandWound()
    store = Counted(tmp_path, clock)
    async with open_engine(store) as engine:
        await engine.workflows.register(flow(form()))
        started = await engine.executions.start("flow", wait="rest")
        events = encode_events([ExecutionPausing(reason="x")]).replace(b'"t":"', b'"t":"newer_')
        written = await write(store, clock, started.id, events=events, count=1)
        await hasten(engine, started.id, "Wake", b"{}")  # an unread command makes it due
        await until(engine, started.id, lambda head: head.epoch > written and head.owner is None)
        before = len(store.claimed)
        await store.looked(engine)
        assert len(store.claimed) == before


async def test_an_unknown_message_is_left_to_instances_that_know_it(tmp_path: Path) -> None:
    clock = HandWound()
    store = Counted(tmp_path, clock)
    async with open_engine(store) as engine:
        await engine.workflows.register(flow(form()))
        started = await engine.executions.start("flow", wait="rest")
        mail = Message(sender=started.id, n=77, destination=started.id, kind="mail", body=b"{}", due_at=clock.now)
        await write(store, clock, started.id, messages=(mail,))
        engine.instance.outbox_relay.post([mail])
        while (outbox := await store.store.outbox.read_due(YEAR + clock.now, 10)).due[0].due_at == clock.now:
            pass  # it is looked at
        assert [(one.kind, one.due_at > clock.now) for one in outbox.due] == [("mail", True)]
        row = await store.store.queries.find_execution(started.id)
        assert row is not None
        assert row.head.commands_seq == 0
