"""Random operations on sessions and sign-in links, beside keys that come and end."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from layover.ports.access import SessionRow
from tests.stores.accesses import KEYS_OF_USERS, USERS
from tests.stores.operations import Operation, Operations, kinds_of

if TYPE_CHECKING:
    import random

    from layover.ports.access import SessionKind
    from tests.stores.exchanges import Call
    from tests.stores.operations import State

SESSIONS = [f"s{n}" for n in range(12)]
KINDS: tuple[SessionKind, ...] = ("session", "link")
INHERITED = ("add_key", "end_key", "replace_key", "save_version")
TELLING_NOTHING = ("open_session", "note_refused")

SESSION_READS = {"find_session", "list_sessions", "list_open_sessions", "list_sessions_of_user"}
SESSION_WAYS = {
    f"{name}: {way}"
    for name, ways in {
        "open_session": "done session_exists",
        "use_link": "some nothing session_exists",
        "find_session": "some nothing",
        "end_session": "some nothing",
        "note_refused": "done",
        "list_sessions": "some nothing",
        "list_open_sessions": "some nothing",
        "list_sessions_of_user": "some nothing",
        "forget_sessions": "some nothing",
        "add_key": "done key_exists",
        "end_key": "some nothing",
        "replace_key": "some nothing key_exists",
        "save_version": "done nothing",
    }.items()
    for way in ways.split()
}


class SessionOperations(Operations):
    """A stream of operations about sessions that belong to one seed."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__(dice)
        own = [name.removeprefix("draw_") for name in vars(SessionOperations) if name.startswith("draw_")]
        self._names = [*own, *INHERITED, *["open_session"] * 4, *["use_link"] * 3, *["find_session"] * 3]
        self._sessions: list[SessionRow] = []

    def draw(self, state: State) -> Operation:
        """Draw the next operation, given which sessions there are."""
        self._sessions = cast("list[SessionRow]", state["browsers"]) + cast("list[SessionRow]", state["sign_in_links"])
        return super().draw(state)

    def kinds(self, name: str, answer: object, before: State, after: State) -> set[str]:
        """Return how an operation went."""
        if name in TELLING_NOTHING:
            return {f"{name}: {answer if isinstance(answer, str) else 'done' if before != after else 'nothing'}"}
        return kinds_of(name, answer, changed=after != before)

    def _session(self, kind: SessionKind) -> SessionRow:
        id_ = self._dice.choice(SESSIONS)
        hash_ = self._dice.choice(SESSIONS) if self._chance(20) else f"{id_} {self._now}"
        return SessionRow(
            id=id_,
            hash=hash_.encode(),
            kind=kind,
            user=self._dice.choice(USERS),
            roles=self._types(),
            created_at=self._now,
            expires_at=self._soon() + self._dice.choice((0, 20)),
            scopes=self._types() if self._chance(50) else None,
            key_id=self._dice.choice(("", "", *KEYS_OF_USERS)),
        )

    def _hash(self) -> bytes:
        return self._dice.choice([b"none", *(row.hash for row in self._sessions)])

    def draw_open_session(self) -> Call:
        row, most, audit = self._session(self._dice.choice(KINDS)), self._dice.choice((-1, 1, 3, 9)), self._entry()
        return lambda store: store.sessions.open_session(row, most, audit)

    def draw_use_link(self) -> Call:
        links = [row.hash for row in self._sessions if row.kind == "link"]
        hash_ = self._dice.choice(links) if links and self._chance(70) else self._hash()
        row, now, most, audit = self._session("session"), self._now, self._dice.choice((1, 3, 9)), self._entry()
        return lambda store: store.sessions.use_link(hash_, row, now, most, audit)

    def draw_find_session(self) -> Call:
        hash_, now = self._hash(), self._now
        return lambda store: store.sessions.find_session(hash_, now)

    def draw_end_session(self) -> Call:
        hash_, audit = self._hash(), self._entry()
        return lambda store: store.sessions.end_session(hash_, audit)

    def draw_note_refused(self) -> Call:
        audit = self._entry()
        return lambda store: store.sessions.note_refused(audit)

    def draw_list_sessions(self) -> Call:
        kind, after, limit = self._dice.choice(KINDS), self._dice.choice(("", *SESSIONS)), self._limit()
        return lambda store: store.sessions.list_sessions(kind, after, limit)

    def draw_list_open_sessions(self) -> Call:
        now, after, limit = self._now, self._dice.choice(("", *SESSIONS)), self._limit()
        return lambda store: store.sessions.list_open_sessions(now, after, limit)

    def draw_list_sessions_of_user(self) -> Call:
        user, now, after, limit = self._dice.choice(USERS), self._now, self._dice.choice(("", "s3")), self._limit()
        return lambda store: store.sessions.list_sessions_of_user(user, now, after, limit)

    def draw_forget_sessions(self) -> Call:
        now, most = self._now - self._dice.randrange(5), self._dice.choice((-1, 0, 1, 2, 3))
        return lambda store: store.sessions.delete_expired(now, most)
