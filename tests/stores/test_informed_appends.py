"""A writer that is refused time and again for commands can have the last word: it decides where no more can come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from tests.stores.conformance import create, enqueue, following, head, step, truth

if TYPE_CHECKING:
    from layover.ports.records import Append, QueuedCommand
    from layover.ports.store import Store


def _never(_commands: tuple[QueuedCommand, ...]) -> Append:
    raise AssertionError("there was nothing to decide again")


async def test_an_append_that_has_seen_all_commands_is_not_decided_again(store: Store) -> None:
    made = await create(store)
    assert (await store.appends.commit_informed(following(made), _never)).verdict == "passed"
    assert (await head(store)).last_seq == made.last_seq + 1


async def test_an_append_is_decided_again_with_exactly_the_commands_it_had_not_seen(store: Store) -> None:
    made = await create(store)
    await enqueue(store, source="seen")
    await enqueue(store, source="unseen")
    told: list[int] = []

    def decide(commands: tuple[QueuedCommand, ...]) -> Append:
        told.extend(command.n for command in commands)
        return following(made, commands_seen=commands[-1].n, status="paused")

    outcome = await store.appends.commit_informed(following(made, commands_seen=1), decide)
    assert outcome.verdict == "passed"
    assert told == [2]
    now = await head(store)
    assert (now.status, now.last_seq, now.commands_done) == ("paused", made.last_seq + 1, 2)


async def test_a_fenced_writer_is_not_asked_and_writes_nothing(store: Store) -> None:
    await create(store)
    await enqueue(store)
    before = await truth(store)
    assert (await store.appends.commit_informed(replace(step(), epoch=7), _never)).verdict == "fenced"
    assert await truth(store) == before
