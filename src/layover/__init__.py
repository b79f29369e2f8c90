"""Layover: durable workflows whose first-class act is the pause."""

TYPE_CHECKING = False  # `typing` alone takes ten times as long to import as this

if TYPE_CHECKING:
    from layover.authoring.parts import AwaitedSignal, Concurrency, Escalation, People, Rate, Retry
    from layover.authoring.workflow import Workflow
    from layover.bootstrap import Engine
    from layover.client.async_client import AsyncClient
    from layover.client.errors import ApiError
    from layover.client.sync_client import Client
    from layover.core.definitions import Checked, InvalidDefinition, Problem, check
    from layover.core.errors import LayoverError
    from layover.core.plan import Plan, load
    from layover.nodes.context import NodeContext, SyncNodeContext
    from layover.nodes.function import node
    from layover.nodes.probes import NOT_HAPPENED, UNKNOWN, Happened
    from layover.runtime.operations.executions import Options
    from layover.runtime.settings import Settings
    from layover.sync import SyncEngine

__all__ = [
    "NOT_HAPPENED",
    "UNKNOWN",
    "ApiError",
    "AsyncClient",
    "AwaitedSignal",
    "Checked",
    "Client",
    "Concurrency",
    "Engine",
    "Escalation",
    "Happened",
    "InvalidDefinition",
    "LayoverError",
    "NodeContext",
    "Options",
    "People",
    "Plan",
    "Problem",
    "Rate",
    "Retry",
    "Settings",
    "SyncEngine",
    "SyncNodeContext",
    "Workflow",
    "check",
    "load",
    "node",
]

_LATER = {
    "NOT_HAPPENED": "layover.nodes.probes",
    "UNKNOWN": "layover.nodes.probes",
    "ApiError": "layover.client.errors",
    "AsyncClient": "layover.client.async_client",
    "AwaitedSignal": "layover.authoring.parts",
    "Checked": "layover.core.definitions",
    "Client": "layover.client.sync_client",
    "Concurrency": "layover.authoring.parts",
    "Engine": "layover.bootstrap",
    "Escalation": "layover.authoring.parts",
    "Happened": "layover.nodes.probes",
    "InvalidDefinition": "layover.core.definitions",
    "LayoverError": "layover.core.errors",
    "NodeContext": "layover.nodes.context",
    "Options": "layover.runtime.operations.executions",
    "People": "layover.authoring.parts",
    "Plan": "layover.core.plan",
    "Problem": "layover.core.definitions",
    "Rate": "layover.authoring.parts",
    "Retry": "layover.authoring.parts",
    "Settings": "layover.runtime.settings",
    "SyncEngine": "layover.sync",
    "SyncNodeContext": "layover.nodes.context",
    "Workflow": "layover.authoring.workflow",
    "check": "layover.core.definitions",
    "load": "layover.core.plan",
    "node": "layover.nodes.function",
}


def __getattr__(name: str) -> object:
    """Load what is asked for when it is: nobody pays for what they do not use."""
    if name not in _LATER:
        raise AttributeError(f"module `layover` has no attribute `{name}`")
    from importlib import import_module  # noqa: PLC0415 - only who needs it pays for it

    found = globals()[name] = getattr(import_module(_LATER[name]), name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *_LATER]
