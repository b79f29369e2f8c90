"""Random operations on a store, valid and not, on so few ids that they meet.

An operation is drawn from what is known of the state, so that it often fits; then, now and then, one of its beliefs is
spoilt. Each comes with a name, and `kind_of` says in one word how it went.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules
from layover.core.conditions import parse_condition
from layover.core.engine.answers import Refused
from layover.core.engine.commands import Answer, AskBack, ClaimPoint, PointAct, ReleaseClaim, ReplyBack
from layover.core.engine.state import ExecutionStatus, Point
from layover.ports.limit_records import Admission
from layover.ports.records import (
    CLOSED,
    Append,
    ChangedPoint,
    Claim,
    Claims,
    ClosedExecution,
    ClosedPoint,
    Enqueue,
    Enqueued,
    Entry,
    LeaseRow,
    NewExecution,
    OpenedPoint,
    Outbox,
    Outcome,
    Reserved,
    Rest,
)
from layover.ports.view_records import ExecutionFilter, PausedFilter, PointFilter
from tests.stores.accesses import Accesses
from tests.stores.conformance import WORKFLOWS, following, step
from tests.stores.exchanges import EXECUTIONS, HASHES_OF_TOKENS, INSTANCES, KEYS, NAMES

if TYPE_CHECKING:
    import random
    from collections.abc import Awaitable, Callable

    from layover.core.engine.events import PointKind
    from layover.ports.access import Key
    from layover.ports.records import Message, PointChange, PointRow, QueuedCommand, Signal, Version
    from layover.ports.store import Store
    from layover.ports.view_records import ExecutionRow

State: TypeAlias = "dict[str, object]"

# So few members that they meet; some cannot be kept, and some cannot be looked for.
INPUTS = (
    b'{"a":1,"b":["x"]}',
    b'{"a":1.0,"b":["y","x"]}',
    b'{"a":{"b":true}}',
    b'{"a":"\\u0000","b":["x"]}',
    b"7",
    None,
)
WHERES = (b'{"a":1}', b'{"b":["x"]}', b'{"a":{}}', b'{"a":true}', b'{"a":1,"b":["y"]}', b'{"b":"\\u0000"}', b"{}")
CONDITIONS = [
    parse_condition(f"input.{text}")
    for text in ("a=1", "a!=1", "a>=1.0", "a<1", "a.b=true", "a.b!=true", "b~x", "b.0=y", "b.0>=x", "c!=null")
] + [parse_condition("vars.a=1")]
POINTS = [f"p{n}" for n in range(12)]
PEOPLE = ("ann", "bob", "eve", "zoe")
LOCKS = ("sweep", "purge")
HASHES = ("h1", "h2", "h3")
QUORUM = ApprovalRules(users=("ann", "bob", "eve"), need=2, reject_need=2)
SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
OPEN: tuple[ExecutionStatus, ...] = ("pending", "running", "pausing", "waiting", "paused")
ENDED: tuple[ExecutionStatus, ...] = ("completed", "failed", "cancelled")
KINDS: tuple[PointKind, ...] = ("approval", "approval", "approval", "form", "timer")


class Operation(NamedTuple):
    """Something to ask of any store."""

    name: str
    call: Callable[[Store], Awaitable[object]]


class Operations(Accesses):
    """A stream of operations that belong to one seed."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__(dice)
        self._points: list[PointRow] = []
        self._versions: list[Version] = []
        self._draws: dict[str, Callable[[], Callable[[Store], Awaitable[object]]]] = {
            name.removeprefix("draw_"): getattr(self, name) for name in dir(self) if name.startswith("draw_")
        }
        self._names = [
            *self._draws,
            *["commit"] * 10,
            *["commit_informed"] * 2,
            *["claim"] * 3,
            *["answer"] * 8,
            *["talk"] * 8,
            *["enqueue"] * 2,
            *["admit"] * 4,
            *["free"] * 2,
            *["admission"] * 2,
            *["keep_signal"] * 3,
            *["dispatched"] * 2,
            *["purge"] * 2,
            *["save_version"],
        ]

    def draw(self, state: State) -> Operation:
        """Draw the next operation, given what is known of the state."""
        self._now += self._dice.randrange(2)
        rows = cast("list[ExecutionRow]", state["executions"])
        self._heads = {row.head.execution_id: row.head for row in rows}
        self._points = cast("list[PointRow]", state["points"])
        self._messages = [one for sent in cast("list[list[Message]]", state["messages"]) for one in sent]
        self._signals = [one for found in cast("list[list[Signal]]", state["signals"]) for one in found]
        tokens = zip(HASHES_OF_TOKENS, cast("list[object]", state["tokens"]), strict=True)
        self._tokens_known = [hash_ for hash_, wait in tokens if wait is not None]
        admissions = zip(self._heads, cast("list[object]", state["admissions"]), strict=True)
        self._admissions = [execution_id for execution_id, admission in admissions if admission is not None]
        self._versions = cast("list[Version]", state["latest"])
        self._keys_known = cast("list[Key]", state["keys"])
        name = self._dice.choice(self._names if self._versions or self._chance(20) else ["save_version"])
        return Operation(name, self._draws[name]())

    def kinds(self, name: str, answer: object, before: State, after: State) -> set[str]:
        """Return how an operation went."""
        return kinds_of(name, answer, changed=after != before)

    # The run plane

    def draw_commit(self) -> Callable[[Store], Awaitable[object]]:
        ids = self._dice.sample(EXECUTIONS, self._dice.randrange(1, 4))
        if self._chance(4):
            ids.append(ids[0])
        if self._chance(3):
            ids.append("no-uuid")
        appends = [self._append(execution_id) for execution_id in ids]
        return lambda store: store.appends.commit(appends)

    def draw_commit_informed(self) -> Callable[[Store], Awaitable[object]]:
        """Draw an append that moves something; what a creation can meet, `commit` meets often enough."""
        execution_id = self._id()
        head = self._heads.get(execution_id)
        append = following(head) if head is not None else replace(step(), execution_id=execution_id)
        spoilt = self._spoilt(append) if self._chance(25) else {}
        append = replace(append, commands_seen=append.commands_seen - self._dice.randrange(3))
        append = replace(append, **spoilt)

        def decide(commands: tuple[QueuedCommand, ...]) -> Append:
            return replace(append, commands_seen=commands[-1].n if commands else append.commands_seen, status="paused")

        return lambda store: store.appends.commit_informed(append, decide)

    def _append(self, execution_id: str) -> Append:
        head = self._heads.get(execution_id)
        status = self._dice.choice(ENDED if self._chance(10) else OPEN)
        if head is None or self._chance(4):
            append = self._creation(execution_id)
        else:
            append = following(head, epoch=head.epoch if head.owner else head.epoch - 1)
            if self._chance(25):
                append = replace(append, **self._spoilt(append))
        reopened = head is not None and head.status in CLOSED
        return replace(
            append,
            status=status,
            at=self._now,
            count=(count := self._dice.randrange(3)),
            events=b"[" + b"x" * count + b"]",
            rest=self._rest() if self._chance(30) else None,
            earlier=self._earlier(append.expected_seq + 1, count) if self._chance(15) else (),
            messages=self._sending(execution_id) if self._chance(20) else (),
            tokens=self._tokens() if self._chance(6) else (),
            closed=ClosedExecution(outcome="o", error_code="e")
            if (status in CLOSED or reopened) and self._chance(90)
            else None,
            snapshot=b"s%d" % self._now if self._chance(15) else None,
            points=self._changes(execution_id),
            audit=self._audit(),
        )

    def _rest(self) -> Rest:
        return Rest(wake_at=self._soon() if self._chance(80) else None, missing=self._types())

    def _earlier(self, seq: int, count: int) -> tuple[Entry, ...]:
        seq += self._chance(6)
        counts = [1] * self._dice.randrange(1, 3 if self._chance(20) else max(2, count + 1))
        return tuple(Entry(seq=seq + n, at=self._now, count=one, events=b"e") for n, one in enumerate(counts))

    def _spoilt(self, append: Append) -> dict[str, object]:
        wrong: list[tuple[str, object]] = [
            ("owner", self._dice.choice(("nobody", *INSTANCES))),
            ("epoch", append.epoch + self._dice.choice((-1, 1))),
            ("expected_seq", append.expected_seq + self._dice.choice((-1, 1))),
            ("commands_seen", append.commands_seen + self._dice.choice((-1, -2, 1))),
        ]
        return dict([self._dice.choice(wrong)])

    def _creation(self, execution_id: str) -> Append:
        known = [(version.workflow, version.hash) for version in self._versions]
        workflow, hash_ = self._dice.choice(known or [("order", "h1")])
        new = NewExecution(
            workflow=workflow,
            hash="h3" if self._chance(4) else hash_,
            created_at=self._now // 8,
            priority=self._dice.randrange(3),
            parent_id=self._dice.choice((None, *EXECUTIONS)),
            user=self._dice.choice((None, *PEOPLE)),
            tags=tuple(self._dice.sample(("a", "b", "c"), self._dice.randrange(3))),
        )
        return Append(
            execution_id=execution_id,
            owner=self._dice.choice(INSTANCES),
            epoch=1,
            expected_seq=-1,
            commands_seen=0,
            at=self._now,
            events=b"",
            count=0,
            status="running",
            new=new,
            lease_until=self._soon(),
            input=self._dice.choice(INPUTS),
        )

    def _changes(self, execution_id: str) -> tuple[PointChange, ...]:
        changes: list[PointChange] = []
        used = {row.point.id for row in self._points}
        free = [name for name in POINTS if name not in used]
        if self._chance(35) and free:
            changes.append(self._opening(free[0]))
        if self._chance(2):
            changes.append(self._opening(self._dice.choice(POINTS)))
        own = [row.point for row in self._points if row.execution_id == execution_id]
        for point in own:
            if self._chance(8):
                changed = replace(point, reminded=self._now, status=self._dice.choice(("open", "answered")))
                changes.append(ChangedPoint(point=changed))
            if self._chance(15):
                how = self._dice.choice(("applied", "expired", "cancelled", "answered"))
                changes.append(ClosedPoint(id=point.id, how=how))
        return tuple(changes)

    def _opening(self, name: str) -> OpenedPoint:
        rules = self._dice.choice((None, QUORUM, QUORUM, QUORUM, ApprovalRules(users=("bob",))))
        point = Point(id=name, node="n", kind=self._dice.choice(KINDS), opened_at=self._now // 8, rules=rules)
        waits = tuple((self._dice.choice(NAMES), self._dice.choice(KEYS)) for _ in range(self._dice.randrange(3)))
        return OpenedPoint(point=point, schema=self._dice.choice((None, SCHEMA)), waits=waits)

    def draw_claim(self) -> Callable[[Store], Awaitable[object]]:
        wish = Claim(
            instance=self._dice.choice(INSTANCES),
            now=self._now,
            lease_until=self._soon(),
            most=self._dice.choice((-1, 0, 1, 1, 2, 3)),
            execution_id=self._id() if self._chance(50) else None,
            types=frozenset(self._types()),
            waiting=self._dice.choice((None, None, -1, 0, 1, 2)),
        )
        return lambda store: store.claims.claim(wish)

    def _leases(self) -> list[LeaseRow]:
        epochs = {execution_id: self._heads[execution_id].epoch for execution_id in self._heads}
        return [LeaseRow(execution_id=id_, epoch=epochs.get(id_, 1) - self._chance(20)) for id_ in self._ids()]

    def draw_renew(self) -> Callable[[Store], Awaitable[object]]:
        instance, leases, until = self._dice.choice(INSTANCES), self._leases(), self._soon()
        return lambda store: store.claims.renew(instance, leases, until)

    def draw_release(self) -> Callable[[Store], Awaitable[object]]:
        instance, leases = self._dice.choice(INSTANCES), self._leases()
        wake_at, missing = self._dice.choice((None, self._now)), self._types()
        return lambda store: store.claims.release(instance, leases, wake_at, missing)

    def draw_load(self) -> Callable[[Store], Awaitable[object]]:
        ids = self._ids()
        return lambda store: store.queries.load(ids)

    def draw_commands(self) -> Callable[[Store], Awaitable[object]]:
        execution_id, after = self._id(), self._dice.randrange(-1, 4)
        return lambda store: store.commands.list_after(execution_id, after)

    def draw_is_taken(self) -> Callable[[Store], Awaitable[object]]:
        execution_id, source = self._id(), self._dice.choice(("x", "y", "answer 7", ""))
        return lambda store: store.commands.is_enqueued(execution_id, source)

    def draw_heads(self) -> Callable[[Store], Awaitable[object]]:
        ids = self._ids()
        return lambda store: store.queries.read_heads(ids)

    def draw_unread(self) -> Callable[[Store], Awaitable[object]]:
        seen = [(execution_id, self._dice.randrange(4)) for execution_id in self._ids()]
        return lambda store: store.commands.find_unread(seen)

    def draw_enqueue(self) -> Callable[[Store], Awaitable[object]]:
        now = self._now
        commands = [
            Enqueue(
                execution_id=execution_id,
                kind="Pause",
                body=b"%d" % now,
                source=self._dice.choice(("x", "y", "z", "")),
                source_n=self._dice.randrange(2),
                audit=self._audit(),
            )
            for execution_id in self._ids()
        ]
        return lambda store: store.commands.enqueue(commands, now)

    def draw_answer(self) -> Callable[[Store], Awaitable[object]]:
        answer = Answer(
            point=self._dice.choice([row.point.id for row in self._points] or POINTS),
            by=self._dice.choice(PEOPLE),
            approved=self._dice.choice((True, True, True, False, False, None)),
            data=self._dice.choice(({"n": 1}, {"n": 1}, {"n": "one"}, None)),
        )
        source, now = "" if self._chance(20) else f"answer {self._dice.randrange(40)}", self._now
        wish = Claim(instance=self._dice.choice(INSTANCES), now=now, lease_until=now + 50)
        chosen, audit = wish if self._chance(40) else None, self._audit()
        return lambda store: store.answers.reserve(answer, source, now, chosen, audit)

    def draw_talk(self) -> Callable[[Store], Awaitable[object]]:
        point, by = self._dice.choice([row.point.id for row in self._points] or POINTS), self._dice.choice(PEOPLE)
        now = self._now
        act: PointAct = self._dice.choice(
            (
                ClaimPoint(point=point, by=by, at=now, until=now + 30, take=self._chance(30)),
                ReleaseClaim(point=point, by=by, at=now),
                AskBack(point=point, by=by, question="Why?", to="zoe", at=now),
                ReplyBack(point=point, by="zoe", text="So.", at=now),
            )
        )
        source, audit = "" if self._chance(20) else f"talk {self._dice.randrange(40)}", self._audit()
        wish = Claim(instance=self._dice.choice(INSTANCES), now=now, lease_until=now + 50)
        chosen = wish if self._chance(40) else None
        return lambda store: store.answers.reserve(act, source, now, chosen, audit)

    # Definitions

    def draw_save_version(self) -> Callable[[Store], Awaitable[object]]:
        workflow, hash_, now = self._dice.choice(WORKFLOWS), self._dice.choice(HASHES[:2]), self._now
        audit = self._audit()
        return lambda store: store.definitions.save(workflow, hash_, b"{}", now, audit)

    def draw_version(self) -> Callable[[Store], Awaitable[object]]:
        hash_ = self._dice.choice(HASHES)
        return lambda store: store.definitions.find_by_hash(hash_)

    def draw_latest(self) -> Callable[[Store], Awaitable[object]]:
        workflow = self._dice.choice((*WORKFLOWS, "nothing"))
        return lambda store: store.definitions.find_latest(workflow)

    def draw_versions(self) -> Callable[[Store], Awaitable[object]]:
        workflow = self._dice.choice((*WORKFLOWS, "nothing", None))
        return lambda store: store.definitions.list_versions(workflow)

    def draw_hashes(self) -> Callable[[Store], Awaitable[object]]:
        workflow = self._dice.choice((*WORKFLOWS, "nothing", None))
        return lambda store: store.definitions.list_hashes(workflow)

    def draw_workflows(self) -> Callable[[Store], Awaitable[object]]:
        after, limit = self._dice.choice(("", *WORKFLOWS, "nothing")), self._limit()
        return lambda store: store.definitions.list_workflows(after, limit)

    # Views

    def draw_get(self) -> Callable[[Store], Awaitable[object]]:
        execution_id = self._id()
        return lambda store: store.queries.find_execution(execution_id)

    def draw_page(self) -> Callable[[Store], Awaitable[object]]:
        wanted = ExecutionFilter(
            workflow=self._dice.choice((None, None, *WORKFLOWS)),
            status=tuple(self._dice.sample((*OPEN, *ENDED), self._dice.choice((0, 0, 1, 4)))),
            tag=self._dice.choice((None, None, "a", "b")),
            parent_id=self._id() if self._chance(40) else None,
            where=self._dice.choice(WHERES) if self._chance(40) else None,
            conditions=tuple(self._dice.choices(CONDITIONS, k=self._dice.choice((0, 0, 1, 2)))),
            **(self._search() if self._chance(50) else {}),
            after=(self._dice.randrange(1 + self._now // 8), self._id()) if self._chance(30) else None,
            limit=self._limit(),
        )
        return lambda store: store.queries.list_executions(wanted)

    def _search(self) -> dict[str, Any]:
        dice = self._dice
        fields = {
            "correlation_id": dice.choice(("c1", "c2")),
            "error_code": dice.choice(("boom", "late")),
            "since": dice.randrange(1 + self._now),
            "until": dice.randrange(1 + self._now),
            "min_duration": dice.choice((0, 5, 60_000)),
            "max_duration": dice.choice((0, 5, 100)),
            "min_resumes": dice.randrange(3),
            "resumed": dice.choice((True, False)),
            "user": dice.choice(PEOPLE),
            "on": tuple(
                dice.sample(("person", "form", "approval", "timer", "retry", "operator"), dice.choice((1, 1, 2)))
            ),
            "hashes": tuple(dice.sample(HASHES, dice.choice((0, 1, 2)))),
            "q": dice.choice(("c", "c1", "a", "b", self._id()[:9], self._id())),
        }
        return {name: fields[name] for name in dice.sample(sorted(fields), dice.choice((1, 1, 2, 3)))}

    def draw_paused(self) -> Callable[[Store], Awaitable[object]]:
        wanted = PausedFilter(
            workflow=self._dice.choice((None, None, *WORKFLOWS)),
            after=(self._dice.randrange(1 + self._now), self._id()) if self._chance(30) else None,
            limit=self._limit(),
        )
        return lambda store: store.queries.list_paused(wanted)

    def draw_awaited(self) -> Callable[[Store], Awaitable[object]]:
        return lambda store: store.queries.count_awaited(1_000)

    def draw_history(self) -> Callable[[Store], Awaitable[object]]:
        execution_id, since, limit = self._id(), self._dice.randrange(-1, 12), self._limit()
        return lambda store: store.queries.read_history(execution_id, since, limit)

    def draw_points(self) -> Callable[[Store], Awaitable[object]]:
        statuses = ("open", "answered", "applied", "expired")
        wanted = PointFilter(
            execution_id=self._id() if self._chance(50) else None,
            workflow=self._dice.choice((None, None, *WORKFLOWS)),
            kind=self._dice.choice((None, None, *KINDS)),
            status=tuple(self._dice.sample(statuses, self._dice.choice((0, 1, 2, 3)))),
            after=(self._dice.randrange(1 + self._now // 8), self._dice.choice(POINTS)) if self._chance(30) else None,
            limit=self._limit(),
        )
        return lambda store: store.queries.list_points(wanted)

    def draw_point(self) -> Callable[[Store], Awaitable[object]]:
        name = self._dice.choice(POINTS)
        return lambda store: store.queries.find_point(name)

    def draw_counts(self) -> Callable[[Store], Awaitable[object]]:
        return lambda store: store.queries.count_by_status()

    def draw_standings(self) -> Callable[[Store], Awaitable[object]]:
        ids = [self._id() for _ in range(self._dice.randrange(4))]
        return lambda store: store.queries.read_standings(ids)

    # Locks

    def draw_lock(self) -> Callable[[Store], Awaitable[object]]:
        name, holder, now, until = self._dice.choice(LOCKS), self._dice.choice(INSTANCES), self._now, self._soon() + 20
        return lambda store: store.locks.acquire(name, holder, now, until)

    def draw_unlock(self) -> Callable[[Store], Awaitable[object]]:
        name, holder = self._dice.choice(LOCKS), self._dice.choice(INSTANCES)
        return lambda store: store.locks.release(name, holder)


_TELLING_NOTHING = {
    *("release", "unlock", "save_version", "sent", "postpone", "dispatched", "add_key", "end_reply", "drop_reply"),
    *("set_workflow_status", "set_breakpoint"),
}


def kinds_of(name: str, answer: object, *, changed: bool) -> set[str]:
    """Return how an operation went, in words that tell its outcomes apart."""
    if isinstance(answer, list) and answer and name in ("commit", "enqueue"):
        return {f"{name}: {_kind(one)}" for one in answer}
    if name in _TELLING_NOTHING:
        return {f"{name}: {answer if isinstance(answer, str) else 'done' if changed else 'nothing'}"}
    return {f"{name}: {_kind(answer)}"}


def _kind(answer: object) -> str:
    match answer:
        case str():  # an error's code
            return answer
        case Outcome():
            return answer.verdict
        case Refused():
            return answer.code
        case Enqueued() | Reserved(repeated=True):
            return "repeated" if answer.repeated else "taken"
        case Reserved():
            return "claimed" if answer.claimed is not None else answer.point.status
        case Claims():
            taken_over = any(claimed.taken_over for claimed in answer.claimed)
            if any(claimed.head.missing and not claimed.taken_over for claimed in answer.claimed):
                return "missing"
            return "taken_over" if taken_over else "taken" if answer.claimed else "nothing"
        case Outbox():
            return "some" if answer.due else "nothing"
        case Admission():
            return answer.state
        case list():
            return "some" if any(answer) else "nothing"
        case _:
            return "some" if answer else "nothing"
