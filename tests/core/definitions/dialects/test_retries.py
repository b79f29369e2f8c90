from __future__ import annotations

import pytest

from layover.core.definitions.dialects import translate
from layover.core.definitions.problems import Problems
from layover.core.definitions.tree import tree_from_data

from .shared import action, builder, cleanly, faults, one, translated


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ({"enabled": True}, {}),
        ({"enabled": True, "maxAttempts": 3}, {"max_attempts": 3}),
        ({"maxRetries": 3}, {"max_attempts": 4}),
        ({"enabled": True, "waitDuration": 1000}, {"delay": "1000ms"}),
        ({"enabled": True, "waitDuration": 1500.0}, {"delay": "1500ms"}),
        ({"enabled": True, "waitDuration": "2s"}, {"delay": "2s"}),
        ({"enabled": True, "waitDuration": 0}, {"delay": "0s"}),
        ({"enabled": True, "maxDelay": 60000}, {"max_delay": "60000ms"}),
        ({"enabled": True, "exponentialBackoff": True, "multiplier": 3}, {"multiplier": 3}),
        ({"enabled": True, "exponentialBackoff": False, "multiplier": 3}, {"multiplier": 1}),
        ({"enabled": True, "retryOn": ["IOException", 429]}, {"retry_on": ["IOException", "429"]}),
        ({"enabled": True, "retryOn": "5xx"}, {"retry_on": ["5xx"]}),
        ({"enabled": True, "ignoreExceptions": ["4xx"]}, {"ignore": ["4xx"]}),
        ({"strategy": "immediate"}, {"delay": "0s", "multiplier": 1}),
        ({"strategy": "fixed_delay"}, {"delay": "300s", "multiplier": 1}),
        ({"strategy": "fixed_delay", "fixedDelay": 20}, {"delay": "20s", "multiplier": 1}),
        ({"strategy": "exponential_backoff"}, {"delay": "60s"}),
        (
            {"strategy": "EXPONENTIAL_BACKOFF", "initialDelay": 5, "multiplier": 3, "maxDelay": 90, "maxAttempts": 4},
            {"delay": "5s", "max_delay": "90s", "multiplier": 3, "max_attempts": 4},
        ),
        ({"strategy": "custom"}, {"delay": "1d", "multiplier": 1, "max_delay": "4w2d"}),
        ({"enabled": True, "waitDuration": 7_200_000}, {"delay": "7200000ms", "max_delay": "4w2d"}),
        ({"max_attempts": 5, "delay": "1s"}, {"max_attempts": 5, "delay": "1s"}),
        ("forever", "forever"),
    ],
)
def test_a_retry_policy_becomes_ours(written: object, made: object) -> None:
    assert one(action("api-call", {"url": "https://a.example", "retry": written}))["retry"] == made


def test_a_disabled_retry_policy_is_dropped() -> None:
    node = one(action("api-call", {"url": "https://a.example", "retry": {"enabled": False, "maxAttempts": 3}}))
    assert "retry" not in node


@pytest.mark.parametrize(
    "written", [{"maxAttempts": 3}, {"waitDuration": 1000}, {"retryOn": ["5xx"]}, {"exponentialBackoff": True}]
)
def test_a_policy_of_a_builder_is_off_unless_it_is_enabled(written: dict[str, object]) -> None:
    made, (problem,) = translated(builder(action("api-call", {"url": "https://a.example", "retry": written})))
    assert "retry" not in made["nodes"][0]
    assert (problem.code, problem.severity, problem.path) == ("retry_disabled", "warning", "$.nodes[0].config.retry")


def test_a_retry_policy_is_found_beside_the_configuration() -> None:
    node = one(action("api-call", {"url": "https://a.example"}, retry={"enabled": True, "maxAttempts": 2}))
    assert node["retry"] == {"max_attempts": 2}


def test_an_unknown_strategy_is_refused() -> None:
    node = action("api-call", {"url": "https://a.example", "retry": {"strategy": "often"}})
    _, (problem,) = translated({"name": "x", "nodes": [node]})
    assert problem.path == "$.nodes[0].config.retry.strategy"
    assert "`immediate`, `fixed_delay`, `exponential_backoff`, `custom`" in problem.message


def test_a_foreign_policy_is_accepted_in_our_own_form_at_any_depth() -> None:
    work = {"id": "w", "type": "work", "retry": {"enabled": True, "maxAttempts": 3}}
    off = {"id": "off", "type": "work", "retry": {"enabled": False}}
    loop = {"id": "l", "type": "loop", "for_each": "[]", "body": [work]}
    parallel = {"id": "p", "type": "parallel", "branches": [{"id": "b", "body": {"nodes": [work]}}]}
    made = cleanly({"name": "own", "nodes": [work, off, loop, parallel]})["nodes"]
    ours = {"id": "w", "type": "work", "retry": {"max_attempts": 3}}
    assert made[0] == ours
    assert made[1] == {"id": "off", "type": "work"}
    assert made[2]["body"] == [ours]
    assert made[3]["branches"] == [{"id": "b", "body": {"nodes": [ours]}}]


def test_the_body_of_a_request_is_data_even_if_it_looks_like_nodes() -> None:
    body = {"nodes": [{"id": "w", "retry": {"maxAttempts": 3}}]}
    document = {"name": "own", "nodes": [{"id": "h", "type": "http", "url": "https://a.example", "body": body}]}
    assert cleanly(document) == document


def test_our_own_form_comes_back_as_the_very_same_tree() -> None:
    tree = tree_from_data(
        {"name": "own", "nodes": [{"id": "a", "type": "work", "retry": {"max_attempts": 3}}], "edges": []}
    )
    assert translate(tree, Problems()) is tree


@pytest.mark.parametrize("strategy", ["immediate", "fixed_delay", "exponential_backoff", "custom"])
def test_every_strategy_is_accepted_by_the_checker(strategy: str) -> None:
    node = action("api-call", {"url": "https://a.example", "retry": {"strategy": strategy}})
    assert faults({"name": "x", "nodes": [node]}) == []
