"""Random operations on what is about people: keys, what they did and were told, and which workflows may be started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.access import AuditFilter, IdempotentReply, Key, WorkflowStatus
from layover.ports.audit_entries import audit_row
from layover.ports.records import AuditRow
from tests.stores.conformance import WORKFLOWS
from tests.stores.exchanges import EXECUTIONS, Exchanges
from tests.stores.seal_maker import Maker

if TYPE_CHECKING:
    import random

    from layover.model.workflows import WorkflowState
    from tests.stores.exchanges import Call

USERS = ("ann", "bob")
ACTS = ("execution.pause", "key.add")
TARGETS = ("", "t1")
DOCUMENTS = (b'{"title":"a"}', b'{"title":"b"}')
KEYS_OF_USERS = [f"key{n}" for n in range(6)]
REPLIES = ("r1", "r2")
STATES: tuple[WorkflowState, ...] = ("active", "inactive", "paused", "deleted", "deleted")


class Accesses(Exchanges):
    """Operations beside the run plane; and the entries that come with operations on it."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__(dice)
        self._keys_known: list[Key] = []

    def _audit(self) -> AuditRow | None:
        return self._entry() if self._chance(50) else None

    def _entry(self) -> AuditRow:
        row = AuditRow(
            id=f"{self._dice.randrange(10**6):08x}-0000-7000-8000-{self._dice.randrange(9):012x}",
            at=self._now // 4,
            user=self._dice.choice(USERS),
            act=self._dice.choice(ACTS),
            target=self._dice.choice(TARGETS),
            execution_id=self._dice.choice(("", *EXECUTIONS)),
        )
        if self._chance(20):
            return row  # as an earlier release writes it
        return audit_row(
            id=row.id,
            at=row.at,
            user=row.user,
            act=row.act,
            salt=row.id.encode(),
            target=row.target,
            execution_id=row.execution_id,
            document=self._dice.choice((None, *DOCUMENTS)),
        )

    def draw_audit(self) -> Call:
        wanted = AuditFilter(
            user=self._dice.choice((None, *USERS)),
            act=self._dice.choice((None, None, *ACTS)),
            target=self._dice.choice((None, None, *TARGETS)),
            execution_id=self._dice.choice((None, None, "", *EXECUTIONS)),
            after=(self._dice.randrange(1 + self._now // 4), f"{self._dice.randrange(10**6):08x}")
            if self._chance(30)
            else None,
            limit=self._limit(),
        )
        return lambda store: store.audit.list_entries(wanted)

    def draw_seal(self) -> Call:
        maker, most = Maker(self._now), self._dice.choice((-1, 0, 1, 3, 100))
        return lambda store: store.seals.seal(maker, most)

    def draw_sealed(self) -> Call:
        n, after, most = self._dice.choice((None, 1, 2, 3)), (self._now // 8, ""), self._limit()
        return lambda store: store.seals.list_entries(n, after if most % 2 else None, most)

    def draw_forget_sealed(self) -> Call:
        through, most, audit = self._dice.randrange(4), self._dice.choice((-1, 0, 1, 3)), self._audit()
        return lambda store: store.seals.delete_entries(through, most, audit)

    # Keys

    def _key(self) -> Key:
        id_ = self._dice.choice(KEYS_OF_USERS)
        hash_ = self._dice.choice(KEYS_OF_USERS) if self._chance(20) else f"{id_} {self._now}"
        return Key(
            id=id_,
            prefix=id_[:4],
            hash=hash_.encode(),
            name="n",
            user=self._dice.choice(USERS),
            roles=self._types(),
            created_at=self._now,
            scopes=self._types() if self._chance(50) else None,
            ended_at=self._dice.choice((None, None, self._now)),
        )

    def draw_add_key(self) -> Call:
        key, entry = self._key(), self._entry()
        return lambda store: store.api_keys.add(key, entry)

    def draw_replace_key(self) -> Call:
        key_id, key, ends_at, entry = self._dice.choice(KEYS_OF_USERS), self._key(), self._soon(), self._entry()
        return lambda store: store.api_keys.replace(key_id, key, ends_at, entry)

    def draw_end_key(self) -> Call:
        key_id, now, entry = self._dice.choice(KEYS_OF_USERS), self._now, self._entry()
        return lambda store: store.api_keys.end(key_id, now, entry)

    def draw_key(self) -> Call:
        hash_ = self._dice.choice([b"none", *(key.hash for key in self._keys_known)])
        return lambda store: store.api_keys.find_by_hash(hash_)

    def draw_keys(self) -> Call:
        after, limit = self._dice.choice(("", *KEYS_OF_USERS)), self._limit()
        return lambda store: store.api_keys.list_keys(after, limit)

    # Replies

    def _reply(self, status: int = 0) -> IdempotentReply:
        return IdempotentReply(
            scope=self._dice.choice(USERS),
            key=self._dice.choice(REPLIES),
            fingerprint=self._dice.choice((b"same", b"same", b"other")),
            until=self._soon(),
            status=status,
            body=b"%d" % self._now,
        )

    def draw_begin_reply(self) -> Call:
        reply, now = self._reply(), self._now
        return lambda store: store.idempotency.begin(reply, now)

    def draw_end_reply(self) -> Call:
        reply = self._reply(200)
        return lambda store: store.idempotency.finish(reply)

    def draw_drop_reply(self) -> Call:
        scope, key = self._dice.choice(USERS), self._dice.choice(REPLIES)
        return lambda store: store.idempotency.abandon(scope, key)

    def draw_forget_replies(self) -> Call:
        # All that are over: of those that are over at the same moment any may go first.
        now = self._now - self._dice.randrange(3)
        return lambda store: store.idempotency.delete_expired(now, 100)

    # Workflow status

    def draw_set_workflow_status(self) -> Call:
        status = WorkflowStatus(
            workflow=self._dice.choice(WORKFLOWS),
            state=self._dice.choice(STATES),
            changed_at=self._now,
            reason=self._dice.choice(TARGETS),
            by=self._dice.choice(USERS),
        )
        audit = self._audit()
        return lambda store: store.workflow_status.set_status(status, audit)

    def draw_set_breakpoint(self) -> Call:
        workflow, node = self._dice.choice(WORKFLOWS), self._dice.choice(("charge", "ship"))
        reason, now, audit = self._dice.choice((None, "look", "ü")), self._now, self._audit()
        return lambda store: store.workflow_status.set_breakpoint(workflow, node, reason, now, audit)

    def draw_read_breakpoints(self) -> Call:
        return lambda store: store.workflow_status.read_breakpoints()

    def draw_workflow_statuses(self) -> Call:
        workflows = self._dice.choice((None, *WORKFLOWS))
        wanted = None if workflows is None else ["nothing", workflows]
        return lambda store: store.workflow_status.list_statuses(wanted)
