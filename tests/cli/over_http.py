"""A server on the database of a test, and commands that are given to it in place of the database.

Who acts is known to a server by a key, so what a command says of that (`--by ada --role boss`) becomes one.
"""

from __future__ import annotations

import getpass
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from layover.bootstrap import open_runtime
from layover.errors import LayoverError
from layover.ports.access import AuditFilter
from layover.runtime.loop_thread import LoopThread
from tests.api.harness import ADMIN_KEY, Api, listening

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditRow

LOOKING = frozenset({"ls", "show", "history", "why", "inbox", "top"})
KEEPING = frozenset({"keys", "sign-in-link", "sessions", "audit", "destinations", "deliveries", "people", "triggers"})
ACTING = frozenset(
    {
        "answer",
        "approve",
        "delegate",
        "reject",
        "signal",
        "pause",
        "resume",
        "cancel",
        "retry",
        "rewind",
        "fork",
        "run-now",
        "retries",
        "cancel-retry",
        "clear-breakpoint",
    }
)

_ROLES = ("operator", "approver")  # no workflow of the tests asks for them: they only give permissions

# Tests that say something which is so of a database only, each with what that is.
DATABASE_ONLY = {
    "test_an_answer_is_stored_and_says_when_it_is_applied": "a server applies it itself",
    "test_a_running_instance_applies_an_answer": "it names its database",
    "test_only_a_user_with_the_role_decides": "the hint names --by; test_remote has its twin",
    "test_acting_makes_no_database": "there is no server without a database",
    "test_looking_makes_no_database": "there is no server without a database",
    "test_looking_changes_nothing": "a server works on its database all the time",
    "test_the_database_is_named_by_option_or_environment": "it names its database",
}


class Served:
    """A server that is begun when a command needs it first, and runs in a thread of its own."""

    def __init__(self) -> None:
        closed = LayoverError("The server is not running.")
        self._own = LoopThread("layover-test-server", closed=closed, ended=closed, inside="it would wait for itself")
        self._stack = AsyncExitStack()
        self._api: Api | None = None

    def translated(self, words: Sequence[str]) -> list[str]:
        """Return a command on the database as the same command to the server."""
        if not words or words[0] not in LOOKING | ACTING | KEEPING:
            return [*words]
        api = self._open()
        if words[0] in KEEPING:
            return [*words, "--url", api.url, "--key", ADMIN_KEY]
        rest, who = _without_person(words)
        key = self._own.wait(api.key_of(who))
        return [*rest, "--url", api.url, "--key", key]

    def audit(self) -> list[AuditRow]:
        """Return what was done, in order."""
        store = self._open().engine.instance.store
        return self._own.wait(store.audit.list_entries(AuditFilter()))[::-1]

    def stop(self) -> None:
        if self._own.runs:
            self._own.wait(self._stack.aclose())
            self._own.end()

    def _open(self) -> Api:
        if self._api is None:
            self._own.start()
            self._api = self._own.wait(self._begin())
        return self._api

    async def _begin(self) -> Api:
        engine = await self._stack.enter_async_context(open_runtime("sqlite:///layover.db"))
        return await self._stack.enter_async_context(listening(engine))


def _without_person(words: Sequence[str]) -> tuple[list[str], str]:
    """Return a command without who acts, and who that is, as the harness names callers."""
    rest: list[str] = []
    user, roles, asked = getpass.getuser(), [*_ROLES], False
    left = iter(words)
    for word in left:
        if word in ("--by", "--user"):
            user, asked = next(left), True
        elif word == "--role":
            roles.append(next(left))
            asked = True
        else:
            rest.append(word)
    if words[0] == "inbox" and asked:
        rest.append("--mine")
    return rest, f"{user}:{','.join(roles)}"
