"""The workflows, as JSON."""

from __future__ import annotations


def _charge(**more: object) -> dict[str, object]:
    return {"id": "charge", "type": "charge", "input": {"ms": "${input.ms}"}, **more}


def _ship(charged: str) -> dict[str, object]:
    return {"id": "ship", "type": "ship", "input": {"charged": charged}, "next": "done"}


def _done(charged: str) -> dict[str, object]:
    return {"id": "done", "type": "end", "output": {"charged": charged, "shipped": "${nodes.ship}"}}


_ONE, _MANY = "${nodes.charge}", "${nodes.all}"


def _each(**more: object) -> dict[str, object]:
    return {"id": "all", "type": "parallel", "for_each": "input.items", "body": [_charge(**more)], "next": "ship"}


FLOWS: list[dict[str, object]] = [
    {"name": "pay", "nodes": [_charge(next="ship"), _ship(_ONE), _done(_ONE)]},
    {
        "name": "ask",
        "nodes": [
            _charge(next="review"),
            {"id": "review", "type": "approval", "deadline": "1d", "on_deadline": "reject", "next": "ship"},
            _ship(_ONE),
            _done(_ONE),
        ],
    },
    {
        "name": "later",
        "nodes": [
            _charge(next="rest"),
            {"id": "rest", "type": "delay", "duration": "${input.rest}", "next": "ship"},
            _ship(_ONE),
            _done(_ONE),
        ],
    },
    {"name": "fan", "nodes": [_each(), _ship(_MANY), _done(_MANY)]},
    {"name": "hurry", "nodes": [_each(timeout="3s"), _ship(_MANY), _done(_MANY)]},
    {
        "name": "halves",
        "nodes": [
            {
                "id": "all",
                "type": "parallel",
                "on_failure": "wait",
                "branches": [
                    {"id": "paid", "body": [_charge()]},
                    {"id": "other", "body": [{"id": "flaky", "type": "flaky", "input": {"flag": "${input.flag}"}}]},
                ],
                "next": "ship",
            },
            _ship(_MANY),
            _done(_MANY),
        ],
    },
    {
        "name": "block",
        "nodes": [{**_charge(next="ship"), "type": "block"}, _ship(_ONE), _done(_ONE)],
    },
    {"name": "poison", "nodes": [{"id": "poison", "type": "poison"}]},
]  # fmt: skip
