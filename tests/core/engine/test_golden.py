"""The bytes in `golden/` are in users' databases.

A line there is never changed or removed: bytes that can no longer be read, or that would be written differently, are a
breaking change. A new event or field gets a new line; an event that has to change gets a new version and an upcaster.
A snapshot can be made anew from the log, so its file may change, together with `SNAPSHOT_VERSION`.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec
import pytest

from layover.core.engine import events as ev
from layover.core.engine.codec import (
    SNAPSHOT_VERSION,
    SnapshotRows,
    decode_events,
    decode_state,
    encode_events,
    encode_state,
    tag_of,
)
from layover.core.plan import load

from .examples import example, fields_set, fields_within

GOLDEN = Path(__file__).parent / "golden"
LINES = GOLDEN.joinpath("events.jsonl").read_bytes().splitlines()
EVENTS: tuple[type[ev.AnyEvent], ...] = get_args(ev.AnyEvent)
CURRENT = {tag_of(kind) for kind in EVENTS}
WORKFLOW = GOLDEN.joinpath("workflow.yaml").read_text()
SNAPSHOT = GOLDEN.joinpath("snapshot.json").read_bytes().strip()

BROKEN = (
    "Stored events would change. Logs with these bytes exist: declare the event with the next version in its tag "
    "(`@2`) and add an upcaster, or make the change additive."
)
STALE = (
    "Snapshots would change. Raise SNAPSHOT_VERSION if old ones would be misread, and put the new bytes into the file."
)


def tag_in(line: bytes) -> str:
    [stored] = msgspec.json.decode(line)
    return str(stored["t"])


@pytest.mark.parametrize("line", LINES, ids=tag_in)
def test_stored_events_can_be_read_and_are_written_to_the_same_bytes(line: bytes) -> None:
    events = decode_events(line)
    assert len(events) == 1
    if tag_in(line) in CURRENT:
        assert encode_events(events) == line, BROKEN


@pytest.mark.parametrize("kind", EVENTS, ids=tag_of)
def test_every_field_of_every_event_is_pinned(kind: type[ev.AnyEvent]) -> None:
    lines = [line for line in LINES if tag_in(line) == tag_of(kind)]
    missing = fields_within(kind) - fields_set([decode_events(line) for line in lines])
    assert lines, f"no line for {kind.__name__}; add to events.jsonl:\n{suggested(kind)}"
    assert not missing, f"no line has {missing}; add to events.jsonl (change no other line):\n{suggested(kind)}"


def test_a_snapshot_can_be_read_and_is_written_alike() -> None:
    state = decode_state(SNAPSHOT, load(WORKFLOW))
    assert encode_state(state) == SNAPSHOT, STALE


def test_every_field_of_every_row_is_pinned() -> None:
    missing = fields_within(SnapshotRows) - fields_set(msgspec.json.decode(SNAPSHOT, type=SnapshotRows))
    assert not missing, f"no row in snapshot.json has {missing}; it would be:\n{suggested_snapshot()}"


def suggested(kind: type[ev.AnyEvent]) -> str:
    return encode_events([example(kind)]).decode()


def suggested_snapshot() -> str:
    """Return a snapshot in which every table has a row, and every row every field."""
    sketch = example(SnapshotRows)
    facts = msgspec.structs.replace(sketch.facts, hash=load(WORKFLOW).hash)
    return msgspec.json.encode(msgspec.structs.replace(sketch, version=SNAPSHOT_VERSION, facts=facts)).decode()
