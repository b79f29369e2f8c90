"""`layover worker`: an instance that drives executions until it is told to stop."""

from __future__ import annotations

import asyncio
import os

from layover.admin import OperatorEngine, without_password
from layover.cli.definitions import File  # noqa: TC001 - cyclopts reads the annotations
from layover.cli.exits import DONE, Stop
from layover.cli.functions import node_types
from layover.cli.health_port import HealthPort
from layover.cli.hook_addresses import print_addresses
from layover.cli.loading import load_definitions
from layover.cli.log_options import AS_USUAL, SERVING, Logging
from layover.cli.options import Nodes  # noqa: TC001 - as above
from layover.cli.screen import say
from layover.cli.setting_flags import NO_WORKER_FLAGS, WorkerFlags
from layover.interface.durations import seconds_of
from layover.tracing.export import set_up_export


def work(*files: File, nodes: Nodes = (), flags: WorkerFlags = NO_WORKER_FLAGS, logging: Logging = AS_USUAL) -> int:
    """Drive executions until told to stop (Ctrl-C, SIGTERM); told again, leave at once what is still running.

    Any number of workers may share a database. What one cannot finish, another continues. The definitions that are
    named are registered first, as `serve` does.

    With `--health 9090` it tells monitoring on this machine how it is; `--health 0.0.0.0:9090` tells other machines.
    """
    if not nodes and not files:
        hint = "Name a workflow in Python, or give --nodes MODULE or --nodes FILE.py."
        raise Stop("A worker needs functions to call.", hint=hint)
    configuration = flags.configuration
    db = configuration.command.db
    workflows, functions = load_definitions(files, nodes)
    types = node_types(functions)
    logging.configure(configuration, SERVING)

    health = HealthPort(configuration) if configuration.command.health is not None else None

    async def serve() -> None:
        async with OperatorEngine(db, nodes=functions, settings=configuration.engine, drive=True) as engine:
            say(f"Working on {without_password(db)} as {engine.instance_id}")
            for one in workflows:
                print_addresses(await engine.register(one.definition))
            if workflows:
                say(f"  workflows:  {', '.join(one.plan.definition.name for one in workflows)}")
            say(f"  node types: {', '.join(sorted(types))}")
            say("  Ctrl-C stops it: running calls may end, the rest is for the next worker")
            if health is None:
                await engine.serve()
            else:
                say(f"  health at   {health.url}/healthz, /readyz and /metrics")
                async with health.answering(engine):
                    await engine.serve()

    export = set_up_export(os.environ)
    try:
        asyncio.run(serve())
    finally:
        export.stop(seconds_of("grace", configuration.engine.grace))
    say("Stopped.")
    return DONE
