"""Keep a server for as long as somebody holds our input: `python keeper.py <what to keep, as JSON>`.

Whoever starts a server may be killed, and nobody asks a killed process to clean up. So a server is the child of a
keeper, whose input ends with the process that started it, whichever of its threads that was: then the keeper ends the
server and removes its folder.

All processes of the server inherit our pipe as their output, so its end says that the last of them is gone; their
parent may have been killed before them. The keeper ends when they have.
"""

# ruff: noqa: T201 - printing is how it says the process id

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

_HELD = 0  # our input


def keep(command: list[str], folder: str, log: str, owner: tuple[int, int] | None) -> None:
    """Run a command until the last of its processes has ended, or nobody holds us any more."""
    alive, theirs = os.pipe()
    user, group = owner or (None, None)
    with Path(log).open("ab") as written:
        server = subprocess.Popen(  # noqa: S603 - the command of whoever started us
            command,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=written,
            cwd=folder,
            start_new_session=True,
            user=user,
            group=group,
            extra_groups=[] if owner else None,
        )
    os.close(theirs)
    with contextlib.suppress(BrokenPipeError):
        print(server.pid, flush=True)
    watched = [_HELD, alive]
    while True:
        readable, _, _ = select.select(watched, [], [])
        if alive in readable and not os.read(alive, 4096):
            break
        if _HELD in readable:
            watched.remove(_HELD)
            server.send_signal(signal.SIGQUIT)  # to PostgreSQL: at once, and all of you
    server.wait()
    if _HELD not in watched:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    keep(**json.loads(sys.argv[1]))
