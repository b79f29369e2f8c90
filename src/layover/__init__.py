"""Layover: durable workflows whose first-class act is the pause."""

TYPE_CHECKING = False  # `typing` alone takes ten times as long to import as this

if TYPE_CHECKING:
    from layover.authoring.parts import (
        AwaitedSignal,
        CatchUp,
        Concurrency,
        Escalation,
        InputDelivery,
        People,
        Rate,
        Retry,
    )
    from layover.authoring.workflow import Workflow
    from layover.client.client import Client
    from layover.client.request_policy import RequestPolicy
    from layover.core.definitions import Checked, check
    from layover.core.moments import Moment
    from layover.core.plan import Plan, load
    from layover.engine import Engine
    from layover.errors import (
        AlreadyExists,
        AnswerRefused,
        BadUse,
        CallbackRefused,
        Closed,
        ExecutionCancelled,
        ExecutionFailed,
        Failure,
        InvalidDefinition,
        InvalidInput,
        LayoverError,
        LimitReached,
        MissingFunctions,
        NotAllowed,
        NotFound,
        Problem,
        RateLimited,
        Unavailable,
        WaitTimeout,
        WrongState,
    )
    from layover.interface.arguments import Until
    from layover.interface.batch_handle import BatchHandle
    from layover.interface.callback_handle import CallbackHandle
    from layover.interface.delivery_handle import DeliveryHandle
    from layover.interface.destination_handle import DestinationHandle
    from layover.interface.durations import Duration
    from layover.interface.execution_handle import ExecutionHandle
    from layover.interface.listing import Listing
    from layover.interface.pause_point_handle import PausePointHandle
    from layover.interface.trigger_handle import TriggerHandle
    from layover.interface.workflow_handle import WorkflowHandle
    from layover.logs.configuration import configure_logging
    from layover.model.access import ApiKey, AuditEntry, Caller, NewApiKey, OpenSession, SecretStatus, SignInLink
    from layover.model.batches import BatchCanary, BatchInfo, BatchItem
    from layover.model.deliveries import Delivery, DeliveryAttempt, Destination, Notification, Redelivered
    from layover.model.deploy_plans import DeployGroup, DeployPlan
    from layover.model.diagnosis import Diagnosis, Finding
    from layover.model.executions import (
        Attempt,
        Event,
        Execution,
        ExecutionCounts,
        ExecutionSummary,
        Graph,
        GraphEdge,
        GraphNode,
        Lease,
        Leg,
        LogLine,
        NodeExecution,
        Progress,
        ReplayStep,
        WaitingOn,
        Why,
        WhyReason,
    )
    from layover.model.forks import ForkPlan
    from layover.model.monitoring import DueTimer, QueueLengths, RunningInstance, Stats, StatsBucket
    from layover.model.node_searches import FoundNode
    from layover.model.pause_ends import ResumeSignal
    from layover.model.people import Absence, Person
    from layover.model.points import Approvers, Decision, LoopScope, ParallelScope, PausePoint, PointLink
    from layover.model.problems import PointDifference, Winner
    from layover.model.proofs import AuditKey, AuditKeySet, PathHash, Receipt, SealHeader
    from layover.model.repeat_plans import RepeatPlan
    from layover.model.resumes import ResumeEntry
    from layover.model.scheduled_retries import ScheduledRetry
    from layover.model.shared import Page
    from layover.model.signals import SignalReceipt
    from layover.model.triggers import (
        Backfilled,
        Fired,
        HookReceipt,
        Replayed,
        Trigger,
        TriggerEvent,
        TriggerInput,
        TriggerOccurrence,
    )
    from layover.model.user_settings import UserSettings
    from layover.model.views import SavedView, ViewFilter
    from layover.model.workflows import (
        Bundle,
        Difference,
        Differences,
        DryRun,
        NodeType,
        Resting,
        RestingNode,
        WorkflowChange,
        WorkflowSource,
        WorkflowVersion,
    )
    from layover.nodes.context import NodeContext, SyncNodeContext
    from layover.nodes.function import node
    from layover.nodes.notifier import notifier
    from layover.nodes.probes import NOT_HAPPENED, UNKNOWN, Happened
    from layover.nodes.source import Batch, Item, source
    from layover.ports.secrets import Secret, Secrets
    from layover.settings import Settings
    from layover.sync import (
        SyncBatchHandle,
        SyncCallbackHandle,
        SyncClient,
        SyncDeliveryHandle,
        SyncDestinationHandle,
        SyncEngine,
        SyncExecutionHandle,
        SyncListing,
        SyncPausePointHandle,
        SyncTriggerHandle,
        SyncWorkflowHandle,
    )
    from layover.tracebacks import Traceback, TracebackCause, TracebackFrame

__all__ = [
    "NOT_HAPPENED",
    "UNKNOWN",
    "Absence",
    "AlreadyExists",
    "AnswerRefused",
    "ApiKey",
    "Approvers",
    "Attempt",
    "AuditEntry",
    "AuditKey",
    "AuditKeySet",
    "AwaitedSignal",
    "Backfilled",
    "BadUse",
    "Batch",
    "BatchCanary",
    "BatchHandle",
    "BatchInfo",
    "BatchItem",
    "Bundle",
    "CallbackHandle",
    "CallbackRefused",
    "Caller",
    "CatchUp",
    "Checked",
    "Client",
    "Closed",
    "Concurrency",
    "Decision",
    "Delivery",
    "DeliveryAttempt",
    "DeliveryHandle",
    "DeployGroup",
    "DeployPlan",
    "Destination",
    "DestinationHandle",
    "Diagnosis",
    "Difference",
    "Differences",
    "DryRun",
    "DueTimer",
    "Duration",
    "Engine",
    "Escalation",
    "Event",
    "Execution",
    "ExecutionCancelled",
    "ExecutionCounts",
    "ExecutionFailed",
    "ExecutionHandle",
    "ExecutionSummary",
    "Failure",
    "Finding",
    "Fired",
    "ForkPlan",
    "FoundNode",
    "Graph",
    "GraphEdge",
    "GraphNode",
    "Happened",
    "HookReceipt",
    "InputDelivery",
    "InvalidDefinition",
    "InvalidInput",
    "Item",
    "LayoverError",
    "Lease",
    "Leg",
    "LimitReached",
    "Listing",
    "LogLine",
    "LoopScope",
    "MissingFunctions",
    "Moment",
    "NewApiKey",
    "NodeContext",
    "NodeExecution",
    "NodeType",
    "NotAllowed",
    "NotFound",
    "Notification",
    "OpenSession",
    "Page",
    "ParallelScope",
    "PathHash",
    "PausePoint",
    "PausePointHandle",
    "People",
    "Person",
    "Plan",
    "PointDifference",
    "PointLink",
    "Problem",
    "Progress",
    "QueueLengths",
    "Rate",
    "RateLimited",
    "Receipt",
    "Redelivered",
    "RepeatPlan",
    "ReplayStep",
    "Replayed",
    "RequestPolicy",
    "Resting",
    "RestingNode",
    "ResumeEntry",
    "ResumeSignal",
    "Retry",
    "RunningInstance",
    "SavedView",
    "ScheduledRetry",
    "SealHeader",
    "Secret",
    "SecretStatus",
    "Secrets",
    "Settings",
    "SignInLink",
    "SignalReceipt",
    "Stats",
    "StatsBucket",
    "SyncBatchHandle",
    "SyncCallbackHandle",
    "SyncClient",
    "SyncDeliveryHandle",
    "SyncDestinationHandle",
    "SyncEngine",
    "SyncExecutionHandle",
    "SyncListing",
    "SyncNodeContext",
    "SyncPausePointHandle",
    "SyncTriggerHandle",
    "SyncWorkflowHandle",
    "Traceback",
    "TracebackCause",
    "TracebackFrame",
    "Trigger",
    "TriggerEvent",
    "TriggerHandle",
    "TriggerInput",
    "TriggerOccurrence",
    "Unavailable",
    "Until",
    "UserSettings",
    "ViewFilter",
    "WaitTimeout",
    "WaitingOn",
    "Why",
    "WhyReason",
    "Winner",
    "Workflow",
    "WorkflowChange",
    "WorkflowHandle",
    "WorkflowSource",
    "WorkflowVersion",
    "WrongState",
    "check",
    "configure_logging",
    "load",
    "node",
    "notifier",
    "source",
]

_NAMES = {
    "layover.authoring.parts": "AwaitedSignal CatchUp Concurrency Escalation InputDelivery People Rate Retry",
    "layover.authoring.workflow": "Workflow",
    "layover.client.client": "Client",
    "layover.client.request_policy": "RequestPolicy",
    "layover.core.definitions": "Checked check",
    "layover.core.moments": "Moment",
    "layover.core.plan": "Plan load",
    "layover.engine": "Engine",
    "layover.errors": (
        "AlreadyExists AnswerRefused BadUse CallbackRefused Closed ExecutionCancelled "
        "ExecutionFailed Failure InvalidDefinition InvalidInput LayoverError LimitReached MissingFunctions "
        "NotAllowed NotFound Problem RateLimited Unavailable WaitTimeout WrongState"
    ),
    "layover.interface.arguments": "Until",
    "layover.interface.batch_handle": "BatchHandle",
    "layover.interface.callback_handle": "CallbackHandle",
    "layover.interface.delivery_handle": "DeliveryHandle",
    "layover.interface.destination_handle": "DestinationHandle",
    "layover.interface.durations": "Duration",
    "layover.interface.execution_handle": "ExecutionHandle",
    "layover.interface.listing": "Listing",
    "layover.interface.pause_point_handle": "PausePointHandle",
    "layover.interface.trigger_handle": "TriggerHandle",
    "layover.interface.workflow_handle": "WorkflowHandle",
    "layover.logs.configuration": "configure_logging",
    "layover.model.proofs": "AuditKey AuditKeySet PathHash Receipt SealHeader",
    "layover.model.access": "ApiKey AuditEntry Caller NewApiKey OpenSession SecretStatus SignInLink",
    "layover.model.batches": "BatchCanary BatchInfo BatchItem",
    "layover.model.deliveries": "Delivery DeliveryAttempt Destination Notification Redelivered",
    "layover.model.deploy_plans": "DeployGroup DeployPlan",
    "layover.model.executions": (
        "Attempt Event Execution ExecutionCounts ExecutionSummary Graph GraphEdge GraphNode Lease Leg LogLine "
        "NodeExecution Progress ReplayStep WaitingOn Why WhyReason"
    ),
    "layover.model.diagnosis": "Diagnosis Finding",
    "layover.model.monitoring": "DueTimer QueueLengths RunningInstance Stats StatsBucket",
    "layover.model.node_searches": "FoundNode",
    "layover.model.pause_ends": "ResumeSignal",
    "layover.model.people": "Absence Person",
    "layover.model.points": "Approvers Decision LoopScope ParallelScope PausePoint PointLink",
    "layover.model.problems": "PointDifference Winner",
    "layover.model.forks": "ForkPlan",
    "layover.model.repeat_plans": "RepeatPlan",
    "layover.model.scheduled_retries": "ScheduledRetry",
    "layover.model.resumes": "ResumeEntry",
    "layover.model.shared": "Page",
    "layover.model.signals": "SignalReceipt",
    "layover.model.triggers": (
        "Backfilled Fired HookReceipt Replayed Trigger TriggerEvent TriggerInput TriggerOccurrence"
    ),
    "layover.model.user_settings": "UserSettings",
    "layover.model.views": "SavedView ViewFilter",
    "layover.model.workflows": (
        "Bundle Difference Differences DryRun NodeType Resting RestingNode WorkflowChange WorkflowSource "
        "WorkflowVersion"
    ),
    "layover.nodes.context": "NodeContext SyncNodeContext",
    "layover.nodes.function": "node",
    "layover.nodes.notifier": "notifier",
    "layover.nodes.probes": "Happened NOT_HAPPENED UNKNOWN",
    "layover.nodes.source": "Batch Item source",
    "layover.ports.secrets": "Secret Secrets",
    "layover.settings": "Settings",
    "layover.tracebacks": "Traceback TracebackCause TracebackFrame",
    "layover.sync": (
        "SyncBatchHandle SyncCallbackHandle SyncClient SyncDeliveryHandle SyncDestinationHandle SyncEngine "
        "SyncExecutionHandle SyncListing SyncPausePointHandle SyncTriggerHandle SyncWorkflowHandle"
    ),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
_RENAMED = {
    "ApiError": "`layover.LayoverError`, with a class for each kind of error in `layover.errors`",
    "AsyncClient": "`layover.Client`; what was `Client` is `layover.SyncClient`",
    "Options": "part of the arguments of `Engine.start`: `start(…, tags=…, delay=…)`",
}


def __getattr__(name: str) -> object:
    """Load a name when it is asked for: a program pays only for what it uses."""
    if name in _RENAMED:  # of an AttributeError, an import would keep the sentence to itself
        raise ImportError(f"`layover.{name}` is now {_RENAMED[name]}.", name=name)
    if name not in _MODULES:
        raise AttributeError(f"module `layover` has no attribute `{name}`")
    from importlib import import_module  # noqa: PLC0415 - only who needs it pays for it

    found = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]
