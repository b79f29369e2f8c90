"""What a store is asked over a line that breaks, and how to see what became of it.

Each is done to executions of its own, which `n` leads to, and asks the same number of bytes for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from layover.ports.access import AuditFilter
from layover.ports.records import Claim, Enqueue, Enqueued, LeaseRow, Reserved, Rest
from tests.stores.conformance import ME, OTHER, approval, claim, creation, entry, head, ids, message, opened, step, uid

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.ports.records import Append, AuditRow, QueuedCommand
    from layover.ports.store import Store


class InterruptedOperation(NamedTuple):
    """How something is prepared and done, whether it is done (entirely), and what asking for it again comes to."""

    prepare: Callable[[Store, int], Awaitable[object]]
    do: Callable[[Store, int], Awaitable[object]]
    is_done: Callable[[Store, int], Awaitable[bool]]
    repeat: Callable[[Store, int, bool], Awaitable[None]]
    writes_last: bool = True  # else something is read after it was done


def _entry(n: int) -> AuditRow:
    """Return an entry about an execution that is as long as any other."""
    return replace(entry(n, of=uid(n)), request_id="")


async def _is_audited(store: Store, n: int) -> bool:
    found = await store.audit.list_entries(AuditFilter(execution_id=uid(n)))
    assert found in ([], [_entry(n)])
    return bool(found)


def group(n: int) -> list[Append]:
    """Return one that begins, one that moves, and one that comes to rest."""
    return [
        creation(10 * n),
        replace(step(10 * n + 1), points=(opened(f"p{n:06}"),), audit=_entry(10 * n + 1)),
        replace(step(10 * n + 2), rest=Rest(wake_at=800), messages=(message(sender=10 * n + 2),)),
    ]


async def prepare_group(store: Store, n: int) -> None:
    await store.appends.commit([creation(10 * n + 1), creation(10 * n + 2)])


async def group_is_done(store: Store, n: int) -> bool:
    begun, moved, rested = await store.queries.load([uid(10 * n + place) for place in range(3)])
    assert moved is not None
    assert rested is not None
    logs = [[one.count for one in loaded.entries] for loaded in (moved, rested)]
    facts = (
        begun is not None and [one.count for one in begun.entries] == [2],
        logs == [[2, 1], [2, 1]],
        (moved.head.last_seq, moved.head.owner) == (2, ME) and await store.queries.find_point(f"p{n:06}") is not None,
        (rested.head.last_seq, rested.head.owner, rested.head.wake_at) == (2, None, 800),
        len(await store.outbox.list_undelivered(uid(10 * n + 2))) == 1,
        await _is_audited(store, 10 * n + 1),
    )
    assert len(set(facts)) == 1, facts
    assert facts[0] or (begun is None and logs == [[2], [2]] and await store.queries.find_point(f"p{n:06}") is None)
    return facts[0]


async def repeat_group(store: Store, n: int, done: bool) -> None:
    verdicts = [outcome.verdict for outcome in await store.appends.commit(group(n))]
    assert verdicts == (["exists", "fenced", "fenced"] if done else ["passed"] * 3)


def informed(n: int) -> Callable[[tuple[QueuedCommand, ...]], Append]:
    def decide(commands: tuple[QueuedCommand, ...]) -> Append:
        return replace(step(n), commands_seen=commands[-1].n)

    return decide


async def prepare_informed(store: Store, n: int) -> None:
    await store.appends.commit([creation(n)])
    await store.commands.enqueue([_command(n)], 700)


async def informed_is_done(store: Store, n: int) -> bool:
    (loaded,) = await store.queries.load([uid(n)])
    assert loaded is not None
    found = (loaded.head.last_seq, loaded.head.commands_done, [one.count for one in loaded.entries])
    assert found in ((1, 0, [2]), (2, 1, [2, 1]))
    return found[0] == 2


async def _repeat_informed(store: Store, n: int, done: bool) -> None:
    outcome = await store.appends.commit_informed(step(n), informed(n))
    assert outcome.verdict == ("fenced" if done else "passed")


def _command(n: int) -> Enqueue:
    return Enqueue(execution_id=uid(n), kind="Pause", body=b"{}", source=f"s{n:06}", source_n=1)


async def _command_is_there(store: Store, n: int) -> bool:
    found = await head(store, n), await store.commands.list_after(uid(n), 0)
    assert found[0].commands_seq == len(found[1]) <= 1
    return bool(found[1])


async def _repeat_command(store: Store, n: int, done: bool) -> None:
    assert await store.commands.enqueue([_command(n)], 700) == [Enqueued(n=1, owner=ME, repeated=done)]


def _audited_command(n: int) -> Enqueue:
    return replace(_command(n), audit=_entry(n))


async def _audited_command_is_there(store: Store, n: int) -> bool:
    found = await _command_is_there(store, n)
    assert await _is_audited(store, n) == found
    return found


async def _repeat_audited_command(store: Store, n: int, done: bool) -> None:
    assert await store.commands.enqueue([_audited_command(n)], 700) == [Enqueued(n=1, owner=ME, repeated=done)]
    assert await _is_audited(store, n)


async def _prepare_answer(store: Store, n: int) -> None:
    await store.appends.commit([replace(creation(n, rest=Rest()), points=(opened(f"p{n:06}"),))])


async def _answer(store: Store, n: int) -> object:
    wish = Claim(instance=ME, now=700, lease_until=9_000)
    return await store.answers.reserve(approval(f"p{n:06}"), f"s{n:06}", 700, wish)


async def _is_answered(store: Store, n: int) -> bool:
    row, now, commands = (
        await store.queries.find_point(f"p{n:06}"),
        await head(store, n),
        await store.commands.list_after(uid(n), 0),
    )
    assert row is not None
    found = (row.status, len(commands), now.commands_seq, now.owner, now.epoch)
    assert found in (("open", 0, 0, None, 1), ("answered", 1, 1, ME, 2))
    return bool(commands)


async def _repeat_answer(store: Store, n: int, done: bool) -> None:
    given = await _answer(store, n)
    assert isinstance(given, Reserved)
    assert (given.n, given.repeated, given.claimed is None) == (1, done, done)


async def _answer_audited(store: Store, n: int) -> object:
    return await store.answers.reserve(approval(f"p{n:06}"), f"s{n:06}", 700, audit=_entry(n))


async def _is_answered_audited(store: Store, n: int) -> bool:
    commands = await store.commands.list_after(uid(n), 0)
    assert await _is_audited(store, n) == bool(commands)
    return bool(commands)


async def _repeat_audited_answer(store: Store, n: int, done: bool) -> None:
    given = await _answer_audited(store, n)
    assert isinstance(given, Reserved)
    assert (given.n, given.repeated) == (1, done)
    assert await _is_audited(store, n)


async def _prepare_claim(store: Store, n: int) -> None:
    await store.appends.commit([creation(n, rest=Rest())])
    await store.commands.enqueue([_command(n)], 5)  # which wakes it


async def _claim(store: Store, _n: int) -> object:
    return await claim(store, 10, lease_until=5_000)


async def _is_claimed(store: Store, n: int) -> bool:
    now = await head(store, n)
    assert (now.owner, now.epoch, now.wake_at) in ((None, 1, 5), (ME, 2, 5_000))
    return now.owner is not None


async def _repeat_claim(store: Store, n: int, done: bool) -> None:
    """Nobody knows who was claimed by a lost reply: it comes due with its lease, for anybody."""
    assert ids(await claim(store, 10, lease_until=5_000)) == ([] if done else [uid(n)])
    assert ids(await claim(store, 4_999, instance=OTHER)) == []
    found = await claim(store, 5_000, instance=OTHER, lease_until=10**9)
    assert uid(n) in ids(found)
    assert all(one.taken_over and [command.n for command in one.commands] == [1] for one in found.claimed)


async def _begin(store: Store, n: int) -> None:
    await store.appends.commit([creation(n)])


async def _renew(store: Store, n: int) -> object:
    return await store.claims.renew(ME, [LeaseRow(execution_id=uid(n), epoch=1)], 7_000)


async def _is_renewed(store: Store, n: int) -> bool:
    now = await head(store, n)
    assert (now.owner, now.wake_at) in ((ME, 5_000), (ME, 7_000))
    return now.wake_at == 7_000


async def _repeat_renewal(store: Store, n: int, _done: bool) -> None:
    assert await _renew(store, n) == []


async def _release(store: Store, n: int) -> None:
    await store.claims.release(ME, [LeaseRow(execution_id=uid(n), epoch=1)], 6_000)


async def _is_released(store: Store, n: int) -> bool:
    now = await head(store, n)
    assert (now.owner, now.wake_at) in ((ME, 5_000), (None, 6_000))
    return now.owner is None


async def _repeat_release(store: Store, n: int, _done: bool) -> None:
    await _release(store, n)


DEEDS = {
    "commit": InterruptedOperation(
        prepare_group, lambda store, n: store.appends.commit(group(n)), group_is_done, repeat_group
    ),
    "commit_informed": InterruptedOperation(
        prepare_informed,
        lambda store, n: store.appends.commit_informed(step(n), informed(n)),
        informed_is_done,
        _repeat_informed,
    ),
    "enqueue": InterruptedOperation(
        _begin, lambda store, n: store.commands.enqueue([_command(n)], 700), _command_is_there, _repeat_command
    ),
    "answer": InterruptedOperation(_prepare_answer, _answer, _is_answered, _repeat_answer),
    "enqueue audited": InterruptedOperation(
        _begin,
        lambda store, n: store.commands.enqueue([_audited_command(n)], 700),
        _audited_command_is_there,
        _repeat_audited_command,
    ),
    "answer audited": InterruptedOperation(
        _prepare_answer, _answer_audited, _is_answered_audited, _repeat_audited_answer
    ),
    "renew": InterruptedOperation(_begin, _renew, _is_renewed, _repeat_renewal),
    "release": InterruptedOperation(_begin, _release, _is_released, _repeat_release),
}
CLAIM = InterruptedOperation(_prepare_claim, _claim, _is_claimed, _repeat_claim, writes_last=False)
