"""Sources are polled, and each item starts one execution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover import Batch, InvalidDefinition, InvalidInput, Item, NotAllowed, Workflow, WrongState, source
from layover.core.ids import trigger_id
from layover.core.payloads import MAX_INLINE
from layover.ports.commit_points import CommitPoint
from layover.ports.trigger_records import InputRow, NewEvent, Reception, TriggerMove
from layover.runtime.triggers.batches import MOST_BYTES, MOST_ITEMS

if TYPE_CHECKING:
    from layover.testing import Layover

NODES = [{"id": "a", "type": "compute", "output": "${input}"}]


def flow(**fields: Any) -> dict[str, Any]:
    return {
        "name": "post",
        "nodes": NODES,
        "triggers": [{"name": "mail", "type": "poll", "source": "mailbox", "every": "1m", **fields}],
    }


async def inputs(layover: Layover) -> list[object]:
    ids = [one.id async for one in layover.executions(workflow="post")]
    return sorted([(await layover.execution(id_)).info.input for id_ in ids], key=str)


async def test_each_item_starts_one_execution(layover: Layover) -> None:
    mailbox = layover.source("mailbox")
    mailbox.push({"n": 1}, {"n": 2})
    await layover.register(flow())
    await layover.settle()
    assert await inputs(layover) == [{"n": 1}, {"n": 2}]
    mailbox.push({"n": 3})
    await layover.skip("3m")
    assert await inputs(layover) == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert mailbox.polls == [None, "2", "3", "3"]
    assert mailbox.acknowledged == ["2", "3"]
    trigger = await layover.trigger("post/mail")
    assert (trigger.state, trigger.cursor, str(trigger.next_at)) == ("active", "3", "2026-01-01T00:04:00.000Z")


async def test_an_execution_knows_the_item(layover: Layover) -> None:
    layover.source("mailbox").push({"n": 1}, id="m-17")
    await layover.register(flow(tags=["${trigger.id}"]))
    await layover.settle()
    (one,) = [one async for one in layover.executions(workflow="post")]
    info = (await layover.execution(one.id)).info
    assert (info.user, info.tags, info.trigger["id"]) == ("trigger:post/mail", ("m-17",), "m-17")


async def test_idle_polls_write_no_events(layover: Layover) -> None:
    layover.source("mailbox")
    await layover.register(flow())
    await layover.skip("1h")
    trigger = await layover.trigger("post/mail")
    assert [event.type async for event in trigger.history()] == ["TriggerRegistered"]


async def test_what_happened_is_in_the_log(layover: Layover) -> None:
    layover.source("mailbox").push("x", "y")
    await layover.register(flow())
    await layover.settle()
    events = [one async for one in (await layover.trigger("post/mail")).history()]
    kinds = ["TriggerRegistered", "TriggerInputReceived", "TriggerInputReceived", "TriggerCursorAdvanced"]
    assert [one.type for one in events] == kinds
    assert events[-1].data == {"cursor": "2", "processed_count": 2}


async def test_more_is_polled_at_once(layover: Layover) -> None:
    mailbox = layover.source("mailbox")
    mailbox.push(*range(2_500))
    await layover.register({**flow(max_pending=5_000), "nodes": [{"id": "a", "type": "end"}]})
    await layover.settle()
    assert mailbox.polls == [None, "1000", "2000"]
    trigger = await layover.trigger("post/mail")
    assert trigger.cursor == "2500"


async def test_a_filter_and_an_id_of_its_own(layover: Layover) -> None:
    mailbox = layover.source("mailbox")
    mailbox.push({"n": 1, "k": "a"}, {"n": 2, "k": "b"}, {"n": 3, "k": "b"})
    await layover.register(flow(filter="trigger.data.n > 1", id="${trigger.data.k}"))
    await layover.settle()
    assert await inputs(layover) == [{"n": 2, "k": "b"}]
    assert (await layover.trigger("post/mail")).cursor == "3"


async def test_a_source_that_fails_advances_nothing_and_heals(layover: Layover) -> None:
    mailbox = layover.source("mailbox")
    mailbox.push(1)
    mailbox.raises = OSError("no route")
    await layover.register(flow())
    await layover.settle()
    trigger = await layover.trigger("post/mail")
    assert (trigger.state, trigger.failures, trigger.cursor) == ("active", 1, None)
    assert trigger.reason == "OSError: no route"
    assert "OSError: no route" in (await trigger.why()).reasons[-1].text
    await layover.skip("1s")
    assert (await trigger.refresh()).failures == 2
    await layover.skip("2h")
    await trigger.refresh()
    assert (trigger.state, trigger.cursor) == ("error", None)
    tries = len(mailbox.polls)
    await layover.skip("5m")
    assert len(mailbox.polls) == tries + 1  # it is still tried, at the longest pause
    mailbox.raises = None
    await layover.skip("5m")
    await trigger.refresh()
    assert (trigger.state, trigger.reason, trigger.failures, trigger.cursor) == ("active", "", 0, "1")
    assert await inputs(layover) == [1]


async def test_ten_failures_in_a_row_are_an_error(layover: Layover) -> None:
    mailbox = layover.source("mailbox")
    mailbox.raises = OSError("no route")
    await layover.register(flow())
    trigger = await layover.trigger("post/mail")
    for failures in range(1, 10):
        await layover.settle()
        await trigger.refresh()
        assert (trigger.state, trigger.failures) == ("active", failures)
        await layover.step()
    await trigger.refresh()
    assert (trigger.state, trigger.failures) == ("error", 10)


def returning(value: object) -> Any:
    async def mailbox(cursor: str | None) -> Any:  # noqa: ARG001 - as sources are called
        return value

    return source(mailbox)


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (Batch([Item(str(n), n) for n in range(MOST_ITEMS + 1)]), "more than 1,000 items"),
        (Batch([Item(str(n), "x" * 900_000) for n in range(MOST_BYTES // 900_000 + 1)]), "more than 4,000,000 bytes"),
        (Batch([], cursor="x" * 16_001), "16,001 bytes"),
        (Batch([], cursor=17), "a cursor that is int"),  # type: ignore[arg-type]  # Python lets it
        (Batch([Item("", 1)]), "the id ''"),
        (Batch([Item("x" * 256, 1)]), "of 1 to 255 characters"),
        (Batch([Item("a\0b", 1)]), "the id 'a\\x00b'"),
        (Batch([Item("a", object())]), "the item `a`"),
        (Batch([Item("a", {"$secret": "KEY"})]), "reserved"),
        (Batch(["a"]), "returned str in a Batch"),  # type: ignore[list-item]  # the same
        (Batch(17), "whose items are no list"),  # type: ignore[arg-type]  # the same
        ([Item("a", 1)], "has to return a Batch"),
    ],
)
async def test_a_batch_that_does_not_fit_is_a_failure(layover: Layover, returned: object, reason: str) -> None:
    layover.nodes(returning(returned))
    await layover.register(flow())
    await layover.settle()
    trigger = await layover.trigger("post/mail")
    assert reason in trigger.reason
    assert (trigger.failures, trigger.cursor, await trigger.inputs().all()) == (1, None, [])


async def test_the_largest_batch_fits(layover: Layover) -> None:
    items = [Item(str(n), "x") for n in range(MOST_ITEMS)]
    layover.nodes(returning(Batch(items, cursor="x" * 16_000)))
    await layover.register({**flow(), "nodes": [{"id": "a", "type": "end"}]})
    await layover.settle()
    assert (await layover.trigger("post/mail")).cursor == "x" * 16_000


async def test_items_that_come_again_start_nothing(layover: Layover) -> None:
    batches = iter([["a", "b"], ["b", "a", "a", "c"], ["c"]])

    @source
    def mailbox(cursor: str | None) -> Batch:  # noqa: ARG001 - it does not need any
        return Batch([Item(one, one) for one in next(batches, [])])

    layover.nodes(mailbox)
    await layover.register(flow())
    await layover.skip("5m")
    assert await inputs(layover) == ["a", "b", "c"]
    received = [one async for one in (await layover.trigger("post/mail")).history() if "Received" in one.type]
    assert len(received) == 3  # nothing is written of what is known


async def test_polling_rests_while_the_trigger_is_paused(layover: Layover) -> None:
    mailbox = layover.source("mailbox")
    await layover.register(flow())
    trigger = await layover.trigger("post/mail")
    await trigger.pause()
    before = len(mailbox.polls)
    mailbox.push(1)
    await layover.skip("1h")
    assert len(mailbox.polls) == before
    await trigger.resume()
    assert await inputs(layover) == [1]


async def test_polling_rests_while_the_workflow_is_paused(layover: Layover) -> None:
    mailbox = layover.source("mailbox")
    await layover.register(flow())
    await layover.settle()
    workflow = await layover.workflow("post")
    await workflow.pause()
    before = len(mailbox.polls)
    mailbox.push(1)
    await layover.skip("1h")
    assert len(mailbox.polls) == before
    await workflow.resume()
    await layover.skip("1m")
    assert await inputs(layover) == [1]


async def test_a_full_backlog_stops_polling(layover: Layover) -> None:
    mailbox = layover.source("mailbox")
    await layover.register(flow(max_pending=2))
    await layover.settle()
    trigger = await layover.trigger("post/mail")
    await _keep_pending(layover, "a", "b")
    mailbox.push(7)
    before = len(mailbox.polls)
    await layover.skip("1h")
    assert len(mailbox.polls) == before
    assert "backlog" in [one.kind for one in (await trigger.why()).reasons]
    await trigger.discard("a")
    await layover.skip("5s")
    assert await inputs(layover) == [7]


async def _keep_pending(layover: Layover, *ids: str) -> None:
    """Leave inputs that do not start, as if no instance had come to them."""
    store = (await layover._world.engines.alive()).instance.store  # noqa: SLF001 - what only a busy engine leads to
    row = await store.triggers.find(trigger_id("post", "mail"))
    assert row is not None
    kept = [InputRow(trigger_id=row.id, input_id=id_, received_at=0, forget_at=0) for id_ in ids]
    move = TriggerMove(
        trigger_id=row.id,
        expected_seq=row.seq,
        at=0,
        state="active",
        next_at=row.next_at,
        cursor=row.cursor,
        events=tuple(NewEvent(kind="TriggerInputReceived", body=b"{}", input=one) for one in kept),
    )
    assert await store.triggers.move(move)


async def test_a_missing_source_is_said_and_found(layover: Layover) -> None:
    await layover.register(flow())
    await layover.settle()
    trigger = await layover.trigger("post/mail")
    assert (trigger.state, trigger.reason) == ("initialized", "No instance has the source `mailbox`.")
    assert (await trigger.why()).summary == "No instance has the source `mailbox`."
    layover.source("mailbox").push(1)
    await layover.skip("10s")
    assert (await trigger.refresh()).state == "active"
    assert await inputs(layover) == [1]


async def test_an_unknown_source_is_refused_at_registration(layover: Layover) -> None:
    layover.source("mailbox")
    with pytest.raises(InvalidDefinition) as refused:
        await layover.register(flow(source="mailbx"), allow_unknown=False)
    (problem,) = refused.value.problems
    assert (problem.code, problem.suggestion) == ("unknown_source", "mailbox")
    await layover.register(flow(), allow_unknown=False)


async def test_a_python_workflow_brings_its_source(layover: Layover) -> None:
    @source
    def numbers(cursor: str | None, step: int) -> Batch:
        n = int(cursor or 0) + step
        return Batch([Item(str(n), n)], cursor=str(n))

    built = Workflow("post")
    built.compute("a", "${input}")
    built.on_poll("mail", numbers, with_={"step": 2}, every="1m")
    await layover.register(built, allow_unknown=False)
    await layover.skip("2m")
    assert await inputs(layover) == [2, 4, 6]


async def test_a_rewound_poll_goes_on_from_a_cursor(layover: Layover) -> None:
    mailbox = layover.source("mailbox")
    mailbox.push(1, 2, 3)
    await layover.register(flow())
    await layover.settle()
    trigger = await layover.trigger("post/mail")
    await trigger.rewind("1")
    await trigger.rewind(None)
    assert mailbox.polls == [None, "1", None]
    assert await inputs(layover) == [1, 2, 3]  # they are known by their ids
    with pytest.raises(InvalidInput):
        await trigger.rewind("x" * 16_001)


async def test_only_polls_are_rewound(layover: Layover) -> None:
    often = {"name": "often", "type": "schedule", "every": "1h"}
    await layover.register({"name": "tick", "nodes": NODES, "triggers": [often]})
    with pytest.raises(WrongState) as refused:
        await (await layover.trigger("tick/often")).rewind("1")
    assert refused.value.code == "not_a_poll"


async def test_the_cursor_outlives_changes_and_removal(layover: Layover) -> None:
    mailbox = layover.source("mailbox")
    mailbox.push(1)
    await layover.register(flow())
    await layover.settle()
    await layover.register(flow(every="5m"))
    await layover.settle()
    assert mailbox.polls == [None, "1"]
    await layover.register({"name": "post", "nodes": NODES})
    await layover.register(flow())
    await layover.settle()
    assert mailbox.polls == [None, "1", "1"]


async def test_a_crash_at_any_point_loses_and_repeats_nothing(layover: Layover) -> None:
    mailbox = layover.source("mailbox")
    await layover.register(flow())
    points = (
        CommitPoint.POLL_LEASED,
        CommitPoint.CURSOR_ADVANCED,
        CommitPoint.INPUT_KEPT,
        CommitPoint.INPUT_STARTED,
    )
    for n, point in enumerate(points):
        mailbox.push(n)
        layover.crash_at(point)
        await layover.skip("1m")
        await layover.skip("2s")
    assert layover.crashes == 4
    assert await inputs(layover) == [0, 1, 2, 3]
    assert mailbox.acknowledged[-1] == "4"  # also what was not acknowledged when the engine died


async def test_an_acknowledgement_that_fails_is_made_up_for_before_the_next_poll(layover: Layover) -> None:
    done: list[str] = []
    broken = [OSError("no route"), OSError("no route")]

    @source
    def mailbox(cursor: str | None) -> Batch:
        done.append(f"asked {cursor}")
        return Batch() if cursor else Batch([Item("a", 1)], cursor="1")

    @mailbox.acknowledge
    def note(cursor: str) -> None:
        if broken:
            raise broken.pop()
        done.append(f"noted {cursor}")

    layover.nodes(mailbox)
    await layover.register(flow())
    await layover.settle()
    assert await inputs(layover) == [1]
    await layover.skip("1m")
    trigger = await layover.trigger("post/mail")
    assert (trigger.failures, trigger.reason) == (1, "OSError: no route")
    await layover.skip("2m")
    assert done == ["asked None", "noted 1", "asked 1", "asked 1"]
    assert await inputs(layover) == [1]


async def test_a_trigger_fired_during_a_poll_is_polled_again(layover: Layover) -> None:
    asked: list[str | None] = []

    @source
    async def mailbox(cursor: str | None) -> Batch:
        asked.append(cursor)
        if len(asked) == 1:  # somebody fires it meanwhile
            store = (await layover._world.engines.alive()).instance.store  # noqa: SLF001 - the source acts as another user
            row = await store.triggers.find(trigger_id("post", "mail"))
            assert row is not None
            one = InputRow(trigger_id=row.id, input_id="fired", received_at=0, due_at=0, forget_at=0)
            event = NewEvent(kind="TriggerInputReceived", body=b'{"input_id":"fired","data":0}')
            await store.triggers.receive(Reception(input=one, event=event, most_pending=10))
        return Batch([Item("a", 1)], cursor="1")

    layover.nodes(mailbox)
    await layover.register(flow())
    await layover.settle()
    assert asked == [None, None]
    assert await inputs(layover) == [0, 1]


async def test_one_long_execution_consumes_a_source(layover: Layover) -> None:
    mailbox = layover.source("mailbox")
    mailbox.push({"n": 1}, {"n": 2})
    waiting = [
        {"id": "first", "type": "wait_signal", "signal": "mail", "lookback": "1h", "next": "second"},
        {"id": "second", "type": "wait_signal", "signal": "mail", "lookback": "1h", "next": "out"},
        {"id": "out", "type": "end", "output": ["${nodes.first.data.n}", "${nodes.second.data.n}"]},
    ]
    await layover.register({**flow(deliver={"signal": "mail"}), "nodes": waiting})
    await layover.settle()
    execution = await layover.start("post")
    assert (execution.status, sorted(execution.output)) == ("completed", [1, 2])
    trigger = await layover.trigger("post/mail")
    assert [one.state async for one in trigger.inputs()] == ["delivered", "delivered"]


async def test_a_rewind_needs_the_right_to_write_and_is_audited(layover: Layover) -> None:
    layover.source("mailbox")
    await layover.register(flow())
    await layover.settle()
    with pytest.raises(NotAllowed):
        await (await layover.as_user("vera", ["viewer"]).trigger("post/mail")).rewind("1")
    await (await layover.as_user("ada", ["admin"]).trigger("post/mail")).rewind("1")
    entries = [one async for one in layover.audit() if one.act == "trigger.rewind"]
    assert [(one.user, one.details.get("cursor")) for one in entries] == [("ada", "1")]


async def test_the_largest_item_that_is_taken_can_be_started(layover: Layover) -> None:
    layover.source("mailbox").push("x" * (MAX_INLINE - 2))
    await layover.register({**flow(input="large"), "nodes": [{"id": "a", "type": "end"}]})
    await layover.settle()
    assert await inputs(layover) == ["large"]
