"""Notifications in a definition and in settings: what is accepted and refused, and what belongs to the hash."""

from __future__ import annotations

from typing import Any

import pytest

from layover import InvalidDefinition, InvalidInput, Settings, Workflow
from layover.core.definitions import check, content_hash, document
from layover.core.definitions.destinations import interval_of, read_destination
from layover.core.plan import load
from layover.settings import runtime_settings

NODES = [{"id": "a", "type": "compute", "output": 1}]
MAIL = {"kind": "mail", "address": "smtp://localhost:25", "from": "Layover <no-reply@example.org>"}


def checked(*rules: Any, **more: Any) -> Any:
    return check({"name": "w", "nodes": NODES, "notify": list(rules), **more})


def codes(*rules: Any, **more: Any) -> list[str]:
    return [problem.code for problem in checked(*rules, **more).problems]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"on": []}, "bad_value"),
        ({"on": "pause.open"}, "bad_value"),
        ({"on": 3}, "bad_value"),
        ({"to": "peple"}, "bad_recipient"),
        ({"to": ["ann"]}, "bad_recipient"),
        ({"to": "user:"}, "bad_recipient"),
        ({"to": "role:a\nBcc: b"}, "bad_recipient"),
        ({"to": "ann@example.org\nBcc: b@example.org"}, "bad_recipient"),
        ({"to": "Ann <ann@example.org>"}, "bad_recipient"),
        ({"to": "${execution.user}"}, "bad_recipient"),
        ({"to": ["requester"] * 101}, "too_long"),
        ({"on": ["pause.opened", "execution.failed"], "to": "people"}, "bad_recipient"),
        ({"on": "trigger.error", "to": "people"}, "bad_recipient"),
        ({"via": "ops chat"}, "bad_name"),
        ({"via": "x" * 64}, "too_long"),
        ({"via": 3}, "bad_type"),
        ({"via": ["mail"]}, "bad_type"),
        ({"via": {"webhook": "ftp://erp.example"}}, "bad_value"),
        ({"via": {"webhook": "${input.url}"}}, "bad_value"),
        ({"via": {"webhok": "https://erp.example"}}, "unknown_field"),
        ({"via": {"webhook": "https://erp.example", "secret": "ERP_HOOK"}}, "undeclared_secret"),
        ({"via": {"webhook": "https://erp.example", "secret": "erp"}}, "bad_name"),
        ({"message": {"subject": "no text"}}, "missing_field"),
        ({"message": {"text": "${input.x}"}}, "expression_unknown_name"),
        ({"message": {"text": "${secrets.KEY}"}}, "secret_exposed"),
        ({"message": {"text": "${event."}}, "expression_syntax"),
        ({"when": "true"}, "unknown_field"),
    ],
)
def test_a_notification_that_cannot_work_is_a_problem(fields: dict[str, Any], code: str) -> None:
    found = codes({"on": "pause.opened", "via": "mail", **fields})
    assert found[0] == code, found


def test_a_word_that_is_nearly_right_is_suggested() -> None:
    problem, *_ = checked({"on": "pause.open", "to": "peple", "via": "mail"}).problems
    assert "Did you mean `pause.opened`?" in problem.message
    assert "Did you mean `people`?" in checked({"on": "pause.opened", "to": "peple", "via": "mail"}).problems[0].message


def test_single_words_stand_for_lists() -> None:
    short = checked({"on": "pause.opened", "to": "people", "via": "mail"})
    long = checked({"on": ["pause.opened"], "to": ["people"], "via": "mail"})
    assert short.problems == long.problems == ()
    assert content_hash(short.definition) == content_hash(long.definition)


def test_a_definition_without_notifications_keeps_its_hash() -> None:
    bare = check({"name": "w", "nodes": NODES}).definition
    assert content_hash(checked().definition) == content_hash(bare)
    assert "notify" not in document(bare)


@pytest.mark.parametrize(
    "changed",
    [
        {"on": ["pause.opened", "pause.expired"]},
        {"to": "requester"},
        {"via": "ops-chat"},
        {"message": {"text": "Hello"}},
    ],
)
def test_all_of_a_notification_belongs_to_the_hash(changed: dict[str, Any]) -> None:
    rule = {"on": "pause.opened", "to": "people", "via": "mail"}
    assert content_hash(checked(rule).definition) != content_hash(checked({**rule, **changed}).definition)


def test_python_and_yaml_say_the_same() -> None:
    flow = Workflow("w", secrets=["ERP_HOOK"])
    flow.compute("a", 1)
    flow.notify("pause.opened", to="people", via="mail")
    flow.notify(
        ["execution.failed"],
        via={"webhook": "https://erp.example/hook", "secret": "ERP_HOOK"},
        subject="Failed",
        text="${execution.id} of ${workflow}",
    )
    rules = [
        {"on": ["pause.opened"], "to": ["people"], "via": "mail"},
        {
            "on": "execution.failed",
            "via": {"webhook": "https://erp.example/hook", "secret": ["ERP_HOOK"]},
            "message": {"subject": "Failed", "text": "${execution.id} of ${workflow}"},
        },
    ]
    assert flow.hash == content_hash(checked(*rules, secrets=["ERP_HOOK"]).definition)
    assert Workflow.from_yaml(flow.to_yaml()).hash == flow.hash


def test_a_plan_knows_the_kinds_that_its_rules_notify_of() -> None:
    rules = [{"on": ["pause.opened", "pause.expired"], "via": "mail"}, {"on": "pause.opened", "via": "chat"}]
    plan = load({"name": "w", "nodes": NODES, "notify": rules})
    assert plan.occasions == {"pause.opened", "pause.expired"}
    assert load({"name": "w", "nodes": NODES}).occasions == frozenset()


# Settings


def test_settings_have_notifications_and_destinations_like_a_definition() -> None:
    rule = {"on": "execution.failed", "via": "ops", "message": {"text": "${workflow} failed"}}
    settings = Settings(notify=[rule], destinations={"ops": {"kind": "chat", "address": {"secret": "OPS_CHAT"}}})
    made = runtime_settings(settings)
    assert [one.definition.via for one in made.notify] == ["ops"]
    assert made.destinations["ops"].ordered


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"notify": [{"on": "execution.faild", "via": "ops"}]}, "notify[0].on"),
        ({"notify": {"on": "execution.failed"}}, "notify"),
        ({"notify": [{"on": "execution.failed", "via": "ops", "message": {"text": "${x}"}}]}, "notify[0].message.text"),
        ({"destinations": {"a b": MAIL}}, "destinations"),
        ({"destinations": [MAIL]}, "destinations"),
        ({"destinations": {"m": {**MAIL, "from": ""}}}, "destinations.m.from"),
        ({"directory": 3}, "directory"),
        ({"directory": "nowhere:people"}, "directory"),
    ],
)
def test_settings_that_cannot_work_are_refused_with_the_place(given: dict[str, Any], where: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        runtime_settings(Settings(**given))
    assert refused.value.errors[0][0] == where


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "pigeon"},
        {"address": "https://example.org"},
        {"address": "smtp://"},
        {"address": {"secret": "lower"}},
        {"address": "smtp://a\r\nb"},
        {"from": "nobody"},
        {"from": "a@example.org\nBcc: b@example.org"},
        {"rate": "often"},
        {"rate": "0/s"},
        {"rate": "5/0s"},
        {"timeout": "0s"},
        {"timeout": "6m"},
        {"headers": {"a b": "c"}},
        {"headers": {"a": "c\r\nd: e"}},
        {"headers": {"a": {"secret": "x"}}},
        {"headers": {"a": 3}},
        {"include": ["everything"]},
        {"colour": "red"},
    ],
)
def test_a_destination_that_cannot_work_is_refused(changed: dict[str, Any]) -> None:
    read_destination(MAIL)
    with pytest.raises(InvalidDefinition):
        read_destination({**MAIL, **changed})


@pytest.mark.parametrize(("rate", "interval"), [("1/s", 1_000), ("100/m", 600), ("20/10s", 500), ("999999/s", 1)])
def test_a_rate_is_an_interval(rate: str, interval: int) -> None:
    assert interval_of(rate) == interval
