"""The records of batches between the runtime and a store: one act on many items, and what became of each."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from layover.ports.records import StoreRecord

BatchState: TypeAlias = Literal["collecting", "running", "watching", "stopped", "completed", "failed"]
ItemState: TypeAlias = Literal["pending", "done", "skipped", "failed"]

CANARY_FAILED: Final = "canary_failed"  # the code of a batch that its canary has stopped
LIVE_BATCHES: Final[tuple[BatchState, ...]] = ("collecting", "running", "watching")


class BatchRow(StoreRecord, frozen=True, kw_only=True):
    """One act on many items. Any instance works on it when it is due: it claims it, does a page, and lets go of it.

    A claim raises `epoch` and puts `due_at` off; what is written under an older epoch changes nothing. Items are fixed
    while it is `collecting`, behind `cursor`; then they are done in the order of their numbers, and those up to
    `position` have been.
    """

    id: str
    act: str
    wanted: bytes  # which items, in JSON
    arguments: bytes  # of the act, in JSON
    caller: bytes  # who acts, with the permissions that they had then, in JSON
    user: str = ""
    state: BatchState = "collecting"
    code: str = ""  # why it stopped, or failed
    reason: str = ""
    created_at: int
    ended_at: int | None = None
    due_at: int
    epoch: int = 0
    interval: int = 0  # milliseconds from one item to the next; 0: as fast as it goes
    free_at: int = 0  # when the rate allows the next one
    share: int = 0  # of the canary, in millionths of all items; 0: there is none
    watch: int = 0  # milliseconds
    canary: int = 0  # acts after which the canary is watched; 0: it is over, or there is none
    watch_until: int | None = None
    cursor: str = ""
    position: int = 0
    total: int = 0
    done: int = 0
    skipped: int = 0
    failed: int = 0


class BatchItemRow(StoreRecord, frozen=True, kw_only=True):
    """One item of a batch; its number is its place, beginning with 1."""

    n: int
    target: str  # the id of an execution, a point, a delivery, or of an input of `parent`
    parent: str = ""  # the execution of a point or a delivery; the trigger of an input
    pin: str = ""  # a hash of what was shown when it was chosen
    state: ItemState = "pending"
    code: str = ""
    reason: str = ""
    at: int | None = None  # when it was done


class BatchClaim(StoreRecord, frozen=True, kw_only=True):
    """A request for the batch that is due first; it is not claimed again before `due_again`."""

    now: int
    due_again: int


class BatchAdvance(StoreRecord, frozen=True, kw_only=True):
    """What an instance has done for a batch that it has claimed: it passes only under the epoch of `row`.

    `row` is the batch afterwards. If it was stopped meanwhile it stays so, with its progress.
    """

    row: BatchRow
    added: tuple[BatchItemRow, ...] = ()
    settled: tuple[BatchItemRow, ...] = ()


class BatchChange(StoreRecord, frozen=True, kw_only=True):
    """A change by an operator: it passes only if the batch is in one of the states `of`."""

    id: str
    of: tuple[BatchState, ...]
    state: BatchState
    at: int
    code: str = ""
    reason: str = ""


class BatchFilter(StoreRecord, frozen=True, kw_only=True):
    """The batches to list, newest first; `after` is the last one seen: its moment and id."""

    state: str | None = None
    after: tuple[int, str] | None = None
    limit: int = 100


class BatchItemFilter(StoreRecord, frozen=True, kw_only=True):
    """The items of a batch to list, in order; `after` is the number of the last one seen."""

    batch_id: str
    state: str | None = None
    after: int = 0
    limit: int = 100
