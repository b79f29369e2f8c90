"""Handles and listings whose methods block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.interface.batch_handle import BatchHandle
from layover.interface.callback_handle import CallbackHandle
from layover.interface.delivery_handle import DeliveryHandle
from layover.interface.destination_handle import DestinationHandle
from layover.interface.execution_handle import ExecutionHandle
from layover.interface.listing import Listing
from layover.interface.pause_point_handle import PausePointHandle
from layover.interface.trigger_handle import TriggerHandle
from layover.interface.workflow_handle import WorkflowHandle
from layover.sync.proxy import SyncProxy, blocking

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAGE = 100


@blocking(ExecutionHandle)
class SyncExecutionHandle(SyncProxy):
    """An execution: its methods act and block, `info` is what was last read of it, and so are the fields of that."""

    __slots__ = ()


@blocking(PausePointHandle)
class SyncPausePointHandle(SyncProxy):
    """A pause point: its methods act and block, `info` is what was last read of it, and so are the fields of that."""

    __slots__ = ()


@blocking(WorkflowHandle)
class SyncWorkflowHandle(SyncProxy):
    """A workflow at one of its versions: its methods act and block, `info` is that version, and so are its fields."""

    __slots__ = ()


@blocking(TriggerHandle)
class SyncTriggerHandle(SyncProxy):
    """A trigger: its methods act and block, `info` is what was last read of it, and so are the fields of that."""

    __slots__ = ()


@blocking(DestinationHandle)
class SyncDestinationHandle(SyncProxy):
    """A destination: its methods act and block, `info` is what was last read of it, and so are the fields of that."""

    __slots__ = ()


@blocking(BatchHandle)
class SyncBatchHandle(SyncProxy):
    """A batch: its methods act and block, `info` is what was last read of it, and so are the fields of that."""

    __slots__ = ()


@blocking(DeliveryHandle)
class SyncDeliveryHandle(SyncProxy):
    """A delivery: its methods act and block, `info` is what was last read of it, and so are the fields of that."""

    __slots__ = ()


@blocking(CallbackHandle)
class SyncCallbackHandle(SyncProxy):
    """The reply to a callback node: there is one, by the holder of the token."""

    __slots__ = ()


@blocking(Listing)
class SyncListing(SyncProxy):
    """Something to iterate over, page by page as it is read; nothing is read before that."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        cursor: str | None = None
        while True:
            page = self.page(_PAGE, cursor)
            yield from page.items
            cursor = page.next
            if cursor is None:
                return
