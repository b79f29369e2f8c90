from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover.core.definitions import check

from .shared import cleanly, faults, translated

if TYPE_CHECKING:
    from collections.abc import Mapping


def steps(*written: Mapping[str, object], **fields: object) -> dict[str, object]:
    return {"name": "stepped", "steps": list(written), **fields}


def nodes(*written: Mapping[str, object]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = cleanly(steps(*written))["nodes"]
    return made


APPROVAL_DRIVEN: dict[str, object] = {
    "name": "order-approval",
    "steps": [
        {
            "id": "validate-order",
            "type": "condition",
            "condition": {"field": "order.total", "operator": "greater_than", "value": 1000},
            "on_true": "approve-order",
            "on_false": "complete",
        },
        {
            "id": "approve-order",
            "type": "action",
            "action": {"type": "block", "reason": "Order requires approval"},
        },
    ],
}


def test_the_approval_driven_workflow_becomes_a_condition_an_approval_and_an_end() -> None:
    assert cleanly(APPROVAL_DRIVEN) == {
        "name": "order-approval",
        "start": ["validate-order"],
        "nodes": [
            {
                "id": "validate-order",
                "type": "condition",
                "if": "input.order.total > 1000",
                "next": {"true": "approve-order"},
            },
            {
                "id": "approve-order",
                "type": "approval",
                "title": "Order requires approval",
                "next": {"rejected": "approve-order-blocked"},
            },
            {
                "id": "approve-order-blocked",
                "type": "end",
                "outcome": "blocked",
                "reason": "Order requires approval",
            },
        ],
    }
    assert faults(APPROVAL_DRIVEN) == []


def test_a_blocked_step_leads_to_its_next_step_when_approved() -> None:
    block = {"id": "ask", "type": "action", "action": {"type": "block", "reason": "Why"}, "next": "go"}
    made = nodes(block, {"id": "go", "action": {"type": "allow"}})
    assert made[0]["next"] == {"approved": "go", "rejected": "ask-blocked"}
    assert made[2] == {"id": "go", "type": "end", "outcome": "allowed"}


def test_the_rules_of_an_approval_may_be_in_the_action() -> None:
    action = {"type": "block", "reason": "Why", "approvers": {"roles": ["cfo"]}, "need": 2}
    (asked, _) = nodes({"id": "ask", "action": action})
    assert asked["approvers"] == {"roles": ["cfo"]}
    assert asked["need"] == 2


def test_a_rejection_may_have_its_own_target() -> None:
    block = {"id": "ask", "action": {"type": "block"}, "next": {"approved": "go", "rejected": "other"}}
    made = nodes(block, {"id": "go", "execute": "a"}, {"id": "other", "execute": "b"})
    assert [node["id"] for node in made] == ["ask", "go", "other"]


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ({"execute": "notify"}, {"type": "notify"}),
        ({"execute": {"name": "notify", "input": {"to": "a"}}}, {"type": "notify", "input": {"to": "a"}}),
        ({"execute": {"type": "notify", "to": "a"}}, {"type": "notify", "input": {"to": "a"}}),
        ({"action": {"type": "execute", "name": "notify", "to": "a"}}, {"type": "notify", "input": {"to": "a"}}),
        (
            {"action": {"type": "execute", "function": "notify", "args": {"n": 1}}},
            {"type": "notify", "input": {"n": 1}},
        ),
        ({"action": {"type": "notify", "to": "a"}}, {"type": "notify", "input": {"to": "a"}}),
        ({"action": {"action": "execute"}, "execute": "notify"}, {"type": "notify"}),
        ({"execute": {"name": "n", "retry": {"maxAttempts": 2}}}, {"type": "n", "retry": {"max_attempts": 2}}),
        ({"execute": "n", "retry": {"maxAttempts": 2}}, {"type": "n", "retry": {"max_attempts": 2}}),
        ({"execute": "n", "retry": {"enabled": False}}, {"type": "n"}),
        (
            {"execute": "n", "timeout": "5s", "on_error": "continue"},
            {"type": "n", "timeout": "5s", "on_error": "continue"},
        ),
        ({"execute": {"name": "n", "x": "@{_vars.a}"}}, {"type": "n", "input": {"x": "${vars.a}"}}),
        ({"execute": {"name": "n", "x": "${input.a}"}}, {"type": "n", "input": {"x": "${input.a}"}}),
        ({"wait": "1h"}, {"type": "delay", "duration": "1h"}),
        ({"wait": 90}, {"type": "delay", "duration": "90s"}),
        ({"wait": {"duration": 5, "unit": "minutes"}}, {"type": "delay", "duration": "5m"}),
        ({"wait": {"duration": "1h30m"}}, {"type": "delay", "duration": "1h30m"}),
        ({"wait": {"until": "2030-01-01T00:00:00Z"}}, {"type": "delay", "until": "2030-01-01T00:00:00Z"}),
        ({"wait": {"event": "paid"}}, {"type": "wait_signal", "signal": "paid"}),
        (
            {"wait": {"signal": "paid", "key": "${input.id}", "timeout": "2d"}},
            {"type": "wait_signal", "signal": "paid", "key": "${input.id}", "deadline": "2d", "on_deadline": "fail"},
        ),
        (
            {"wait": {"event": "paid", "timeout": 60, "on_timeout": "continue"}},
            {"type": "wait_signal", "signal": "paid", "deadline": "60s", "on_deadline": "continue"},
        ),
        ({"type": "approval", "title": "Ours"}, {"type": "approval", "title": "Ours"}),
        ({"name": "Shown", "execute": "n"}, {"type": "n", "label": "Shown"}),
    ],
)
def test_each_part_of_a_step_becomes_a_node(written: dict[str, object], made: dict[str, object]) -> None:
    assert nodes({"id": "s", **written}) == [{"id": "s", **made}]
    assert faults(steps({"id": "s", **written}), functions={"n", "notify"}) == []


def test_a_step_that_does_several_things_becomes_a_chain() -> None:
    written = {
        "id": "s",
        "execute": [{"type": "first", "x": 1}, {"type": "second"}],
        "action": {"type": "allow"},
        "retry": {"maxAttempts": 2},
    }
    assert nodes(written) == [
        {"id": "s", "type": "first", "input": {"x": 1}, "retry": {"max_attempts": 2}, "next": {"done": "s-2"}},
        {"id": "s-2", "type": "second", "retry": {"max_attempts": 2}, "next": {"done": "s-3"}},
        {"id": "s-3", "type": "end", "outcome": "allowed"},
    ]


def test_ids_that_are_made_up_never_collide_with_written_ones() -> None:
    made = nodes({"id": "s", "execute": ["a", "b"], "next": "s-2"}, {"id": "s-2", "execute": "c"})
    assert [(node["id"], node.get("next")) for node in made] == [
        ("s", {"done": "s-3"}),
        ("s-3", {"done": "s-2"}),
        ("s-2", None),
    ]


def test_nothing_falls_through_to_the_step_below() -> None:
    document = steps({"id": "a", "execute": "n"}, {"id": "b", "execute": "n"})
    assert all("next" not in node for node in cleanly(document)["nodes"])
    assert [problem.code for problem in check(document, functions={"n"}).problems] == ["unreachable_node"]


@pytest.mark.parametrize(
    ("written", "made"),
    [("complete", None), (["a", "complete"], {"done": ["a"]}), ("a", {"done": "a"}), (None, None)],
)
def test_complete_ends_the_path(written: object, made: object) -> None:
    first = nodes({"id": "s", "execute": "n", "next": written}, {"id": "a", "execute": "n"})[0]
    assert first.get("next") == made


def test_complete_is_a_step_if_there_is_one_of_that_id() -> None:
    made = nodes({"id": "s", "condition": "input.x", "on_true": "complete"}, {"id": "complete", "execute": "n"})
    assert made[0]["next"] == {"true": "complete"}


def test_a_wait_that_times_out_may_lead_to_a_step() -> None:
    wait = {"event": "paid", "timeout": "1h", "on_timeout": "late"}
    made = nodes({"id": "w", "wait": wait, "next": "ok"}, {"id": "ok", "execute": "n"}, {"id": "late", "execute": "n"})
    assert made[0]["on_deadline"] == "expired"
    assert made[0]["next"] == {"done": "ok", "expired": "late"}


def test_a_wait_that_times_out_may_end_its_path() -> None:
    document = steps({"id": "w", "wait": {"event": "paid", "timeout": "1h", "on_timeout": "complete"}})
    made = cleanly(document)["nodes"]
    assert made[0]["next"] == {"expired": "w-expired"}
    assert made[1] == {"id": "w-expired", "type": "compute", "output": None}
    assert faults(document) == []


def test_a_loop_has_steps_for_its_body() -> None:
    body = [{"id": "c", "condition": {"field": "outer.x", "operator": "eq", "value": 1}, "on_true": "complete"}]
    made = nodes(
        {"id": "outer", "execute": "n", "next": "l"},
        {"id": "l", "type": "loop", "for_each": "input.lines", "steps": body},
    )
    assert made[1]["body"] == [{"id": "c", "type": "condition", "if": "nodes.outer.x == 1"}]


def test_the_envelope_of_a_step_list_is_kept_out_of_the_way() -> None:
    made = cleanly(
        {
            "workflow_id": "high_value",
            "name": "High Value Order",
            "version": "1.0.0",
            "enabled": True,
            "trigger": {"type": "event", "event": "order.created"},
            "definition": {"steps": [{"id": "s", "action": {"type": "allow"}}]},
        }
    )
    assert made == {
        "name": "high_value",
        "x-name": "High Value Order",
        "x-workflow-id": "high_value",
        "x-version": "1.0.0",
        "x-enabled": True,
        "x-triggers": [{"type": "event", "event": "order.created"}],
        "triggers": [{"name": "trigger", "type": "signal", "signal": "order.created"}],
        "nodes": [{"id": "s", "type": "end", "outcome": "allowed"}],
        "start": ["s"],
    }


@pytest.mark.parametrize(
    ("written", "code", "said"),
    [
        ({"condition": "input.x", "action": {"type": "allow"}}, "exactly_one", "split it in two steps"),
        ({"condition": "input.x", "next": "s"}, "unknown_port", "`on_true` and `on_false`"),
        ({"execute": {"to": "a"}}, "missing_field", "needs a `name`"),
        ({"action": {"type": "execute"}}, "missing_field", "needs a `name`"),
        ({"wait": {}}, "missing_field", "A wait needs a `duration`"),
        ({"wait": {"duration": 5, "unit": "moons"}}, "bad_value", "`unit` is one of"),
        ({"action": {"type": "allow"}, "next": "s"}, "useless_field", "nothing can follow it"),
    ],
)
def test_an_invalid_step_is_refused_with_a_sentence(written: dict[str, object], code: str, said: str) -> None:
    _, problems = translated(steps({"id": "s", **written}))
    assert [problem.code for problem in problems] == [code]
    assert said in problems[0].message


def test_unknown_fields_are_left_for_the_reader_to_report() -> None:
    found = check(steps({"id": "s", "execute": "n", "colour": "red"}), functions={"n"}).problems
    assert [(problem.code, problem.path) for problem in found] == [("unknown_field", "$.steps[0].colour")]
