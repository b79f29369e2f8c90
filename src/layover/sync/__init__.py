"""The same interface for scripts and notebooks: every call blocks.

    with SyncEngine("sqlite:///app.db", workflows=[refund]) as engine:
        execution = engine.start("refund", {"amount": 250}, until="people")

Nothing is decided here: each method calls the one of the same name on an event loop in a thread of its own, and waits.
Interrupting a call ends the waiting and nothing else: what was asked for may still happen.

The types are in the stub beside this file, which tools/sync_stub.py writes from the signatures of the async classes.
"""

from __future__ import annotations

from layover.sync.doors import SyncClient, SyncDoor, SyncEngine
from layover.sync.handles import (
    SyncBatchHandle,
    SyncCallbackHandle,
    SyncDeliveryHandle,
    SyncDestinationHandle,
    SyncExecutionHandle,
    SyncListing,
    SyncPausePointHandle,
    SyncTriggerHandle,
    SyncWorkflowHandle,
)

__all__ = [
    "SyncBatchHandle",
    "SyncCallbackHandle",
    "SyncClient",
    "SyncDeliveryHandle",
    "SyncDestinationHandle",
    "SyncDoor",
    "SyncEngine",
    "SyncExecutionHandle",
    "SyncListing",
    "SyncPausePointHandle",
    "SyncTriggerHandle",
    "SyncWorkflowHandle",
]
