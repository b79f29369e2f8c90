"""The two forms of a line."""

from __future__ import annotations

import logging
import re
import sys
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from layover.logs import CallFilter, JsonFormatter, TextFormatter
from layover.logs.capture import NODE_LOGGER
from layover.logs.context import CURRENT_CALL
from layover.redaction import forget_secret, register_secret

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Call:
    def log_ids(self) -> dict[str, object]:
        return {"execution": "e-1", "workflow": "orders", "node": "charge", "attempt": 2}


@pytest.fixture
def call() -> Iterator[None]:
    """Write lines inside a call."""
    token = CURRENT_CALL.set(_Call())
    yield
    CURRENT_CALL.reset(token)


def _record(message: str, *args: object, name: str = "layover.driver", **extra: object) -> logging.LogRecord:
    record = logging.LogRecord(name, logging.WARNING, "file.py", 1, message, args, None)
    record.created = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC).timestamp()
    record.msecs = 7
    record.__dict__.update(extra)
    return record


def _json(record: logging.LogRecord) -> dict[str, Any]:
    line = JsonFormatter().format(record)
    assert "\n" not in line
    found: dict[str, Any] = msgspec.json.decode(line)
    return found


def test_a_line_for_people_has_the_event_first_then_its_fields() -> None:
    line = TextFormatter().format(_record("lease_lost execution=%s epoch=%d", "e-1", 3))
    assert line == "2026-05-04T03:02:01.007Z warning lease_lost execution=e-1 epoch=3 logger=layover.driver"


def test_a_line_for_machines_has_the_event_first_and_values_of_their_types() -> None:
    line = JsonFormatter().format(_record("lease_lost execution=%s epoch=%d", "e-1", 3))
    assert line.startswith('{"event":"lease_lost","time":"2026-05-04T03:02:01.007Z","level":"warning"')
    assert msgspec.json.decode(line)["epoch"] == 3


def test_a_value_with_spaces_is_quoted_and_cannot_pass_for_another_field() -> None:
    line = TextFormatter().format(_record("load_failed execution=%s error=%s", "e-1", 'gone "away" level=info\nhaha'))
    assert r'error="gone \"away\" level=info\nhaha"' in line
    assert "\n" not in line


def test_fields_without_a_value_are_left_out_of_a_line_for_people() -> None:
    line = TextFormatter().format(_record("x_y by=%s reason=%s n=%d", None, "", 0))
    assert " x_y n=0 logger=" in line


def test_a_message_of_others_is_the_event_and_extra_are_its_fields() -> None:
    record = _record("Charged %s", "card 7", name="shop", order=12, paid=True)
    assert _json(record) | {"event": "Charged card 7", "order": 12, "paid": True} == _json(record)
    assert "Charged card 7 order=12 paid=true logger=shop" in TextFormatter().format(record)


def test_a_message_with_several_lines_cannot_forge_a_line() -> None:
    line = TextFormatter().format(_record("hello\n2026-05-04 info all_well\x1b[2J", name="shop"))
    first, second = line.splitlines()
    assert first.endswith("hello")
    assert second.startswith("    2026")
    assert "\x1b" not in line


@pytest.mark.usefixtures("call")
def test_a_line_inside_a_call_has_its_ids() -> None:
    line = _json(_record("hello", name="shop"))
    assert (line["execution"], line["workflow"], line["node"], line["attempt"]) == ("e-1", "orders", "charge", 2)
    text = TextFormatter().format(_record("hello", name="shop"))
    assert "hello execution=e-1 workflow=orders node=charge attempt=2" in text


@pytest.mark.usefixtures("call")
def test_an_id_wins_over_a_field_of_the_same_name_which_is_kept_beside_it() -> None:
    line = _json(_record("hello", name="shop", node="mine", event="theirs"))
    assert (line["node"], line["extra_node"]) == ("charge", "mine")
    assert (line["event"], line["extra_event"]) == ("hello", "theirs")


@pytest.mark.usefixtures("call")
def test_a_filter_gives_the_ids_to_other_formats_and_adds_nothing_to_ours() -> None:
    record = _record("hello", name="shop")
    before = _json(_record("hello", name="shop"))
    assert CallFilter().filter(record)
    assert logging.Formatter("%(node)s/%(attempt)s/%(request)s|%(message)s").format(record) == "charge/2/|hello"
    assert _json(record) == before


def test_a_filter_outside_a_call_leaves_the_fields_of_our_events_alone() -> None:
    record = _record("lease_lost execution=%s epoch=%d", "e-1", 3)
    CallFilter().filter(record)
    assert _json(record)["execution"] == "e-1"
    assert "node" not in _json(record)


@pytest.mark.parametrize("formatter", [TextFormatter(), JsonFormatter()])
def test_credentials_are_masked_in_messages_fields_and_tracebacks(formatter: logging.Formatter) -> None:
    secret = "s3cr3t-value-9000"  # noqa: S105 - it must not be seen
    try:
        raise RuntimeError(f"postgresql://user:{secret}@db/x")  # noqa: TRY301 - it is the one that is shown
    except RuntimeError:
        error = sys.exc_info()
    extra = {"password": secret, "nested": {"api_key": secret}, "url": f"x://u:{secret}@h"}
    record = _record(f"token={secret}", name="shop", **extra)
    record.exc_info = error
    line = formatter.format(record)
    assert secret not in line
    assert line.count("[redacted]") >= 5
    assert "RuntimeError" in line


@pytest.mark.parametrize(
    "value", [object(), {1: b"\xff"}, "\ud800", float("nan"), [object()], {"a": {2, 1}}, b"\xff", 10**400]
)
def test_whatever_is_passed_a_line_is_written(value: object) -> None:
    assert "odd" in _json(_record("hello", name="shop", odd=value))
    assert "odd=" in TextFormatter().format(_record("hello", name="shop", odd=value)) or value != value  # noqa: PLR0124


def test_colours_are_only_where_they_are_asked_for() -> None:
    record = _record("lease_lost execution=%s epoch=%d", "e-1", 3)
    coloured = TextFormatter(colour=True).format(record)
    assert "\x1b[33mwarning" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == TextFormatter().format(record)


@pytest.mark.parametrize("args", [(1,), ("a", "b"), (1, 2, 3)])
def test_a_message_that_does_not_fit_its_arguments_is_logged_beside_them(args: tuple[object, ...]) -> None:
    record = _record("%d of %d, token=hunter2222", *args, name="shop")
    assert _json(record)["event"] == f"%d of %d, token=[redacted] {args!r}"


def test_what_turns_text_around_is_escaped() -> None:
    line = TextFormatter().format(_record("a \u202e b \u2066", name="shop"))
    assert r"a \u202e b \u2066" in line


@pytest.mark.parametrize("formatter", [TextFormatter(), JsonFormatter()])
def test_a_secret_that_is_the_whole_message_of_a_node_is_masked(formatter: logging.Formatter) -> None:
    secret = "hunter2hunter2"  # noqa: S105 - it must not be seen; it has the form of an event
    register_secret(secret, "db")
    try:
        assert secret not in formatter.format(_record(secret, name=NODE_LOGGER))
    finally:
        forget_secret(secret)


def test_a_message_whose_argument_is_a_mapping_is_logged_as_it_is() -> None:
    record = _record("read of=%s", MappingProxyType({"a": 1}))
    assert _json(record)["event"] == "read of={'a': 1}"
