"""Triggers in a definition: what `check` accepts and refuses, and what belongs to the hash."""

from __future__ import annotations

from typing import Any

import pytest

from layover import Batch, CatchUp, InputDelivery, Workflow, source
from layover.authoring.errors import BadBuild
from layover.core.definitions import Parameters, check, content_hash, document


@source
def mailbox(cursor: str | None, folder: str) -> Batch:  # noqa: ARG001 - it finds nothing
    """Find nothing."""
    return Batch()


NODES = [{"id": "a", "type": "compute", "output": 1}]


def checked(*triggers: dict[str, Any], **more: Any) -> Any:
    return check({"name": "w", "nodes": NODES, "triggers": list(triggers), **more})


def codes(*triggers: dict[str, Any], **more: Any) -> list[str]:
    return [problem.code for problem in checked(*triggers, **more).problems]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"type": "schedule"}, "bad_schedule"),
        ({"type": "schedule", "cron": "@daily", "every": "1h"}, "bad_schedule"),
        ({"type": "schedule", "cron": "61 * * * *"}, "bad_schedule"),
        ({"type": "schedule", "cron": "0 0 30 2 *"}, "bad_schedule"),
        ({"type": "schedule", "every": "999ms"}, "bad_schedule"),
        ({"type": "schedule", "every": "1h", "zone": "Mars/Olympus"}, "unknown_zone"),
        ({"type": "schedule", "every": "1h", "from": "2027-01-02", "until": "2027-01-01"}, "bad_schedule"),
        ({"type": "schedule", "every": "1h", "from": "tomorrow"}, "bad_instant"),
        ({"type": "schedule", "every": "1h", "often": True}, "unknown_field"),
        ({"type": "schedule", "every": "1h", "id": "x"}, "unknown_field"),
        ({"type": "signal"}, "missing_field"),
        ({"type": "signal", "signal": "s", "deliver": {"signal": "s"}}, "trigger_feeds_itself"),
        ({"type": "signal", "signal": "s", "input": "${input.x}"}, "expression_unknown_name"),
        ({"type": "signal", "signal": "s", "filter": "1 + 1"}, "expression_type"),
        ({"type": "signal", "signal": "s", "input": "${secrets.KEY}"}, "secret_exposed"),
        ({"type": "poll"}, "missing_field"),
        ({"type": "poll", "source": "a b"}, "bad_name"),
        ({"type": "tides"}, "unknown_trigger_type"),
        ({"signal": "s"}, "missing_field"),
    ],
)
def test_a_trigger_that_cannot_work_is_a_problem(fields: dict[str, Any], code: str) -> None:
    assert codes({"name": "t", **fields}) == [code]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"every": "999ms"}, "bad_value"),
        ({"timeout": "999ms"}, "bad_value"),
        ({"timeout": "61m"}, "bad_value"),
        ({"with": {"cursor": "1"}}, "bad_value"),
        ({"with": [1]}, "bad_type"),
        ({"source": "mailbx"}, "unknown_source"),
        ({"with": {"folder": "a", "colour": "b"}}, "unknown_argument"),
        ({"with": {}}, "missing_argument"),
    ],
)
def test_a_poll_that_cannot_work_is_a_problem(fields: dict[str, Any], code: str) -> None:
    known = {"source:mailbox": Parameters(required=("folder",))}
    trigger = {"name": "t", "type": "poll", "source": "mailbox", "with": {"folder": "INBOX"}, **fields}
    found = check({"name": "w", "nodes": NODES, "triggers": [trigger]}, functions=known)
    assert [problem.code for problem in found.problems] == [code]


def test_a_source_is_no_node_type_and_a_node_type_no_source() -> None:
    trigger = {"name": "t", "type": "poll", "source": "mailbox"}
    nodes = [{"id": "a", "type": "mailbox"}]
    found = check({"name": "w", "nodes": nodes, "triggers": [trigger]}, functions=["mailbox"])
    assert [problem.code for problem in found.problems] == ["unknown_source"]
    found = check({"name": "w", "nodes": nodes, "triggers": [trigger]}, functions=["source:mailbox"])
    assert [problem.code for problem in found.problems] == ["unknown_type"]


def test_a_source_is_only_warned_about_where_functions_are_not_known() -> None:
    found = checked({"name": "t", "type": "poll", "source": "mailbox"})
    assert found.ok
    assert [(one.code, one.severity) for one in found.problems] == [("unknown_source", "warning")]


def test_two_triggers_of_one_name_are_a_problem() -> None:
    one = {"name": "t", "type": "signal", "signal": "s"}
    assert codes(one, one) == ["duplicate_trigger"]


def test_a_name_is_an_id() -> None:
    assert codes({"name": "a b", "type": "signal", "signal": "s"}) == ["bad_name"]


def test_a_queue_beside_a_concurrency_limit_is_a_problem() -> None:
    schedule = {"name": "t", "type": "schedule", "every": "1h", "overlap": "queue"}
    assert codes(schedule, settings={"concurrency": {"limit": 1}}) == ["bad_schedule"]


def test_making_up_for_everything_while_skipping_is_warned_about() -> None:
    found = checked({"name": "t", "type": "schedule", "every": "1h", "catch_up": {"which": "all"}})
    assert found.ok
    assert [problem.code for problem in found.problems] == ["catch_up_skipped"]


def test_a_changed_trigger_is_another_hash_and_its_order_is_not() -> None:
    first = {"name": "a", "type": "schedule", "every": "1h"}
    second = {"name": "b", "type": "signal", "signal": "s", "tags": ["x"]}
    hashes = {
        content_hash(checked(*triggers).definition)
        for triggers in ((first, second), (second, first), (first,), (first, {**second, "tags": ["y"]}))
    }
    assert len(hashes) == 3


def test_a_definition_without_triggers_keeps_its_hash() -> None:
    bare = check({"name": "w", "nodes": NODES}).definition
    assert content_hash(bare) == content_hash(checked().definition)


def test_python_writes_the_same_triggers_as_yaml() -> None:
    flow = Workflow("w")
    flow.compute("a", 1)
    flow.on_schedule("nightly", cron="@daily", zone="Europe/Berlin", from_="2027-01-01", catch_up=CatchUp(which="none"))
    flow.on_signal("created", "order.created", deliver=InputDelivery("order.seen"))
    flow.on_poll("mail", mailbox, with_={"folder": "INBOX"}, every="5m")
    same = checked(
        {
            "name": "nightly",
            "type": "schedule",
            "cron": "@daily",
            "zone": "Europe/Berlin",
            "from": "2027-01-01",
            "catch_up": {"which": "none"},
        },
        {"name": "created", "type": "signal", "signal": "order.created", "deliver": {"signal": "order.seen"}},
        {"name": "mail", "type": "poll", "source": "mailbox", "with": {"folder": "INBOX"}, "every": "5m"},
    ).definition
    assert flow.hash == content_hash(same)
    assert document(flow.definition) == document(same)
    assert Workflow.from_yaml(flow.to_yaml()).hash == flow.hash


def test_a_workflow_brings_its_source_along() -> None:
    flow = Workflow("w")
    flow.compute("a", 1)
    flow.on_poll("mail", mailbox)
    flow.on_poll("more", "elsewhere")
    assert flow.functions == (mailbox,)
    assert [problem.code for problem in flow.check(["source:mailbox"]).problems] == ["unknown_source"]


def test_two_sources_of_one_name_are_refused() -> None:
    @source(name="mailbox")
    def other(cursor: str | None) -> Batch:  # noqa: ARG001 - as above
        return Batch()

    flow = Workflow("w")
    flow.on_poll("mail", mailbox)
    with pytest.raises(BadBuild):
        flow.on_poll("more", other)
    with pytest.raises(BadBuild):
        flow.on_poll("more", len)  # type: ignore[arg-type]  # Python lets it
