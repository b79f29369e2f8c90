"""What is simulated: a little of everything that a workflow can be made of."""

from __future__ import annotations

from copy import deepcopy
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from layover.runtime.operations.workflows import as_plan
from layover.testing.simulation.scenario import Scenario, Start
from tests.simulation.functions import FUNCTIONS, PROBES, UNDOS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from layover.core.plan import Plan
    from layover.ports.records import PointRow

_FORM: dict[str, Any] = {"title": "Say it", "schema": {"type": "object"}}
_GIVEN: dict[str, Any] = {"input": {"n": "${input.n}"}}
_TRIES: dict[str, Any] = {"timeout": "20s", "retry": {"max_attempts": 4, "delay": "1s"}, **_GIVEN}
_RECORDS: dict[str, Any] = {"retry": {"max_attempts": 5, "delay": "1s"}, **_GIVEN}
_USUAL: dict[str, dict[str, Any]] = {
    "work": _TRIES,
    "quick": _GIVEN,
    "threaded": _TRIES,
    "steady": {**_TRIES, "timeout": "60s", "heartbeat": "8s"},
    "recorder": _RECORDS,
    "blocking_recorder": _RECORDS,
    "charge": _GIVEN,
}


def _node(id_: str, type_: str, next_: object = "", **fields: object) -> dict[str, Any]:
    return {"id": id_, "type": type_, **_USUAL.get(type_, {}), **fields, **({"next": next_} if next_ else {})}


def _flow(name: str, *nodes: dict[str, Any], **settings: object) -> dict[str, Any]:
    return {"name": name, "nodes": list(nodes), **({"settings": settings} if settings else {})}


WORKFLOWS: list[dict[str, Any]] = [
    _flow(
        "steps",
        _node("a", "work", "ask"),
        _node("ask", "form", "b", **_FORM),
        _node("b", "threaded", "c"),
        _node("c", "work", "nap"),
        _node("nap", "delay", "d", duration="15s"),
        _node("d", "work"),
    ),
    _flow(
        "wide",
        {"id": "each", "type": "parallel", "for_each": "[1, 2, 3]", "body": [_node("w", "work")], "next": "ask"},
        _node("ask", "form", **_FORM),
    ),
    _flow(
        "limited",
        _node("q", "quick", "w"),
        _node("w", "work", "r"),
        _node("r", "quick"),
        concurrency={"limit": 2, "on_conflict": "queue"},
    ),
    _flow(
        "leg",
        _node("q1", "quick", "q2"),
        _node("q2", "quick", "w"),
        _node("w", "work", "ask"),
        _node("ask", "form", "q3", **_FORM),
        _node("q3", "quick"),
        durability="leg",
    ),
    _flow(
        "family",
        _node("kid", "workflow", "w", workflow="limited", on_error="continue", **_GIVEN),
        _node("w", "work", "review"),
        _node("review", "approval", "done", title="May it go?"),
        _node("done", "quick"),
    ),
    _flow(
        "halves",
        {
            "id": "both",
            "type": "parallel",
            "on_failure": "wait",
            "branches": [
                {"id": "l", "body": [_node("l1", "work", "l2"), _node("l2", "threaded", retry={"max_attempts": 1})]},
                {"id": "r", "body": [_node("r1", "quick", "r2"), _node("r2", "form", **_FORM)]},
            ],
            "next": "last",
        },
        _node("last", "quick"),
    ),
    # Signals: one that comes or has come; several, of which some may never come
    _flow(
        "signalled",
        _node("q", "quick", "paid"),
        _node("paid", "wait_signal", "w", signal="paid", key="${input.n}", lookback="1h"),
        _node("w", "work"),
    ),
    _flow(
        "patient",
        _node(
            "wait",
            "wait_signal",
            {"done": "w", "expired": "q"},
            signals=[
                {"alias": "one", "signal": "sent", "key": "${input.n}"},
                {"alias": "two", "signal": "seen", "key": "${input.n}"},
            ],
            lookback="1h",
            deadline="40s",
            on_deadline="expired",
        ),
        _node("w", "work"),
        _node("q", "quick"),
    ),
    # Callbacks
    _flow(
        "called_back",
        _node(
            "hand",
            "callback",
            {"done": "w", "expired": "q"},
            call="hand_over",
            input={"token": "${callback.token}", "n": "${input.n}"},
            heartbeat="30s",
            deadline="60s",
            on_deadline="expired",
            retry={"max_attempts": 3, "delay": "1s"},
        ),
        _node("w", "work"),
        _node("q", "quick"),
        resume="concurrent",
    ),
    # Journals
    _flow("recorded", _node("rec", "recorder", "w"), _node("w", "work")),
    _flow("blocking", _node("rec", "blocking_recorder", "b"), _node("b", "threaded")),
    _flow(
        "recorded_leg",
        _node("q", "quick", "rec"),
        _node("rec", "recorder", "w"),
        _node("w", "work"),
        durability="leg",
    ),
    # Limits
    _flow("rated", _node("w", "work"), rate={"limit": 2, "per": "20s"}, concurrency={"limit": 3}),
    _flow("refusing", _node("w", "work"), concurrency={"limit": 1, "on_conflict": "reject"}),
    _flow(
        "replacing",
        _node("w", "work", "ask"),
        _node("ask", "form", **_FORM),
        concurrency={"limit": 1, "key": "${input.n % 2}", "on_conflict": "cancel_running"},
    ),
    # Other servers
    _flow(
        "fetching",
        _node(
            "get",
            "http",
            "post",
            url="https://example.com/${input.n}",
            timeout="15s",
            retry={"max_attempts": 4, "delay": "1s"},
            on_error="continue",
        ),
        _node("post", "http", url="https://example.com/", method="POST", body={"n": "${input.n}"}, on_error="continue"),
    ),
    # Families
    _flow(
        "clan",
        {
            "id": "each",
            "type": "parallel",
            "for_each": "[1, 2]",
            "body": [_node("kid", "workflow", workflow="steps", on_error="continue", **_GIVEN)],
            "next": "loose",
        },
        _node("loose", "workflow", "next", workflow="signalled", detached=True, **_GIVEN),
        _node("next", "workflow", workflow="family", timeout="5m", on_error="continue", **_GIVEN),
    ),
    # What is in doubt after a crash
    _flow(
        "charged",
        _node("charge", "charge", "again", on_crash="probe"),
        _node("again", "charge", "anew", on_crash="pause"),
        _node("anew", "charge", "s", on_crash="undo", retry={"max_attempts": 2, "delay": "5s"}),
        _node("s", "steady"),
    ),
    # Rounds, people who decide together, deadlines
    _flow(
        "rounds",
        {"id": "round", "type": "loop", "times": 3, "body": [_node("w", "work", "f"), _node("f", "form", **_FORM)]},
        timeout="20m",
        on_resume_failure="reopen",
    ),
    _flow(
        "council",
        _node(
            "vote",
            "approval",
            {"approved": "w", "rejected": "q", "expired": "q"},
            title="May it go?",
            need=2,
            approvers={"roles": ["boss"]},
            remind=["10s", {"before": "20s"}],
            deadline="90s",
            on_deadline="expired",
        ),
        _node("w", "work"),
        _node("q", "quick"),
    ),
    # Answers that can be taken back: of one person, of several, of several in their order; some are late for a deadline
    _flow(
        "reconsidered",
        _node("ask", "form", "w", deadline="60s", on_deadline="continue", undo="12s", **_FORM),
        _node("w", "work", "again"),
        _node("again", "form", "q", **_FORM),
        _node("q", "quick"),
        undo="5s",
    ),
    _flow(
        "revoked",
        _node(
            "vote",
            "approval",
            {"approved": "w", "rejected": "q", "expired": "q"},
            title="May it go?",
            need=2,
            approvers={"roles": ["boss"]},
            deadline="50s",
            on_deadline="expired",
            undo="15s",
        ),
        _node("w", "work"),
        _node("q", "quick", "turns"),
        _node(
            "turns",
            "approval",
            {"approved": "w", "rejected": "z"},
            title="One after the other",
            approvers={"users": ["person-0", "person-1"]},
            order="sequence",
            need=2,
            deadline="2m",
            on_deadline="reject",
            undo="20s",
        ),
        _node("z", "quick"),
        resume="concurrent",
    ),
]
_NAMES = [str(one["name"]) for one in WORKFLOWS]


def _start(chance: Random, number: int, names: Sequence[str] = _NAMES) -> Start:
    key = str(number) if chance.random() < 0.5 else None
    return Start(chance.choice(names), {"n": number}, key)


def _focus(chance: Random) -> Callable[[Random, int], Start]:
    """Start everything, or many of a few: only then they get into each other's way."""
    names = chance.sample(_NAMES, chance.choice((2, 5, len(_NAMES))))
    return only(*names)


def only(*names: str) -> Callable[[Random, int], Start]:
    """Return what starts nothing but some workflows."""
    return partial(_start, names=names)


def _twin(_chance: Random, start: Start) -> Start:
    assert isinstance(start.input, dict)
    return start._replace(input={"n": start.input["n"] + 1_000})


def _signals(start: Start) -> Sequence[tuple[str, str]]:
    assert isinstance(start.input, dict)
    names = {"signalled": ["paid"], "patient": ["sent", "seen"], "clan": ["paid"]}.get(start.workflow, [])
    return [(name, str(start.input["n"])) for name in names]


def _answer(chance: Random, row: PointRow) -> object:
    number = chance.randrange(1_000)
    if row.point.doubt:
        otherwise = row.point.details["otherwise"]
        assert isinstance(otherwise, list)
        return {"happened": number % 3 == 0, "otherwise": otherwise[number % len(otherwise)]}
    return number if row.point.key else {"n": number}


def _deploy(chance: Random, number: int) -> object:
    """Return a workflow with one more node at its beginning, which only this version has."""
    return _version(chance.randrange(len(WORKFLOWS)), number)


@cache
def _version(index: int, number: int) -> Plan:
    """Return a version, which is read once for all runs."""
    flow = deepcopy(WORKFLOWS[index])
    flow["nodes"].insert(0, _node(f"only_in_{number}", "quick", flow["nodes"][0]["id"]))
    return as_plan(flow, None)


EVERYTHING = Scenario(
    WORKFLOWS,
    FUNCTIONS,
    _start,
    _answer,
    probes=PROBES,
    undos=UNDOS,
    focus=_focus,
    rewinds=True,
    deploy=_deploy,
    signals=_signals,
    never=frozenset({"seen"}),
    twin=_twin,
)
SCENARIOS = {"everything": EVERYTHING}
