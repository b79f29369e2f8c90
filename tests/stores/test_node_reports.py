"""What nodes report is stored beside the log: the last progress of each call, and log lines up to a number of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.records import ClosedExecution, Rest
from layover.ports.view_records import LogTrim
from tests.stores.conformance import create, go_on, log_chunk, progress, uid

if TYPE_CHECKING:
    from layover.ports.store import Store

MANY = 10**6


async def test_the_last_progress_of_each_call_is_read(store: Store) -> None:
    await create(store, 1)
    await create(store, 2)
    reports = store.node_reports
    await reports.save_progress([progress("b"), progress("a", at=701), progress("a", of=2)], [])
    await reports.save_progress([progress("a", at=702)], [])
    assert await reports.read_progress([uid(2), uid(1), uid(3)]) == [
        progress("a", at=702),
        progress("b"),
        progress("a", of=2),
    ]
    assert await reports.read_progress([]) == []


async def test_progress_of_a_call_that_has_ended_is_gone_but_not_that_of_a_later_attempt(store: Store) -> None:
    await create(store)
    reports = store.node_reports
    await reports.save_progress([progress("a"), progress("b", attempt=2)], [])
    await reports.save_progress([], [progress("a"), progress("b", attempt=1), progress("nothing")])
    assert await reports.read_progress([uid(1)]) == [progress("b", attempt=2)]


async def test_an_abandoned_call_does_not_overwrite_a_later_attempt(store: Store) -> None:
    await create(store)
    await store.node_reports.save_progress([progress("a", attempt=2)], [])
    await store.node_reports.save_progress([progress("a", attempt=1, at=900)], [])
    assert await store.node_reports.read_progress([uid(1)]) == [progress("a", attempt=2)]


async def test_nothing_is_written_for_an_execution_that_does_not_exist(store: Store) -> None:
    await store.node_reports.save_progress([progress()], [])
    assert await store.node_reports.add_logs([log_chunk()], MANY) == []
    assert await store.node_reports.read_progress([uid(1)]) == []
    assert await store.node_reports.read_logs(uid(1), "", None, 10) == []


async def test_log_lines_are_read_in_their_order_behind_those_that_were_seen(store: Store) -> None:
    await create(store, 1)
    await create(store, 2)
    chunks = [log_chunk(n, node="ab"[n % 2]) for n in (1, 2, 3, 4)]
    reports = store.node_reports
    assert await reports.add_logs([chunks[1], chunks[0], log_chunk(9, of=2)], MANY) == [uid(2), uid(1), uid(9)]
    assert await reports.add_logs(chunks[2:], MANY) == [uid(3), uid(4)]
    assert await reports.read_logs(uid(1), "", None, 10) == chunks
    assert await reports.read_logs(uid(1), uid(2), None, 10) == chunks[2:]
    assert await reports.read_logs(uid(1), "", "a", 10) == [chunks[1], chunks[3]]
    assert await reports.read_logs(uid(1), "", None, 1) == chunks[:1]
    assert await reports.read_logs(uid(1), "", None, -1) == []
    assert await reports.add_logs([], MANY) == []


async def test_an_execution_has_only_so_many_bytes_of_log_lines(store: Store) -> None:
    await create(store, 1)
    await create(store, 2)
    large = [log_chunk(n, body=b"x" * 100) for n in (1, 2, 3)]
    added = [await store.node_reports.add_logs([one], 150) for one in large]
    assert added == [[uid(1)], [uid(2)], []]
    assert await store.node_reports.add_logs([log_chunk(4, of=2)], 150) == [uid(4)]


async def test_chunks_are_removed_and_the_one_after_them_says_how_many_lines_that_were(store: Store) -> None:
    for n in (1, 2):
        await create(store, n)
        await store.node_reports.add_logs([log_chunk(10 * n + one, of=n) for one in (1, 2, 3, 4)], MANY)
    reports = store.node_reports
    trims = [
        LogTrim(execution_id=uid(2), removed=(uid(22),), following=uid(23), dropped=5),
        LogTrim(execution_id=uid(1), removed=(uid(11), uid(12)), following=uid(13), dropped=7),
    ]
    await reports.trim_logs(trims)
    await reports.trim_logs(trims)  # what is gone stays so
    await reports.trim_logs([LogTrim(execution_id=uid(3), removed=(uid(1),), following=uid(2), dropped=1)])
    await reports.trim_logs([])
    first, second = [await reports.read_logs(uid(n), "", None, 10) for n in (1, 2)]
    assert [(one.id, one.dropped) for one in first] == [(uid(13), 7), (uid(14), 0)]
    assert [(one.id, one.dropped) for one in second] == [(uid(21), 1), (uid(23), 5), (uid(24), 0)]


async def test_all_of_it_goes_with_its_execution(store: Store) -> None:
    for n in (1, 2):
        await create(store, n)
        await store.node_reports.add_logs([log_chunk(n, of=n)], MANY)
        await store.node_reports.save_progress([progress(of=n)], [])
    await go_on(store, 1, at=700, status="completed", closed=ClosedExecution(), rest=Rest())
    assert await store.retention.purge([uid(1)]) == 1
    assert await store.node_reports.read_logs(uid(1), "", None, 10) == []
    assert await store.node_reports.read_progress([uid(1), uid(2)]) == [progress(of=2)]
    assert await store.node_reports.read_logs(uid(2), "", None, 10) == [log_chunk(2, of=2)]
