"""Triggers of foreign documents become ours, and are kept whole beside them."""

from __future__ import annotations

from typing import Any

import pytest

from layover.core.definitions import check

from .shared import builder, cleanly, faults, logic


def built(kind: str, **config: Any) -> dict[str, object]:
    trigger = {"nodeId": "t", "type": "trigger", "subType": kind, "config": config, "next": "n"}
    return builder(trigger, logic("delay", {"duration": 1}))


def made(kind: str, **config: Any) -> list[dict[str, Any]]:
    document = built(kind, **config)
    found: list[dict[str, Any]] = cleanly(document).get("triggers", [])
    assert faults(document) == []
    return found


def test_a_scheduler_is_a_schedule() -> None:
    config = {
        "cronExpression": "30 2 * * 1-5",
        "timezone": "Europe/Berlin",
        "startDate": "2026-01-01",
        "endDate": "2027-01-01T00:00:00Z",
        "repeat": True,
        "data": {"x": 1},
    }
    assert made("scheduler", **config) == [
        {
            "name": "t",
            "type": "schedule",
            "cron": "30 2 * * 1-5",
            "zone": "Europe/Berlin",
            "from": "2026-01-01",
            "until": "2027-01-01T00:00:00Z",
            "data": {"x": 1},
        }
    ]


@pytest.mark.parametrize(("repeat", "times"), [(False, 1), (3, 3), (True, None), ("", None)])
def test_a_scheduler_may_be_bounded(repeat: object, times: int | None) -> None:
    (trigger,) = made("scheduler", cronExpression="0 0 * * *", repeat=repeat)
    assert trigger.get("times") == times


def test_an_event_is_a_signal_with_its_filter_and_its_consumer_group_is_kept_and_unused() -> None:
    filtered = {"eventType": "user.created", "conditions": {"user.plan": 'p"ro', "user.age": 18, "ok": True}}
    document = built("event", topic="users", consumerGroup="g1", brokers=["b:9092"], filter=filtered)
    translated = cleanly(document)
    assert translated["triggers"] == [
        {
            "name": "t",
            "type": "signal",
            "signal": "users",
            "filter": 'trigger.data.eventType == "user.created" && trigger.data.user.plan == "p\\"ro" '
            "&& trigger.data.user.age == 18 && trigger.data.ok == true",
        }
    ]
    assert translated["x-triggers"][0]["config"]["consumerGroup"] == "g1"
    assert faults(document) == []


def test_a_call_from_outside_is_a_webhook_with_a_token() -> None:
    assert made("api-call", endpointPath="/users", httpMethod="POST") == [
        {"name": "t", "type": "webhook", "verify": {"scheme": "token"}}
    ]


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("event", {"topic": "users", "filter": "anything but data"}),
        ("event", {"topic": "users", "filter": {"conditions": {"a b": 1}}}),
        ("event", {"topic": "users", "filter": {"conditions": {"a": [1]}}}),
        ("event", {"consumerGroup": "g1"}),
        ("scheduler", {"timezone": "UTC"}),
        ("api-call", {"endpointPath": "/users", "httpMethod": "GET"}),
    ],
)
def test_what_ours_cannot_say_is_only_kept(kind: str, config: dict[str, Any]) -> None:
    assert made(kind, **config) == []
    assert cleanly(built(kind, **config))["x-triggers"][0]["config"] == config


def test_a_line_that_can_never_happen_is_refused_where_it_stands() -> None:
    problems = [
        one for one in check(built("scheduler", cronExpression="0 0 31 2 *")).problems if one.severity == "error"
    ]
    assert [one.code for one in problems] == ["bad_schedule"]


def test_triggers_of_ours_in_a_foreign_document_count_alone() -> None:
    own = {"name": "own", "type": "signal", "signal": "s"}
    assert cleanly({**built("event", topic="users"), "triggers": [own]})["triggers"] == [own]
