"""Several stores on one PostgreSQL, for what only happens between connections.

Every trial runs under guards in the database itself: whatever moves a head the wrong way is an error of the statement
that did it, though the state that it leaves behind could have come about the right way.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from layover.stores.postgres import PostgresStore
from tests.servers.postgres import ask, connect, postgres_address, run
from tests.stores.conformance import ME, NEW, OTHER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine

A = TypeVar("A")
B = TypeVar("B")

# An append knows all commands, is its owner's, and carries its epoch; who takes over counts one up; nothing goes back.
_GUARD = """
CREATE FUNCTION layover.guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.last_seq <> old.last_seq AND (
        new.last_seq < old.last_seq OR new.commands_done <> old.commands_seq
        OR old.owner IS NULL OR new.last_epoch <> old.epoch
    ) THEN
        RAISE EXCEPTION 'an append that should not have passed: % after %', new, old;
    END IF;
    IF new.epoch < old.epoch OR new.commands_seq < old.commands_seq OR new.commands_done < old.commands_done THEN
        RAISE EXCEPTION 'a head that went back: % after %', new, old;
    END IF;
    IF new.owner IS NOT NULL AND new.owner IS DISTINCT FROM old.owner AND new.epoch <> old.epoch + 1 THEN
        RAISE EXCEPTION 'a claim that does not fence: % after %', new, old;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER guard AFTER UPDATE ON layover.heads FOR EACH ROW EXECUTE FUNCTION layover.guard();
"""

_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


@asynccontextmanager
async def rivals() -> AsyncIterator[tuple[PostgresStore, PostgresStore]]:
    """Open two stores on a database of their own; when they are closed, no two statements may have been in deadlock."""
    server = postgres_address()
    name = f"layover_race_{token_hex(4)}"
    await run(server, f"CREATE DATABASE {name}")
    try:
        address = urlsplit(server)._replace(path=f"/{name}").geturl()
        mine, others = PostgresStore(address), PostgresStore(address)
        await mine.open(ME)
        await others.open(OTHER)
        await mine.definitions.save(NEW.workflow, NEW.hash, b"{}", 50)
        await run(address, _GUARD)
        try:
            yield mine, others
        finally:
            await mine.close()
            await others.close()
        # A connection tells what it has counted when it ends.
        while await ask(server, f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'"):  # noqa: S608 - ours
            pass
        assert await ask(server, f"SELECT deadlocks FROM pg_stat_database WHERE datname = '{name}'") == 0  # noqa: S608
    finally:
        await run(server, f"DROP DATABASE {name} WITH (FORCE)")


async def race(one: Coroutine[object, object, A], other: Coroutine[object, object, B], trial: int) -> tuple[A, B]:
    """Do two things at the same time; every other time the second of them is sent first."""
    if trial % 2:
        second = asyncio.ensure_future(other)
        first = asyncio.ensure_future(one)
    else:
        first = asyncio.ensure_future(one)
        second = asyncio.ensure_future(other)
    await asyncio.wait([first, second])  # an error of one does not leave the other alone
    return await first, await second


@asynccontextmanager
async def held_up(store: PostgresStore, table: str) -> AsyncIterator[None]:
    """Let nobody write to a table for a while."""
    connection = await connect(store.address.dsn)
    try:
        async with connection.transaction():
            await connection.execute(f"LOCK TABLE {store.address.schema}.{table} IN SHARE MODE")
            yield
    finally:
        await connection.close()


async def waiting(store: PostgresStore, count: int, *, unless: asyncio.Future[Any] | None = None) -> None:
    """Return when so many statements wait for a lock, or something has come to an end."""
    while await ask(store.address.dsn, _WAITING) != count and not (unless is not None and unless.done()):
        pass


@asynccontextmanager
async def holding(store: PostgresStore, execution_ids: list[str]) -> AsyncIterator[Callable[[], Awaitable[int]]]:
    """Hold the heads of executions for a while; give a way to ask how many statements wait for a lock."""
    holder, asker = await connect(store.address.dsn), await connect(store.address.dsn)

    async def waiting() -> int:
        count: int = await asker.fetchval(_WAITING)
        return count

    try:
        async with holder.transaction():
            statement = f"SELECT 1 FROM {store.address.schema}.heads WHERE execution_id = ANY ($1::uuid[]) FOR UPDATE"  # noqa: S608
            await holder.fetch(statement, execution_ids)
            yield waiting
    finally:
        await holder.close()
        await asker.close()
