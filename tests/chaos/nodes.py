"""The functions of the workflows, as a user would write them. Each writes down when it is entered and left.

A line is one write to a file opened for appending, so that many processes share it and may die at any instant. The file
is on a disk of its own: the database's may be full.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from uuid import uuid4

from layover import NodeContext, SyncNodeContext, node

_RECORD = os.open(os.environ["CHAOS_RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
_FLAGS = Path(os.environ["CHAOS_FLAGS"])
_PROCESS = os.environ["CHAOS_PROCESS"]


def _record(what: str, context: NodeContext | SyncNodeContext, **more: object) -> None:
    line = {
        "what": what,
        "at": time.monotonic_ns(),
        "process": _PROCESS,
        "execution": context.execution_id,
        "node": context.context_id,
        "attempt": context.attempt,
        **more,
    }
    os.write(_RECORD, json.dumps(line).encode() + b"\n")


@node
def charge(ms: int, context: SyncNodeContext) -> str:
    """Do something in a thread that must not be done twice without a reason; what it returns is like nothing else."""
    token = uuid4().hex
    _record("enter", context, token=token)
    time.sleep(ms / 1000)
    _record("leave", context, token=token)
    return token


@node
async def ship(charged: object, context: NodeContext) -> str:
    """Go on with what was charged: from here on that is durable."""
    token = uuid4().hex
    _record("enter", context, token=token, given=charged)
    await asyncio.sleep(0.01)
    _record("leave", context, token=token)
    return token


@node
async def poison(context: NodeContext) -> None:
    """Kill the process."""
    _record("enter", context)
    os._exit(9)


@node
async def block(ms: int, context: NodeContext) -> str:
    """Hold up the whole process, as a mistake in a user's code does."""
    token = uuid4().hex
    _record("enter", context, token=token)
    time.sleep(ms / 1000)  # noqa: ASYNC251 - that is the mistake
    _record("leave", context, token=token)
    return token


@node
def flaky(flag: str, context: SyncNodeContext) -> str:
    """Fail until a flag is put down."""
    _record("enter", context)
    if not (_FLAGS / flag).exists():
        raise RuntimeError("not yet")
    return "well"
