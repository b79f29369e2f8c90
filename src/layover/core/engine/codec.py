"""Events and states as bytes. Events are kept forever; a snapshot only saves folding them again.

One append is one JSON array of the events in it. An event is an object whose `t` is its tag as declared, and the fields
of every step have short names; a field at its default is left out, so that a new field costs the old log nothing.

A change that is more than additive makes a new version, and the version is part of the tag: the class is declared with
`tag="started@2"`, and a stored `started` is version 1. So version 1 costs nothing, current events are read in one
pass, and an event of a newer release is an unknown tag instead of half an event. `UPCASTERS` holds one
pure function per step: it takes the fields of an event of that version and returns those of the next.

A snapshot holds the rows of every table, sorted by their keys, so that equal states have equal bytes.
Only the order of keys within user data is kept as it is, since an expression can see it. A snapshot of another
version is refused and not upgraded: its reader folds the events instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar, cast, get_args

import msgspec

from layover.core.engine.events import AnyEvent
from layover.core.engine.state import Collected, Count, ExecutionState, Facts, Halted, NodeState, Point, Scope, Taken
from layover.errors import LayoverError

if TYPE_CHECKING:
    from layover.core.plan import Plan

E = TypeVar("E")

Fields: TypeAlias = dict[str, object]
Upcaster: TypeAlias = Callable[[Fields], Fields]
Upcasters: TypeAlias = Mapping[tuple[str, int], Upcaster]

UPCASTERS: dict[tuple[str, int], Upcaster] = {}

SNAPSHOT_VERSION = 5

_UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)
_LONGEST_VERSION = 9


class UnknownEvent(LayoverError):  # noqa: N818 - it says what the event is
    """An event that this release does not know: most likely a newer release wrote it."""

    code = "unknown_event"


class CorruptLog(LayoverError):  # noqa: N818 - it says what the log is
    """Stored bytes that are not a list of events."""

    code = "corrupt_log"


class UnknownSnapshot(LayoverError):  # noqa: N818 - it says what the snapshot is
    """A snapshot of another version than this release writes."""

    code = "unknown_snapshot"


class CorruptSnapshot(LayoverError):  # noqa: N818 - it says what the snapshot is
    """Stored bytes that are not a snapshot."""

    code = "corrupt_snapshot"


class WrongPlan(LayoverError):  # noqa: N818 - it says what the plan is
    """A snapshot of an execution that runs another version of its workflow."""

    code = "wrong_plan"


# Events


class EventCodec(Generic[E]):
    """Writes and reads lists of the events of one union, of which older versions may be stored."""

    __slots__ = ("_decoder", "_events", "_tags", "_upcasters")

    def __init__(self, events: type[list[E]], upcasters: Upcasters) -> None:
        (union,) = get_args(events)
        self._events = events
        self._tags = frozenset(map(tag_of, get_args(union) or (union,)))
        self._upcasters = upcasters
        self._decoder: msgspec.json.Decoder[list[E]] = msgspec.json.Decoder(events)

    def encode(self, events: list[E]) -> bytes:
        """Return the bytes of one append."""
        return _encode(events)

    def decode(self, data: bytes) -> list[E]:
        """Return the events of one append, the old ones as they would be written today."""
        try:
            return self._decoder.decode(data)
        except msgspec.ValidationError:
            return self._decode_old(data)
        except _UNREADABLE as error:
            raise _corrupt(error) from error

    def _decode_old(self, data: bytes) -> list[E]:
        """Read a list that has events of older versions: one by one, each upgraded to the current version."""
        try:
            stored = _PLAIN.decode(data)
            return msgspec.convert([self._upcast(one) for one in stored], self._events)
        except _UNREADABLE as error:
            raise _corrupt(error) from error

    def _upcast(self, stored: Fields) -> Fields:
        tag = stored.get("t")
        if not isinstance(tag, str):
            raise CorruptLog("The log has an event without a type tag.")
        while tag not in self._tags:
            name, version = split_tag(tag)
            upcaster = self._upcasters.get((name, version))
            if upcaster is None:
                raise UnknownEvent(f"The log has an event `{tag}`, which this release of Layover does not know.")
            tag = f"{name}@{version + 1}"
            stored = {**upcaster({key: value for key, value in stored.items() if key != "t"}), "t": tag}
        return stored


def tag_of(event: type) -> str:
    """Return the tag under which a kind of event is stored."""
    return cast("str", event.__struct_config__.tag)  # type: ignore[attr-defined]  # every event is a struct


def split_tag(tag: str) -> tuple[str, int]:
    """Return the name of an event and its version; a tag without a version is version 1."""
    name, _, version = tag.partition("@")
    return (name, int(version)) if version.isdecimal() and len(version) <= _LONGEST_VERSION else (tag, 1)


def _corrupt(error: Exception) -> CorruptLog:
    return CorruptLog(f"The log cannot be read: {error}.")


# Snapshots


class SnapshotRows(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The rows of all tables, by the attribute names of `ExecutionState`; a tuple as a key is written in full."""

    version: int = msgspec.field(name="v")
    facts: Facts
    counts: dict[Count, int] = {}
    scopes: dict[str, Scope] = {}
    nodes: dict[str, NodeState] = {}
    points: dict[str, Point] = {}
    collected: list[tuple[str, int | str, Collected]] = []
    halted: dict[str, Halted] = {}
    queue: dict[int, str] = {}
    answered: dict[int, str] = {}
    timers: dict[str, int] = {}
    taken: dict[str, Taken] = {}


class _Version(msgspec.Struct):
    version: int = msgspec.field(name="v")


TABLES: tuple[str, ...] = tuple(
    name for name in SnapshotRows.__struct_fields__ if name not in ("version", "facts", "collected")
)


def encode_state(state: ExecutionState) -> bytes:
    """Return the bytes of a state; equal states give equal bytes."""
    rows = {name: dict(sorted(getattr(state, name).rows.items())) for name in TABLES}
    rows["counts"] = {name: count for name, count in rows["counts"].items() if count}
    collected = [(*key, row) for key, row in sorted(state.collected.rows.items(), key=_order)]
    return _encode(SnapshotRows(version=SNAPSHOT_VERSION, facts=state.facts, collected=collected, **rows))


def decode_state(data: bytes, plan: Plan) -> ExecutionState:
    """Return the state that was encoded, with the plan that it was made by."""
    try:
        found = _VERSION.decode(data).version
        if found != SNAPSHOT_VERSION:
            raise UnknownSnapshot(f"The snapshot has version {found} instead of {SNAPSHOT_VERSION}.")
        snapshot = _SNAPSHOT.decode(data)
    except _UNREADABLE as error:
        raise CorruptSnapshot(f"The snapshot cannot be read: {error}.") from error
    if snapshot.facts.hash not in (plan.hash, ""):  # before its first event an execution is the same by any plan
        raise WrongPlan(f"The execution runs version {snapshot.facts.hash} of its workflow, not {plan.hash}.")
    state = ExecutionState(plan)
    state.change(**msgspec.structs.asdict(snapshot.facts))
    for name in TABLES:
        getattr(state, name).rows.update(getattr(snapshot, name))
    state.collected.rows.update(((container, key), row) for container, key, row in snapshot.collected)
    state.undo_log.keep()
    return state


def _order(entry: tuple[tuple[str, int | str], Collected]) -> tuple[str, bool, int | str]:
    container, key = entry[0]
    return container, isinstance(key, str), key


_encode = msgspec.json.Encoder().encode
_VERSION = msgspec.json.Decoder(_Version)
_SNAPSHOT = msgspec.json.Decoder(SnapshotRows)
_PLAIN: msgspec.json.Decoder[list[Fields]] = msgspec.json.Decoder(list[Fields])
_EVENTS = EventCodec(list[AnyEvent], UPCASTERS)

encode_events = _EVENTS.encode
decode_events = _EVENTS.decode
