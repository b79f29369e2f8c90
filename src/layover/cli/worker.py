"""`layover worker`: an instance that drives whatever is due, until it is told to stop."""

from __future__ import annotations

import asyncio
import logging

from layover.bootstrap import Engine, address_of
from layover.cli.exits import DONE, Stop
from layover.cli.functions import functions_of, node_types
from layover.cli.options import DEFAULT_DB, Db, HttpPrivate, Nodes
from layover.cli.screen import say, without_password
from layover.runtime.settings import Settings


def work(*, nodes: Nodes = (), http_private: HttpPrivate = False, db: Db = DEFAULT_DB) -> int:
    """Drive executions until told to stop (Ctrl-C, SIGTERM); told again, leave at once what is still running.

    Any number of workers may share a database. What one cannot finish, another goes on with.
    """
    if not nodes:
        raise Stop("A worker needs functions to call.", hint="Give --nodes MODULE, or --nodes FILE.py.")
    functions = functions_of(nodes)
    types = node_types(functions)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")

    async def serve() -> None:
        settings = Settings(http_private=http_private)
        async with Engine(address_of(db), nodes=functions, settings=settings) as engine:
            say(f"Working on {without_password(db)} as {engine.instance.id}")
            say(f"  node types: {', '.join(sorted(types))}")
            say("  Ctrl-C stops it: calls that are out may end, the rest is for the next worker")
            await engine.serve()

    asyncio.run(serve())
    say("Stopped.")
    return DONE
