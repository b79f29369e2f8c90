"""Every command has a handler."""

from __future__ import annotations

from typing import get_args

from layover.core.engine import commands as cmd
from layover.core.engine.decide import HANDLERS


def test_every_command_has_a_handler() -> None:
    assert set(HANDLERS) == set(get_args(cmd.AnyCommand))
