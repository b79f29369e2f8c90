"""Layover: durable workflows whose first-class act is the pause."""

from typing import TYPE_CHECKING

from layover.core.definitions import Checked, InvalidDefinition, Problem, check
from layover.core.errors import LayoverError
from layover.core.plan import Plan, load

if TYPE_CHECKING:
    from layover.bootstrap import Engine
    from layover.nodes.context import NodeContext
    from layover.runtime.settings import Settings

__all__ = [
    "Checked",
    "Engine",
    "InvalidDefinition",
    "LayoverError",
    "NodeContext",
    "Plan",
    "Problem",
    "Settings",
    "check",
    "load",
]

_LATER = {
    "Engine": "layover.bootstrap",
    "NodeContext": "layover.nodes.context",
    "Settings": "layover.runtime.settings",
}


def __getattr__(name: str) -> object:
    """Load the runtime when it is first asked for: who only checks definitions does without it."""
    if name not in _LATER:
        raise AttributeError(f"module `layover` has no attribute `{name}`")
    from importlib import import_module  # noqa: PLC0415 - only who needs it pays for it

    return getattr(import_module(_LATER[name]), name)
