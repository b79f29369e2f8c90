"""What a rewind knows of variables when it is sent."""

from __future__ import annotations

import msgspec


class VariablesThen(msgspec.Struct, frozen=True, gc=False):
    """The variables of a scope at some event: all, and as they would be without the nodes that are dropped."""

    all: dict[str, object] = {}
    kept: dict[str, object] = {}


class RewindBasis(msgspec.Struct, frozen=True, kw_only=True):
    """The variables after event `at`: those that the node reads, and those of the execution, if they are others."""

    at: int
    own: VariablesThen = VariablesThen()
    root: VariablesThen = VariablesThen()
