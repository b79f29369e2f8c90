"""What a probe says: whether a call that was lost with its instance had its effect."""

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
    """What else a probe can find."""

    NOT_HAPPENED = "not happened"  # the call is made again
    UNKNOWN = "unknown"  # an operator is asked


NOT_HAPPENED: Final = Verdict.NOT_HAPPENED
UNKNOWN: Final = Verdict.UNKNOWN

_EXPECTED = "`Happened(output)`, `NOT_HAPPENED` or `UNKNOWN`"


def probed(node: str, attempt: int, found: object) -> cmd.Probed:
    """Return what a probe has found as what the execution is told."""
    match found:
        case Happened():
            return cmd.Probed(node=node, attempt=attempt, happened=True, output=plain(found.output))
        case Verdict.NOT_HAPPENED:
            return cmd.Probed(node=node, attempt=attempt, happened=False)
        case None | Verdict.UNKNOWN:
            return cmd.Probed(node=node, attempt=attempt, happened=None)
        case _:
            problem = f"The probe returned {found!r:.200}, and not {_EXPECTED}."
            return cmd.Probed(node=node, attempt=attempt, happened=None, problem=problem)
