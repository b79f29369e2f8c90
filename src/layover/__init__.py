"""Layover: durable workflows whose first-class act is the pause."""

from typing import TYPE_CHECKING

from layover.core.definitions import Checked, InvalidDefinition, Problem, check
from layover.core.errors import LayoverError
from layover.core.plan import Plan, load

if TYPE_CHECKING:
    from layover.bootstrap import Engine
    from layover.nodes.context import NodeContext, SyncNodeContext
    from layover.nodes.probing import NOT_HAPPENED, UNKNOWN, Happened
    from layover.runtime.executions import Options
    from layover.runtime.settings import Settings

__all__ = [
    "NOT_HAPPENED",
    "UNKNOWN",
    "Checked",
    "Engine",
    "Happened",
    "InvalidDefinition",
    "LayoverError",
    "NodeContext",
    "Options",
    "Plan",
    "Problem",
    "Settings",
    "SyncNodeContext",
    "check",
    "load",
]

_LATER = {
    "NOT_HAPPENED": "layover.nodes.probing",
    "UNKNOWN": "layover.nodes.probing",
    "Engine": "layover.bootstrap",
    "Happened": "layover.nodes.probing",
    "NodeContext": "layover.nodes.context",
    "Options": "layover.runtime.executions",
    "Settings": "layover.runtime.settings",
    "SyncNodeContext": "layover.nodes.context",
}


def __getattr__(name: str) -> object:
    """Load the runtime when it is first asked for: who only checks definitions does without it."""
    if name not in _LATER:
        raise AttributeError(f"module `layover` has no attribute `{name}`")
    from importlib import import_module  # noqa: PLC0415 - only who needs it pays for it

    return getattr(import_module(_LATER[name]), name)
