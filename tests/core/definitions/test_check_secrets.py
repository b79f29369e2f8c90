"""Secrets in definitions: declared, alone, and only where they are given to a call."""

from __future__ import annotations

import pytest

from layover.core.definitions import check
from layover.core.plan import load


def test_a_secret_is_refused_but_not_in_a_version_that_is_stored() -> None:
    node = {"id": "a", "type": "http", "url": "https://a.example", "headers": {"key": "${secrets.TOKEN}"}}
    document = {"name": "x", "nodes": [node]}
    (problem,) = check(document).problems
    assert (problem.code, problem.path, problem.severity) == ("undeclared_secret", "$.nodes[0].headers.key", "error")
    assert check(document, stored=True).ok
    assert check({**document, "secrets": ["TOKEN"]}).ok


SECRET_PROBLEMS = {
    "within a longer text": ({"bearer": "Bearer ${secrets.KEY}"}, "secret_not_alone"),
    "beside another": ({"bearer": "${secrets.KEY}${secrets.KEY}"}, "secret_not_alone"),
    "within an expression": ({"bearer": "${input.live ? secrets.KEY : ''}"}, "secret_not_alone"),
    "all of them": ({"bearer": "${secrets}"}, "secret_not_alone"),
    "by a name that is computed": ({"bearer": "${secrets[input.name]}"}, "secret_not_alone"),
    "through a function": ({"bearer": "${size(secrets.KEY)}"}, "secret_not_alone"),
    "one that is not declared": ({"bearer": "${secrets.KEI}"}, "undeclared_secret"),
    "as the log writes it": ({"bearer": {"$secret": "KEY"}}, "reserved_key"),
    "as the log writes it, deeper": ({"a": [{"b": {"$secret": "OTHER", "c": 1}}]}, "reserved_key"),
}


@pytest.mark.parametrize("how", SECRET_PROBLEMS)
def test_a_secret_stands_alone_and_is_declared(how: str) -> None:
    auth, code = SECRET_PROBLEMS[how]
    node = {"id": "a", "type": "http", "url": "https://a.example", "auth": auth}
    found = check({"name": "x", "secrets": ["KEY"], "nodes": [node]}).problems
    assert {problem.code for problem in found} == {code}


NOWHERE_ELSE: dict[str, dict[str, object]] = {
    "the input of a child": {"type": "workflow", "workflow": "y", "input": {"a": "${secrets.KEY}"}},
    "a callback that calls nothing": {"type": "callback", "input": {"a": "${secrets.KEY}"}},
    "what a callback shows": {"type": "callback", "call": "http", "response": "${secrets.KEY}"},
    "a timeout": {"type": "http", "url": "https://a.example", "timeout": "${secrets.KEY}"},
    "a title": {"type": "form", "title": "${secrets.KEY}", "deadline": "1d", "on_deadline": "fail"},
    "what is shown": {"type": "form", "shown": {"a": "${secrets.KEY}"}, "deadline": "1d", "on_deadline": "fail"},
    "what an answer leads to": {"type": "form", "leads_to": {"done": "${secrets.KEY}"}},
    "a computed value": {"type": "compute", "output": "${secrets.KEY}"},
    "a variable": {"type": "set", "values": {"a": "${secrets.KEY}"}},
    "a signal's name": {"type": "wait_signal", "signal": "${secrets.KEY}", "deadline": "1d", "on_deadline": "fail"},
    "the reason of an end": {"type": "end", "reason": "${secrets.KEY}"},
    "a delay": {"type": "delay", "duration": "${secrets.KEY}"},
}


@pytest.mark.parametrize("where", NOWHERE_ELSE)
def test_a_secret_is_given_to_calls_and_nothing_else(where: str) -> None:
    node = {"id": "a", **NOWHERE_ELSE[where]}
    document = {"name": "x", "secrets": ["KEY"], "variables": {"a": 1}, "nodes": [node]}
    assert "secret_exposed" in {problem.code for problem in check(document).problems}


def test_a_limit_cannot_be_keyed_by_a_secret() -> None:
    settings = {"concurrency": {"limit": 1, "key": "${secrets.KEY}"}}
    document = {"name": "x", "secrets": ["KEY"], "settings": settings, "nodes": [{"id": "e", "type": "end"}]}
    assert [problem.code for problem in check(document).problems] == ["secret_exposed"]


@pytest.mark.parametrize("names", [["key"], ["1KEY"], [""], ["K" * 65], ["KÉY"], ["A-B"], [7], "KEY", ["A", "A"]])
def test_declared_secrets_have_names_of_secrets(names: object) -> None:
    assert not check({"name": "x", "secrets": names, "nodes": [{"id": "e", "type": "end"}]}).ok


def test_secrets_are_part_of_the_hash_and_of_the_plan() -> None:
    node = {"id": "a", "type": "f", "input": {"a": ["x", {"b": "${secrets['KEY']}"}], "c": "${secrets.KEY}"}}
    plan = load({"name": "x", "secrets": ["KEY"], "nodes": [node]})
    assert plan.graph.nodes[0].secrets == ((("a", 1, "b"), "KEY"), (("c",), "KEY"))
    bare = {"id": "a", "type": "f"}
    assert load({"name": "x", "nodes": [bare]}).hash == load({"name": "x", "secrets": [], "nodes": [bare]}).hash
    assert load({"name": "x", "nodes": [bare]}).hash != load({"name": "x", "secrets": ["KEY"], "nodes": [bare]}).hash
