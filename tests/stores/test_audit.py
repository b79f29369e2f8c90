"""What people did is written with the act: never without it, and not for what was refused or only repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules
from layover.ports.access import AuditFilter, WorkflowStatus
from layover.ports.errors import StoreError
from layover.ports.records import Claim, ClosedExecution, Enqueue, Enqueued, Reserved, Rest
from tests.stores.conformance import (
    ME,
    OTHER,
    approval,
    commit,
    create,
    creation,
    entry,
    following,
    go_on,
    head,
    opened,
    signal,
    step,
    uid,
)

if TYPE_CHECKING:
    from layover.ports.records import AuditRow
    from layover.ports.store import Store


async def audited(store: Store, **wanted: object) -> list[AuditRow]:
    return await store.audit.list_entries(replace(AuditFilter(), **wanted))


async def ids(store: Store, **wanted: object) -> list[int]:
    return [int(one.id[:8], 16) for one in await audited(store, **wanted)]


async def do(store: Store, *entries: AuditRow) -> None:
    """Do something for each entry that always passes."""
    for one in entries:
        await store.signals.add(signal(one.id), one)


# Reading


async def test_an_act_that_writes_nothing_else_has_an_entry(store: Store) -> None:
    await store.audit.write(entry(1))
    await store.audit.write(replace(entry(1), target="another"))
    assert await audited(store) == [entry(1)]


async def test_an_entry_is_read_as_it_was_given(store: Store) -> None:
    await do(store, entry(1, of=uid(1)), replace(entry(2), details=b"{}", credential="", request_id="", target=""))
    assert await audited(store) == [
        replace(entry(2), details=b"{}", credential="", request_id="", target=""),
        entry(1, of=uid(1)),
    ]


async def test_entries_are_listed_newest_first_and_by_id_within_a_moment(store: Store) -> None:
    await do(store, entry(3, at=5), entry(1, at=7), entry(2, at=5), entry(4, at=6))
    assert await ids(store) == [1, 4, 3, 2]


async def test_pages_leave_nothing_out_and_show_nothing_twice(store: Store) -> None:
    await do(store, *(entry(n, at=n // 3) for n in range(10)))
    seen: list[AuditRow] = []
    while page := await audited(store, limit=2, after=(seen[-1].at, seen[-1].id) if seen else None):
        assert len(page) == 2
        seen += page
    assert seen == await audited(store)


async def test_no_entries_are_read_for_a_limit_of_none(store: Store) -> None:
    await do(store, entry())
    assert await audited(store, limit=0) == await audited(store, limit=-1) == []


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"user": "ann"}, [4, 2, 1]),
        ({"act": "key.add"}, [4, 3]),
        ({"target": "t3"}, [3]),
        ({"target": uid(1)}, [2, 1]),
        ({"execution_id": uid(1)}, [2, 1]),
        ({"execution_id": uid(2)}, []),
        ({"execution_id": ""}, []),
        ({"execution_id": "no id"}, []),
        ({"user": "ann", "act": "key.add"}, [4]),
        ({"user": "bob", "target": "t4"}, []),
        ({"user": "ann", "execution_id": uid(1), "act": "execution.pause"}, [1]),
        ({"user": "bob", "execution_id": uid(1)}, []),
        ({"execution_id": uid(1), "target": "t4"}, []),
        ({"user": "ann", "after": (12, "z")}, [2, 1]),
        ({"user": "ann", "limit": 1}, [4]),
        ({"execution_id": uid(1), "after": (12, "")}, [1]),
    ],
)
async def test_entries_are_found_by_user_act_and_target(
    store: Store, wanted: dict[str, object], found: list[int]
) -> None:
    await do(
        store,
        entry(1, at=11, of=uid(1)),
        entry(2, at=12, of=uid(1), act="execution.resume"),
        entry(3, at=13, user="bob", act="key.add"),
        entry(4, at=14, act="key.add"),
    )
    assert await ids(store, **wanted) == found


# Forgetting


async def test_acts_on_no_execution_are_sought_by_what_they_were_done_to(store: Store) -> None:
    same = [replace(entry(n, of=of), target="same", at=600 + n) for n, of in ((1, ""), (2, uid(1)), (3, ""))]
    await do(store, *same, entry(4))
    assert await ids(store, to_no_execution=True, target="same") == [3, 1]
    assert await ids(store, to_no_execution=True, target="same", user="ann", act="execution.pause", limit=1) == [3]
    assert await ids(store, to_no_execution=True, target="same", after=(603, entry(3).id)) == [1]
    assert await ids(store, to_no_execution=True, target="same", user="bob") == []
    assert await ids(store, to_no_execution=True) == []


async def test_entries_stay_when_their_execution_is_purged(store: Store) -> None:
    await create(store)
    await go_on(store, status="completed", closed=ClosedExecution(), rest=Rest(), audit=entry(of=uid(1)))
    assert await store.retention.purge([uid(1)]) == 1
    assert await audited(store, execution_id=uid(1)) == [entry(of=uid(1))]


# Appends


async def test_a_start_is_written_with_its_execution_and_once(store: Store) -> None:
    await store.definitions.save("order", "h1", b"{}", 50)
    assert (await commit(store, replace(creation(), audit=entry(1, of=uid(1))))).verdict == "passed"
    assert (await commit(store, replace(creation(), audit=entry(2, of=uid(1))))).verdict == "exists"
    assert await ids(store) == [1]


async def test_an_append_that_does_not_pass_writes_no_entry(store: Store) -> None:
    await create(store)
    await create(store, 2)
    await store.commands.enqueue([Enqueue(execution_id=uid(2), kind="Pause", body=b"{}")], 700)
    outcomes = await store.appends.commit(
        [
            replace(step(1), audit=entry(1)),
            replace(step(2), audit=entry(2)),  # there is a command that it has not seen
            replace(step(3), audit=entry(3)),  # there is none
        ]
    )
    assert [outcome.verdict for outcome in outcomes] == ["passed", "uninformed", "fenced"]
    assert await ids(store) == [1]
    assert (await commit(store, replace(following(await head(store)), owner=OTHER, audit=entry(4)))).verdict == "fenced"
    assert await ids(store) == [1]


async def test_a_commit_that_is_an_error_writes_no_entry(store: Store) -> None:
    await create(store)
    await go_on(store, points=(opened(),))
    with pytest.raises(StoreError):
        await commit(store, replace(following(await head(store)), points=(opened(),), audit=entry()))
    assert await ids(store) == []


async def test_an_append_that_is_decided_again_writes_its_entry_once(store: Store) -> None:
    await create(store)
    await store.commands.enqueue([Enqueue(execution_id=uid(1), kind="Pause", body=b"{}")], 700)
    outcome = await store.appends.commit_informed(
        replace(step(), audit=entry()), lambda _: replace(step(), commands_seen=1, audit=entry())
    )
    assert outcome.verdict == "passed"
    assert await ids(store) == [1]


async def test_one_act_on_several_executions_is_one_entry(store: Store) -> None:
    await create(store)
    await create(store, 2)
    outcomes = await store.appends.commit([replace(step(1), audit=entry()), replace(step(2), audit=entry())])
    assert [outcome.verdict for outcome in outcomes] == ["passed", "passed"]
    assert await audited(store) == [entry()]


async def test_many_entries_are_written_with_one_commit(store: Store) -> None:
    await store.definitions.save("order", "h1", b"{}", 50)
    await create(store, 9)
    news = [replace(creation(n), audit=entry(n, of=uid(n))) for n in (1, 2)]
    await store.appends.commit([*news, creation(3), replace(step(9), audit=entry(9, of=uid(9)))])
    assert await ids(store) == [9, 2, 1]


# Commands


def command(n: int, execution: int = 1, source: str = "") -> Enqueue:
    audit = entry(n, of=uid(execution))
    return Enqueue(execution_id=uid(execution), kind="Pause", body=b"{}", source=source, audit=audit)


async def test_a_command_that_is_taken_writes_its_entry(store: Store) -> None:
    await create(store)
    await store.commands.enqueue([command(1), command(2), replace(command(3), audit=None)], 700)
    assert await ids(store) == [2, 1]


async def test_a_command_that_is_repeated_or_refused_writes_none(store: Store) -> None:
    await create(store)
    await create(store, 2)
    await go_on(store, 2, status="completed", closed=ClosedExecution(), rest=Rest())
    taken = await store.commands.enqueue([command(1, source="k"), command(2, source="k")], 700)
    assert [one.repeated for one in taken if isinstance(one, Enqueued)] == [False, True]
    await store.commands.enqueue([command(3, source="k"), command(4, 2), command(5, 3)], 700)
    assert await ids(store) == [1]


# Answers


async def test_an_answer_writes_its_entry_once(store: Store) -> None:
    await create(store)
    await go_on(store, points=(opened(rules=ApprovalRules(need=2)),))
    assert isinstance(await store.answers.reserve(approval(), "k1", 700, audit=entry(1)), Reserved)
    again = await store.answers.reserve(approval(), "k1", 700, audit=entry(2))
    same = await store.answers.reserve(approval(), "k2", 700, audit=entry(3))
    assert isinstance(again, Reserved)
    assert isinstance(same, Reserved)
    assert (again.repeated, same.repeated) == (True, True)
    assert await ids(store) == [1]


async def test_an_answer_that_is_refused_writes_none(store: Store) -> None:
    await create(store)
    await go_on(store, points=(opened(),))
    await store.answers.reserve(approval(), "k1", 700, audit=entry(1))
    assert not isinstance(await store.answers.reserve(approval(by="bob"), "k2", 700, audit=entry(2)), Reserved)
    assert not isinstance(await store.answers.reserve(approval("q"), "k3", 700, audit=entry(3)), Reserved)
    assert await ids(store) == [1]


async def test_an_answer_that_claims_writes_its_entry(store: Store) -> None:
    await create(store)
    await go_on(store, points=(opened(),), rest=Rest())
    wish = Claim(instance=ME, now=700, lease_until=9_000)
    taken = await store.answers.reserve(approval(), "k1", 700, wish, entry(1))
    assert isinstance(taken, Reserved)
    assert taken.claimed is not None
    assert await ids(store) == [1]


# Signals, versions and workflow_statuses


async def test_a_signal_writes_its_entry_unless_it_was_known(store: Store) -> None:
    assert await store.signals.add(signal(), entry(1))
    assert not await store.signals.add(signal(), entry(2))
    assert await ids(store) == [1]


async def test_a_version_writes_its_entry_unless_it_is_the_newest(store: Store) -> None:
    await store.definitions.save("order", "h1", b"{}", 50, entry(1))
    await store.definitions.save("order", "h1", b"{}", 60, entry(2))
    await store.definitions.save("order", "h2", b"[]", 70, entry(3))
    await store.definitions.save("order", "h1", b"{}", 80, entry(4))
    assert await ids(store) == [4, 3, 1]


async def test_a_workflow_status_writes_its_entry(store: Store) -> None:
    inactive = WorkflowStatus(workflow="order", state="inactive", changed_at=5)
    await store.workflow_status.set_status(inactive, entry(1))
    await store.workflow_status.set_status(inactive)
    await store.workflow_status.set_status(
        replace(inactive, workflow="refund"), entry(1)
    )  # another part of the same act
    assert await ids(store) == [1]
