"""`layover worker`: an instance that drives whatever is due, until it is told to stop."""

from __future__ import annotations

import asyncio
import logging

from layover.bootstrap import Engine, address_of
from layover.cli.definitions import File  # noqa: TC001 - cyclopts reads the annotations
from layover.cli.exits import DONE, Stop
from layover.cli.functions import node_types
from layover.cli.loading import load_definitions
from layover.cli.options import DEFAULT_DB, Db, HttpPrivate, Nodes
from layover.cli.screen import say, without_password
from layover.runtime.settings import Settings


def work(*files: File, nodes: Nodes = (), http_private: HttpPrivate = False, db: Db = DEFAULT_DB) -> int:
    """Drive executions until told to stop (Ctrl-C, SIGTERM); told again, leave at once what is still running.

    Any number of workers may share a database. What one cannot finish, another goes on with. The definitions that are
    named are registered first, as `serve` does.
    """
    if not nodes and not files:
        hint = "Name a workflow in Python, or give --nodes MODULE or --nodes FILE.py."
        raise Stop("A worker needs functions to call.", hint=hint)
    plans, functions = load_definitions(files, nodes)
    types = node_types(functions)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")

    async def serve() -> None:
        settings = Settings(http_private=http_private)
        async with Engine(address_of(db), nodes=functions, settings=settings) as engine:
            say(f"Working on {without_password(db)} as {engine.instance.id}")
            for plan in plans:
                await engine.register(plan)
            if plans:
                say(f"  workflows:  {', '.join(plan.definition.name for plan in plans)}")
            say(f"  node types: {', '.join(sorted(types))}")
            say("  Ctrl-C stops it: calls that are out may end, the rest is for the next worker")
            await engine.serve()

    asyncio.run(serve())
    say("Stopped.")
    return DONE
