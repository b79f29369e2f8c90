"""Searches among many executions against the same among few: `bench/queries.py [--postgres] [--small] [SIZE] [words]`.

Both databases hold the same executions that are searched for, the oldest of all: 60 took long, were resumed, and
failed; 60 wait for a person, and 60 have other values than all that come later. Then come so many that have
completed, with inputs, variables, triggers, outputs and correlation ids of their own, copied from one that was
executed (`copied_executions.py`). All are indexed before they are searched. Each search is made in both in turn, so
that both meet the same noise, and returns as much; without a size, 1,000 and 100,000 are compared. With words, only
searches with one of them in their name are.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import statistics
import sys
from contextlib import AsyncExitStack
from datetime import timedelta
from time import perf_counter
from typing import TYPE_CHECKING, Any

from copied_executions import Values, copy
from layover import Engine
from layover.bootstrap import open_runtime
from layover.runtime.operations.start_options import Options
from measure import size_of, table
from sites import SqliteSite

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from layover import Listing
    from sites import Site

    Search = Callable[[Engine], Awaitable[int]]

FEW, SIZE, ROUNDS = size_of(sys.argv[1:]).of((1_000, 100_000, 50), quick=(1_000, 10_000, 20), small=(210, 230, 1))
RARE, LISTED = size_of(sys.argv[1:]).of((60, 50), quick=(60, 50), small=(10, 10))
LONGEST, LEAST_ROUNDS = 10, 5  # seconds for one search; it is made so often at least
SLOW = timedelta(seconds=0.7)
FIRST = Values(1_000_000_007, "plain-x")  # of the execution that is copied; no text has these by chance
PLAIN = {
    "name": "plain",
    "nodes": [
        {"id": "keep", "type": "set", "values": {"n": "${input.n}", "kind": "${input.kind}"}, "next": "work"},
        {"id": "work", "type": "work", "input": {"n": "${input.n}", "kind": "${input.kind}"}, "next": "out"},
        {"id": "out", "type": "end", "output": "${nodes.work}"},
    ],
}
FAILING = {
    "name": "failing",
    "nodes": [
        {"id": "look", "type": "look_long", "next": "ask"},
        {"id": "ask", "type": "form", "title": "How many?", "next": "divide"},
        {"id": "divide", "type": "compute", "output": "${1 / int(nodes.ask.by)}"},
    ],
}
ASKING = {"name": "asking", "nodes": [{"id": "ask", "type": "form", "title": "How many?"}]}


async def work(n: int, kind: str) -> dict[str, object]:
    """Return what it got."""
    return {"n": n, "kind": kind}


async def look_long() -> None:
    """Take long."""
    await asyncio.sleep(SLOW.total_seconds())


async def main(site: Site, size: int, words: list[str]) -> None:
    async with site.empty() as small, site.empty() as large, AsyncExitStack() as stack:
        addresses = {FEW: small, size: large}
        for count, address in addresses.items():
            began = perf_counter()
            await _fill(address, count)
            print(f"{count:,} executions were there after {perf_counter() - began:.0f} s", flush=True)
        await site.settle()
        engines = {
            count: await stack.enter_async_context(Engine(address, nodes=[work, look_long]))
            for count, address in addresses.items()
        }
        rows: list[tuple[str, ...]] = [("", f"among {FEW:,}", f"among {size:,}", "ratio")]
        for name, search in _searches().items():
            if words and not any(word in name for word in words):
                continue
            medians = await _medians(name, engines, search)
            few, most = medians[FEW], medians[size]
            rows.append((name, f"{few * 1e6:,.0f} µs", f"{most * 1e6:,.0f} µs", f"{most / few:.2f}"))
        print(table(f"Searches on {site.name} (load {os.getloadavg()[0]:.1f})", rows))


async def _fill(address: str, count: int) -> None:
    async with Engine(address, nodes=[look_long]) as engine:
        await engine.register(FAILING)
        await engine.register(ASKING)
    async with Engine(address, user="ann", roles=["admin"], nodes=[look_long]) as engine:
        await asyncio.gather(*(_fail(engine, n) for n in range(RARE)))
        for n in range(RARE):
            await engine.start("asking", {"m": n}, until="people")

    async with open_runtime(address, nodes=[work, look_long]) as runtime:

        async def start(values: Values) -> str:
            options = Options(trigger={"kind": values.kind, "n": values.number}, correlation_id=_key(values))
            given = {"n": values.number, "kind": values.kind}
            return (await runtime.executions.start("plain", given, wait="end", options=options)).id

        await runtime.workflows.register(PLAIN)
        for n in range(RARE):
            await start(Values(-1 - n, "odd"))
        first = await start(FIRST)
        while await runtime.instance.store.search_terms.list_unindexed(None, 1):
            await runtime.instance.indexer.index_all()
    await copy(address, first, FIRST, count - 3 * RARE - 1, lambda n: Values(n, f"plain-{n % 10}"))


def _key(values: Values) -> str:
    return f"{values.kind}-{values.number}"


async def _fail(engine: Engine, n: int) -> None:
    started = await engine.start(
        "failing", {"rare": True, "m": n}, tags=["rare"], correlation_id=f"rare-{n % 3}", until="people"
    )
    await started.pause()
    await started.resume()
    await started.answer("ask", {"by": 0})
    await started.wait("end")


def _listed(**wanted: Any) -> Search:
    async def search(engine: Engine) -> int:
        return await _read(engine.executions(**wanted))

    return search


def _ran(**wanted: Any) -> Search:
    async def search(engine: Engine) -> int:
        return await _read(engine.node_executions(**wanted))

    return search


async def _read(listing: Listing[Any]) -> int:
    """Read as many as a page has: if a page gives up before it is full, the following ones, too."""
    page = await listing.page(LISTED)
    found = len(page.items)
    while found < LISTED and page.next is not None:
        page = await listing.page(LISTED, page.next)
        found += len(page.items)
    return min(found, LISTED)


def _found_by(name: str, value: Callable[[Any], Any], **others: Any) -> Search:
    """Return a search by a value of the oldest execution that waits, which each database has for itself."""
    known: dict[int, Any] = {}

    async def search(engine: Engine) -> int:
        if id(engine) not in known:
            known[id(engine)] = value((await engine.executions(workflow="asking").page(RARE)).items[-1])
        return await _read(engine.executions(**{name: known[id(engine)], **others}))

    return search


def _of_one(read: Callable[[Any], Awaitable[int]]) -> Search:
    known: dict[int, Any] = {}

    async def search(engine: Engine) -> int:
        if id(engine) not in known:
            known[id(engine)] = (await engine.executions(workflow="failing").page(1)).items[0]
        return await read(await engine.execution(known[id(engine)].id))

    return search


async def _second_page(engine: Engine) -> int:
    listing = engine.executions(where=["input.kind=plain-3"])
    first = await listing.page(LISTED // 2)
    return len((await listing.page(LISTED // 2, first.next)).items)


async def _counts(engine: Engine) -> int:
    return (await engine.counts())["paused"]


async def _waiting_counts(engine: Engine) -> int:
    return (await engine.waiting_counts()).on["person"]


async def _resume_queue(one: Any) -> int:
    return len((await one.resume_queue().page(LISTED)).items)


async def _replayed(one: Any) -> int:
    return len((await one.replay().page(LISTED)).items)


def _events(**wanted: Any) -> Search:
    async def read(one: Any) -> int:
        return len((await one.history(**wanted).page(LISTED)).items)

    return _of_one(read)


def _created(one: Any) -> datetime:
    found: datetime = one.created_at
    return found


def _searches() -> dict[str, Search]:
    return {
        "newest": _listed(),
        "by workflow": _listed(workflow="failing"),
        "by workflow, of which most are": _listed(workflow="plain"),
        "by node type": _listed(node_type="form"),
        "failed": _listed(status="failed"),
        "completed, of a workflow": _listed(status="completed", workflow="plain"),
        "failed, that a user started": _listed(status="failed", user="ann"),
        "completed, that a user started: none": _listed(status="completed", user="ann"),
        "paused for a person": _listed(on="person"),
        "failed after a resume": _listed(status="failed", min_resumes=1),
        "resumed": _listed(resumed=True),
        "by error code": _listed(error_code="division_by_zero"),
        "by tag": _listed(tag="rare"),
        "by user": _listed(user="ann"),
        "by date, the oldest": _found_by("until", _created),
        "by date, the oldest that completed: none": _found_by("until", _created, status="completed"),
        "by duration": _listed(min_duration=SLOW),
        "by duration, of a workflow": _listed(min_duration=SLOW, workflow="failing"),
        "by duration, short": _listed(max_duration=SLOW),
        "by correlation id": _listed(correlation_id="rare-1"),
        "by the beginning of a correlation id": _listed(q="rare-"),
        "by the beginning of very many correlation ids": _listed(q="plain-7"),
        "by a text that is a tag": _listed(q="rare"),
        "by an id": _found_by("q", lambda one: one.id),
        "by the beginning of an id": _found_by("q", lambda one: one.id[:20]),
        "by a part of the input, and the tag": _listed(tag="rare", contains={"rare": True}),
        "by a part of the input": _listed(contains={"rare": True}),
        "by input": _listed(where=["input.kind=odd"]),
        "by a range of an input": _listed(where=["input.n<0"]),
        "by a range of an input that most are in": _listed(where=["input.n>=0"]),
        "by input, one of all": _listed(where=["input.n=-7"]),
        "by input, a tenth of all": _listed(where=["input.kind=plain-3"]),
        "by input, a tenth of all, second page": _second_page,
        "by output": _listed(where=["output.kind=odd"]),
        "by a range of an output": _listed(where=["output.n<0"]),
        "by output, a tenth of all": _listed(where=["output.kind=plain-3"]),
        "by output, and the workflow": _listed(where=["output.kind=odd"], workflow="plain"),
        "by two values, one rare": _listed(where=["input.kind=plain-3", "output.n=3"]),
        "by trigger": _listed(where=["trigger.kind=odd"]),
        "by a variable": _listed(where=["vars.kind=odd"]),
        "by the output of a node": _listed(where=["nodes.work.kind=odd"]),
        "nodes by their input": _ran(node="work", where=["input.kind=odd"]),
        "nodes by a range of their output": _ran(node="work", where=["output.n<0"]),
        "nodes of a workflow that failed": _ran(workflow="failing", status="failed", error_code="division_by_zero"),
        "nodes that failed": _ran(status="failed"),
        "nodes that failed after a resume": _ran(status="failed", min_resumes=1),
        "nodes by error code": _ran(error_code="division_by_zero"),
        "nodes by type": _ran(type="compute"),
        "nodes by id": _ran(node="divide"),
        "nodes by duration": _ran(min_duration=SLOW),
        "nodes by type, the newest": _ran(type="set"),
        "the resume queue of one": _of_one(_resume_queue),
        "replay of one": _of_one(_replayed),
        "events of one by type, newest first": _events(type="NodeFailed", order="newest"),
        "events of one by node": _events(context_id="ask"),
        "events of one by number": _events(since=3, until=7),
        "counts by status": _counts,
        "counts by what is waited for": _waiting_counts,
    }


async def _medians(name: str, engines: dict[int, Engine], search: Search) -> dict[int, float]:
    taken: dict[int, list[float]] = {count: [] for count in engines}
    found = {count: await search(engine) for count, engine in engines.items()}
    assert len(set(found.values())) == 1, (name, found)
    assert all(found.values()) != name.endswith(": none"), (name, found)
    for _ in range(ROUNDS):
        for count, engine in engines.items():
            began = perf_counter()
            await search(engine)
            taken[count].append(perf_counter() - began)
        if sum(map(sum, taken.values())) > LONGEST and len(taken[FEW]) >= LEAST_ROUNDS:
            break
    return {count: statistics.median(times) for count, times in taken.items()}


def run(words: list[str]) -> None:
    logging.disable(logging.CRITICAL)  # executions that fail say so
    sizes = [int(word) for word in words if re.fullmatch("[0-9]+", word)]
    size = sizes[0] if sizes else SIZE
    names = [word for word in words if not re.fullmatch("--.*|[0-9]+", word)]
    if "--postgres" in words:
        from sites_postgres import postgres_site  # noqa: PLC0415 - it needs a server

        with postgres_site(settles_itself=False) as site:
            asyncio.run(main(site, size, names))
        return
    asyncio.run(main(SqliteSite(), size, names))


if __name__ == "__main__":
    run(sys.argv[1:])
