"""Stored events and states can be read: by this release, by later ones, and in the middle of an execution."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layover.core.engine import events as ev
from layover.core.engine.codec import (
    SNAPSHOT_VERSION,
    TABLES,
    UPCASTERS,
    EventCodec,
    Fields,
    SnapshotRows,
    decode_events,
    decode_state,
    encode_events,
    encode_state,
    split_tag,
    tag_of,
)
from layover.core.engine.evolve import fold
from layover.core.engine.state import ExecutionState
from layover.core.engine.tables import Table
from layover.errors import LayoverError

from .examples import example, structs_within
from .flows import rehearse
from .random_executions import journeys, wander

EVENTS: tuple[type[ev.AnyEvent], ...] = get_args(ev.AnyEvent)


def tables_of(state: ExecutionState) -> dict[str, dict[object, object]]:
    """Return the rows of every table of an execution."""
    tables = {name: getattr(state, name) for name in ExecutionState.__slots__}
    return {name: table.rows for name, table in tables.items() if isinstance(table, Table)}


# Events


@pytest.mark.parametrize("kind", EVENTS, ids=tag_of)
def test_an_event_is_read_as_it_was_written(kind: type[ev.AnyEvent]) -> None:
    events: list[ev.AnyEvent] = [example(kind), example(kind)]
    assert decode_events(encode_events(events)) == events


def test_an_append_is_one_json_array_with_the_tag_first_and_without_defaults() -> None:
    events: list[ev.AnyEvent] = [
        ev.NodeCompleted(node="a", output={"b": 1, "a": 2}, duration_ms=3),
        ev.NodeScheduled(node="b", node_type="f", attempt=1),
    ]
    assert encode_events(events) == (
        b'[{"t":"completed","n":"a","out":{"b":1,"a":2},"ms":3},{"t":"scheduled","n":"b","of":"f"}]'
    )
    assert encode_events([]) == b"[]"
    assert decode_events(b"[]") == []


def test_no_two_events_share_a_tag() -> None:
    assert len({split_tag(tag_of(kind))[0] for kind in EVENTS}) == len(EVENTS)


@pytest.mark.parametrize("kind", sorted(structs_within(ev.AnyEvent), key=str), ids=lambda kind: kind.__name__)
def test_everything_in_an_event_leaves_its_defaults_out_so_that_fields_can_be_added(kind: type[msgspec.Struct]) -> None:
    assert kind.__struct_config__.omit_defaults


@pytest.mark.parametrize("kind", EVENTS, ids=tag_of)
def test_every_older_version_has_an_upcaster(kind: type[ev.AnyEvent]) -> None:
    name, version = split_tag(tag_of(kind))
    assert {older for tag, older in UPCASTERS if tag == name} == set(range(1, version))


@pytest.mark.parametrize("tag", ["never_heard_of", "started@2", "started@1", "started@" + "9" * 5000])
def test_an_unknown_event_is_named(tag: str) -> None:
    with pytest.raises(LayoverError, match=tag[:20]) as caught:
        decode_events(msgspec.json.encode([{"t": tag, "n": "a", "attempt": 1}]))
    assert caught.value.code == "unknown_event"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[1]",
        b"[{}]",
        b'[{"t":3}]',
        b'[{"t":"started"}]',
        b'[{"t":"started","n":1,"attempt":1}]',
        b'[{"t":"execution_started"}',
        b'[{"t":"execution_started"}]]',
        b'[{"t":"execution_paus',
        b'[{"t":"execution_pausing","reason":"\xff"}]',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
    ids=lambda data: data[:40].decode(errors="replace"),
)
def test_corrupted_bytes_raise_corrupt_log(data: bytes) -> None:
    with pytest.raises(LayoverError) as caught:
        decode_events(data)
    assert caught.value.code == "corrupt_log"


@given(st.binary(max_size=60), st.integers(0, 200), st.integers(0, 50))
def test_arbitrary_bytes_raise_no_other_error(junk: bytes, position: int, removed: int) -> None:
    data = encode_events([ev.NodeStarted(node="a", attempt=1, input={"n": [1, "é"]}), ev.ExecutionPaused()])
    position = min(position, len(data))
    try:
        decode_events(data[:position] + junk + data[position + removed :])
    except LayoverError as error:
        assert error.code in ("corrupt_log", "unknown_event")  # noqa: PT017 - other errors are what is tested


# An event that was changed twice


class Shipped(msgspec.Struct, frozen=True, tag_field="t", tag="shipped@3"):
    """Once `{order}`, then `{order, grams}`, now `{parcels: [grams]}`."""

    order: str
    parcels: list[int]


class Stored(msgspec.Struct, frozen=True, tag_field="t", tag="stored"):
    """Never changed."""

    shelf: int


def _with_weight(old: Fields) -> Fields:
    return {**old, "grams": 0}


def _with_parcels(old: Fields) -> Fields:
    return {"order": old["order"], "parcels": [old["grams"]]}


CODEC = EventCodec(list[Shipped | Stored], {("shipped", 1): _with_weight, ("shipped", 2): _with_parcels})


def test_events_of_older_versions_are_read_as_they_would_be_written_today() -> None:
    data = b"""[
        {"t":"shipped","order":"a"},
        {"t":"stored","shelf":4},
        {"t":"shipped@2","order":"b","grams":7},
        {"t":"shipped@3","order":"c","parcels":[1,2]}
    ]"""
    events: list[Shipped | Stored] = [Shipped("a", [0]), Stored(4), Shipped("b", [7]), Shipped("c", [1, 2])]
    assert CODEC.decode(data) == events
    assert CODEC.decode(CODEC.encode(events)) == events


def test_only_a_later_version_than_the_first_is_written() -> None:
    events: list[Shipped | Stored] = [Stored(4), Shipped("a", [])]
    assert CODEC.encode(events) == (b'[{"t":"stored","shelf":4},{"t":"shipped@3","order":"a","parcels":[]}]')


def test_an_event_of_a_later_version_is_unknown_instead_of_half_read() -> None:
    with pytest.raises(LayoverError) as caught:
        CODEC.decode(b'[{"t":"shipped@4","order":"a","parcels":[1],"carrier":"ups"}]')
    assert caught.value.code == "unknown_event"


def test_an_old_event_that_cannot_be_upcast_is_corrupt() -> None:
    with pytest.raises(LayoverError) as caught:
        CODEC.decode(b'[{"t":"shipped@2","order":"a","grams":"heavy"}]')
    assert caught.value.code == "corrupt_log"


# Snapshots


def test_every_table_of_an_execution_is_in_its_snapshot() -> None:
    tables = set(tables_of(ExecutionState(rehearse("  - {id: a, type: f}\n").plan)))
    missing = tables - {"collected"} - set(TABLES)
    assert not missing, f"add {missing} to `Snapshot`, with an empty default"


@pytest.mark.parametrize("kind", sorted(structs_within(SnapshotRows), key=str), ids=lambda kind: kind.__name__)
def test_defaults_in_a_state_are_singletons(kind: type[msgspec.Struct]) -> None:
    """A default is left out if it is the very same object, so it has to be a singleton."""
    hints = {field.name: field for field in msgspec.structs.fields(kind)}
    for name, field in hints.items():
        default = field.default
        once = default in (msgspec.NODEFAULT, None, True, False, "", ()) or isinstance(default, int)
        assert once or getattr(field.type, "__origin__", None) is Literal, f"{kind.__name__}.{name}"


@given(journeys, st.integers(0, 10_000))
def test_a_decoded_state_equals_the_original_and_continues_alike(journey: tuple[int, list[int]], split: int) -> None:
    flow = wander(journey)
    middle = split % (len(flow.log) + 1)
    before = fold(ExecutionState(flow.plan), flow.log[:middle])
    restored = decode_state(encode_state(before), flow.plan)
    assert tables_of(restored) == tables_of(before)
    assert encode_state(restored) == encode_state(before)
    stored = encode_events([event for _, event in flow.log[middle:]])
    tail = zip((at for at, _ in flow.log[middle:]), decode_events(stored), strict=True)
    assert tables_of(fold(restored, tail)) == tables_of(flow.state)
    assert encode_state(restored) == encode_state(flow.state)


@given(journeys)
def test_the_order_of_rows_does_not_show_in_the_bytes(journey: tuple[int, list[int]]) -> None:
    state = wander(journey).state
    data = encode_state(state)
    for rows in tables_of(state).values():
        for key in list(rows):
            rows[key] = rows.pop(key)
        for key in sorted(rows, key=str, reverse=True):
            rows[key] = rows.pop(key)
    assert encode_state(state) == data


def test_the_order_of_keys_in_data_is_kept_because_expressions_see_it() -> None:
    flow = rehearse("  - {id: a, type: f}\n").start({"b": 1, "a": 2})
    restored = decode_state(encode_state(flow.state), flow.plan)
    assert list(restored.facts.input or ()) == ["b", "a"]  # type: ignore[call-overload]  # it is a dict


def test_collected_outputs_keep_their_keys_in_a_snapshot() -> None:
    flow = rehearse("  - {id: a, type: f}\n")
    row = example(next(kind for kind in structs_within(SnapshotRows) if kind.__name__ == "Collected"))
    for key in (("a", 1), ("a", "1"), ("a:b.1", 0), ("a", "b"), ("b", 10), ("b", 9)):
        flow.state.collected.rows[key] = row  # type: ignore[assignment]  # found by its name
    restored = decode_state(encode_state(flow.state), flow.plan)
    assert restored.collected.rows == flow.state.collected.rows
    assert {type(key) for _, key in restored.collected.rows} == {int, str}


def test_nothing_can_be_undone_behind_a_snapshot() -> None:
    flow = rehearse("  - {id: a, type: f}\n").start()
    restored = decode_state(encode_state(flow.state), flow.plan)
    restored.revert()
    assert tables_of(restored) == tables_of(flow.state)


def test_a_snapshot_of_another_version_of_the_workflow_is_refused() -> None:
    data = encode_state(rehearse("  - {id: a, type: f}\n").start().state)
    with pytest.raises(LayoverError) as caught:
        decode_state(data, rehearse("  - {id: b, type: f}\n").plan)
    assert caught.value.code == "wrong_plan"


def test_a_snapshot_of_another_version_is_refused() -> None:
    flow = rehearse("  - {id: a, type: f}\n").start()
    data = encode_state(flow.state).replace(b'{"v":%d' % SNAPSHOT_VERSION, b'{"v":%d' % (SNAPSHOT_VERSION + 1), 1)
    with pytest.raises(LayoverError) as caught:
        decode_state(data, flow.plan)
    assert caught.value.code == "unknown_snapshot"


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"v":5}', b'{"v":5,"facts":{"gate":"ajar"}}', b"\xff"])
def test_a_corrupted_snapshot_raises_corrupt_snapshot(data: bytes) -> None:
    with pytest.raises(LayoverError) as caught:
        decode_state(data, rehearse("  - {id: a, type: f}\n").plan)
    assert caught.value.code == "corrupt_snapshot"
