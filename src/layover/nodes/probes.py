"""The results of probes: whether a call that was lost with its instance had its effect."""

from __future__ import annotations

from enum import Enum
from typing import Final

import msgspec

from layover.core.engine import commands as cmd
from layover.core.payloads import plain


class Happened(msgspec.Struct, frozen=True):
    """The call had its effect; its node is completed with this output."""

    output: object = None


class Verdict(Enum):
    """The other results of a probe."""

    NOT_HAPPENED = "not happened"  # the call is made again
    UNKNOWN = "unknown"  # an operator is asked


NOT_HAPPENED: Final = Verdict.NOT_HAPPENED  # a probe returns it: the call had no effect, so it is made again
UNKNOWN: Final = Verdict.UNKNOWN  # a probe returns it: it cannot be told, so an operator decides

_EXPECTED = "`Happened(output)`, `NOT_HAPPENED` or `UNKNOWN`"


def probe_command(node: str, attempt: int, found: object) -> cmd.Probed:
    """Return the result of a probe as a command to the execution."""
    match found:
        case Happened():
            return cmd.Probed(node=node, attempt=attempt, happened=True, output=plain(found.output))
        case Verdict.NOT_HAPPENED:
            return cmd.Probed(node=node, attempt=attempt, happened=False)
        case None | Verdict.UNKNOWN:
            return cmd.Probed(node=node, attempt=attempt, happened=None)
        case _:
            problem = f"The probe returned {found!r:.200} instead of {_EXPECTED}."
            return cmd.Probed(node=node, attempt=attempt, happened=None, problem=problem)
