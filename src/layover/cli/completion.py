"""`layover completion`: a script by which a shell completes our commands and options."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from layover.cli.exits import DONE

Shell = Annotated[Literal["bash", "zsh", "fish"], Parameter(help="The shell that reads it.")]


def completion(shell: Shell, /) -> int:
    """Print a script that completes commands and options in a shell.

    For bash, for example: `layover completion bash > ~/.local/share/bash-completion/completions/layover`.
    """
    from layover.cli.main import app  # noqa: PLC0415 - it names this command

    sys.stdout.write(app.generate_completion(prog_name="layover", shell=shell))
    return DONE
