"""Acts under an idempotency key that change a row rather than an execution: they are done once.

That an act was done stands in the audit log, which is written in the transaction of the act. So one that comes again
after its server died is known, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from layover.errors import AlreadyExists, WrongState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.ports.records import AuditRow
    from layover.service.actor import Actor

T = TypeVar("T")


class KeyedAct(NamedTuple):
    """An act on a target, with what is written of it."""

    actor: Actor
    name: str
    id: str
    key: str | None
    entry: AuditRow | None

    async def once(self, do: Callable[[], Awaitable[T]], read: Callable[[], Awaitable[T]]) -> T:
        """Do it; if it was done under the same key before, only read what there is."""
        if await self._is_done():
            return await read()
        try:
            return await do()
        except (AlreadyExists, WrongState):
            if await self._is_done():  # meanwhile, by the same request
                return await read()
            raise

    async def _is_done(self) -> bool:
        return await self.actor.has_done(self.name, None, self.key, target=self.id)


async def keyed_act(
    actor: Actor, name: str, target: str, key: str | None, *, data: object = None, **details: object
) -> KeyedAct:
    """Return an act, if its idempotency key was not used for it with other details or data."""
    # Over HTTP the input is part of the path: another one under the same key is another request.
    of = f"{target}/{details['input']}" if "input" in details else target
    await actor.check_key(name, of, key, details, data)
    known = actor.key(name, of, key)
    entry: AuditRow | None
    if known is None:
        entry = actor.entry(name, target, **details)  # type: ignore[arg-type]  # each by its name
    else:
        entry = actor.entry_of_any(name, target, key=known, **details)  # type: ignore[arg-type]  # each by its name
    return KeyedAct(actor, name, target, known, entry)
