"""Random workflows that can be run, and a world to run them in.

Every generated workflow passes `check`. A `settled` workflow ends the same way in whatever order its calls return and
its points are answered, except for races of several failures and ends; those the naive interpreter notices. So it has
no joins of any, and it sets variables only where everything else in the graph comes before or after. The others have
every feature. The time of a decision depends on the order as well, so the output of an approval is read only in part.

The world is pure: the result of a function follows from its input and from the number of its failures, the answer of a
person from the node that asks.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from hypothesis import strategies as st

from tests.core.definitions.dice import Dice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import DrawFn

Document = dict[str, Any]

INPUTS: tuple[Document, ...] = ({"n": 2, "items": [3, 1]}, {"n": 0, "items": []}, {"n": 5, "items": [1, 2, 4]})
VARIABLES: Document = {"v": 0, "w": 1}
_MOST_DEPTH = 3
_MOST_NODES = (8, 4, 3, 2)


@st.composite
def workflows(draw: DrawFn, *, settled: bool) -> Document:
    """Generate a workflow."""
    return workflow(Dice(draw), settled=settled)


def workflow(dice: Dice, *, settled: bool) -> Document:
    """Return a workflow, as the data of its definition."""
    settings: Document = {"resume": dice.pick(("sequential", "concurrent")), "max_pause": "30d"}
    if not settled:
        settings |= {"max_recoveries": dice.pick((10, 1)), "timeout": dice.pick(("90d", "3h"))}
        settings["on_resume_failure"] = dice.pick(("fail", "reopen"))
    graph = _Maker(dice, settled=settled).graph(_Place(may_set=True))
    return {"name": "w", "variables": VARIABLES, "settings": settings, **graph}


# The world


class NotNow(OSError):  # noqa: N818 - it says what is wrong
    """A failure that may pass."""


def behave(function: str, failures: int, given: object) -> object:
    """Return the result of a function that has failed so often before, or raise its failure."""
    dice = _hash(given)
    if function == "broken" or (function == "moody" and dice % 3 == 0):
        raise ValueError(f"{function} {dice % 5}")
    if function == "flaky" and failures < 1 + dice % 3:
        raise NotNow(f"not yet {failures}")
    return {"n": dice % 7} if dice % 2 else dice % 7


class Reply(NamedTuple):
    """The answer of a person."""

    data: object
    approved: bool


def reply(context_id: str, *, may_be_late: bool) -> Reply | None:
    """Return the answer at a node, or None if the deadline is left to pass."""
    dice = _hash(context_id)
    if may_be_late and dice % 3 == 0:
        return None
    return Reply({"n": dice % 7, "stop": dice % 4 == 0} if dice % 5 else None, dice % 3 != 1)


def _hash(value: object) -> int:
    return zlib.crc32(msgspec.json.encode(value, order="sorted")) >> 4


# The generator


class _Place(NamedTuple):
    """The surroundings of a graph: the numbers and items of its scopes, and the nodes that come before."""

    depth: int = 0
    indexes: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    may_set: bool = False


class _Shape(NamedTuple):
    """The edges of a graph by the indexes of its nodes, before the types of the nodes are chosen."""

    sources: list[list[int]]
    following: list[list[int]]
    before: list[set[int]]

    def comes_between(self, index: int) -> bool:
        """Whether every other node comes before or after one."""
        size = len(self.sources)
        after = sum(1 for other in range(size) if index in self.before[other])
        return len(self.before[index]) + after == size - 1


class _Maker:
    def __init__(self, dice: Dice, *, settled: bool) -> None:
        self._dice = dice
        self._settled = settled
        self._ids = 0
        self._types: dict[str, str] = {}

    def graph(self, place: _Place) -> Document:
        shape = self._shape(self._dice.integer(1, _MOST_NODES[place.depth]))
        ids = [self._new_id() for _ in shape.sources]
        nodes: list[Document] = []
        edges: list[Document] = []
        for index, name in enumerate(ids):
            here = place._replace(
                before=(*place.before, *(ids[other] for other in sorted(shape.before[index]))),
                may_set=place.may_set and (shape.comes_between(index) or not self._settled),
            )
            merges = all(self._types[ids[source]] != "approval" for source in shape.sources[index]) or not self._settled
            node = {"id": name, **self._node(name, here, shape, index, merges=merges)}
            self._types[name] = node["type"]
            nodes.append(node)
            edges += self._edges(node, [ids[target] for target in shape.following[index]])
        self._join(nodes, edges)
        return {"nodes": nodes, "edges": edges}

    def _new_id(self) -> str:
        self._ids += 1
        return f"n{self._ids}"

    def _shape(self, size: int) -> _Shape:
        sources: list[list[int]] = [[]]
        for index in range(1, size):
            near = list(range(max(0, index - 3), index))
            sources.append(self._dice.several(near, 1, self._dice.pick((1, 1, 2, 3))))
        following = [[target for target in range(size) if index in sources[target]] for index in range(size)]
        before: list[set[int]] = []
        for mine in sources:
            before.append({*mine, *(far for near_one in mine for far in before[near_one])})
        return _Shape(sources, following, before)

    def _edges(self, node: Document, targets: Sequence[str]) -> list[Document]:
        dice, ports = self._dice, _ports(node)
        edges: list[Document] = []
        for target in targets:
            first = dice.chance(3) or (node["type"] == "approval" and not edges)
            chosen = {ports[0] if first else dice.pick(ports)}
            if dice.chance(5):
                chosen.add(dice.pick(ports))
            edges += ({"source": node["id"], "target": target, "port": port} for port in sorted(chosen))
        return edges

    def _join(self, nodes: list[Document], edges: list[Document]) -> None:
        """Let some nodes start at the first edge that is taken."""
        for node in nodes:
            sources = {edge["source"] for edge in edges if edge["target"] == node["id"]}
            if sources and (len(sources) == 1 or not self._settled) and self._dice.chance(4):
                node["join"] = "any"

    def _node(self, name: str, place: _Place, shape: _Shape, index: int, *, merges: bool) -> Document:
        dice = self._dice
        kinds = ["call"] * 4 + ["form"] * 2 + ["compute", "condition", "switch", "delay"]
        if shape.following[index] or not self._settled:
            kinds.append("approval")
        if not self._settled:
            kinds += ["wait_signal", "callback", "workflow", "send"]
        if place.may_set:
            kinds += ["set"] * 3
        if len(shape.sources[index]) > 1 and merges:
            kinds += ["merge"] * 4
        if place.depth < _MOST_DEPTH:
            kinds += ["loop", "parallel"] * 2
        if not shape.following[index] and index and dice.chance(6):
            kinds = ["end"]
        kind = dice.pick(kinds)
        node: Document = {"type": kind, **getattr(self, f"_{kind}")(name, place)}
        if kind != "end" and dice.chance(6):
            node["on_error"] = "continue"
        return node

    # Nodes that decide

    def _condition(self, _name: str, place: _Place) -> Document:
        return {"if": self._truth(place)}

    def _switch(self, _name: str, place: _Place) -> Document:
        dice = self._dice
        cases: list[Document] = [{"equals": dice.integer(0, 3), "port": "p"}, {"if": self._truth(place), "port": "q"}]
        return {"value": self._term(place), "cases": cases[: dice.integer(1, 2)]}

    def _set(self, name: str, place: _Place) -> Document:
        number = int(name[1:])
        return {
            "values": self._dice.pick(({"v": "${vars.v + 1}"}, {"w": number}, {"v": number, "x": self._value(place)}))
        }

    def _compute(self, _name: str, place: _Place) -> Document:
        return {"output": self._value(place)}

    def _merge(self, _name: str, place: _Place) -> Document:
        strategy = self._dice.pick(("all", "all", "all", "custom", "first", "last"))
        return {"strategy": strategy, **({"output": self._value(place)} if strategy == "custom" else {})}

    def _end(self, _name: str, place: _Place) -> Document:
        return {"outcome": "ended", "reason": "${input.n} times", "output": self._value(place)}

    # Nodes that work

    def _call(self, name: str, place: _Place) -> Document:
        dice = self._dice
        where = [f"${{{index}}}" for index in place.indexes]
        node: Document = {
            "type": dice.pick(("steady", "steady", "moody", "flaky", "broken")),
            "input": {"at": name, "where": where, "given": self._value(place)},
        }
        if not self._settled and dice.chance(4):
            node["timeout"] = "30s"
        if not self._settled and dice.chance(3):
            node["on_crash"] = dice.pick(("probe", "pause", "undo"))
        return {**node, **self._sometimes_retry()}

    def _sometimes_retry(self) -> Document:
        dice = self._dice
        if dice.chance():
            return {}
        retry: Document = {"max_attempts": dice.integer(1, 4), "delay": "1s", "jitter": 0}
        if dice.chance(3):
            retry[dice.pick(("retry_on", "ignore"))] = dice.pick((["OSError"], ["ValueError"], ["NotNow"]))
        if not self._settled and dice.chance(3):
            retry["on_exhausted"] = "pause"
        return {"retry": retry}

    # Nodes that wait

    def _delay(self, _name: str, _place: _Place) -> Document:
        return {"duration": self._dice.pick(("0s", "1s", "1h"))}

    def _form(self, _name: str, _place: _Place) -> Document:
        return {**self._deadline(("continue", "partial", "expired", "fail")), **self._people(), **self._undo()}

    def _approval(self, _name: str, _place: _Place) -> Document:
        node = {**self._deadline(("approve", "reject", "expired", "fail")), **self._people(), **self._undo()}
        if not self._settled and self._dice.chance(3):
            node |= self._dice.pick(({"need": 2}, {"exclude_requester": True}, {"comment": "required"}))
        return node

    def _undo(self) -> Document:
        """Return for how long an answer can be taken back."""
        return {"undo": self._dice.pick(("1ms", "1m", "2h"))} if self._dice.chance(4) else {}

    def _people(self) -> Document:
        """Return the approvers; in a settled workflow every user is one."""
        if self._settled or not self._dice.chance(3):
            return {}
        escalation = {"after": "30m", "to": {"users": ["bob"]}}
        return self._dice.pick(
            (
                {"approvers": {"users": ["ann"]}, "escalate": escalation},
                {"remind": ["5m", "1h"]},
                {"escalate": escalation},
            )
        )

    def _deadline(self, outcomes: Sequence[str]) -> Document:
        dice = self._dice
        return {"deadline": "2h", "on_deadline": dice.pick(outcomes)} if dice.chance() else {}

    def _wait_signal(self, _name: str, place: _Place) -> Document:
        node: Document = {"signal": "s", "key": "${input.n}"}
        if self._dice.chance():
            several = [{"alias": "a", "signal": "s"}, {"alias": "b", "signal": "s", "filter": "signal.data == 1"}]
            node = {"signals": several, "need": self._dice.pick(("all", "any", 1))}
        if self._dice.chance(3):
            node["lookback"] = "1h"
        return {**node, "response": self._value(place), **self._deadline(("continue", "partial", "expired", "fail"))}

    def _callback(self, _name: str, place: _Place) -> Document:
        dice = self._dice
        node: Document = {"input": {"given": self._value(place), "reply_to": "${callback.url}"}}
        if not dice.chance(4):
            node["call"] = dice.pick(("steady", "steady", "moody", "flaky"))
        if dice.chance():
            node["heartbeat"] = "10m"
        if dice.chance(4):
            node["timeout"] = "30s"
        return {**node, **self._deadline(("continue", "expired", "fail")), **self._sometimes_retry()}

    def _workflow(self, _name: str, place: _Place) -> Document:
        node = {"workflow": "other", "input": self._value(place), "detached": self._dice.chance(4)}
        return {**node, **({"timeout": "1h"} if self._dice.chance(4) else {}), **self._sometimes_retry()}

    def _send(self, _name: str, place: _Place) -> Document:
        dice = self._dice
        node: Document = {"via": "post", "to": ["ann@example.org"], "text": "x", "data": self._value(place)}
        if dice.chance(3):
            return {**node, "wait": False}
        return {**node, **({"timeout": "1h"} if dice.chance(3) else {}), **self._sometimes_retry()}

    # Containers

    def _loop(self, name: str, place: _Place) -> Document:
        dice, index = self._dice, f"i_{name}"
        kind = dice.pick(("for_each", "times", "while"))
        inside = place._replace(depth=place.depth + 1, indexes=(*place.indexes, index))
        node: Document = {"index_as": index}
        if kind == "for_each":
            node |= {"for_each": self._items(), "as": f"e_{name}"}
            inside = inside._replace(items=(*place.items, f"e_{name}"))
        elif kind == "times":
            node["times"] = dice.pick((2, 1, 0, 3, "${input.n}"))
        else:
            node["while"] = dice.pick((f"{index} < 2", f"{index} + vars.v < 3"))
        if kind == "while" or dice.chance(4):
            node["max_iterations"] = dice.integer(1, 4)
        node["body"] = self.graph(inside)
        if dice.chance(3):
            node["skip_if"] = self._truth(inside)
        after = inside._replace(before=(*inside.before, *(one["id"] for one in node["body"]["nodes"])))
        if dice.chance(3):
            node["break_if"] = self._truth(after)
        if dice.chance(3):
            node["collect"] = self._value(after)
        return node

    def _parallel(self, name: str, place: _Place) -> Document:
        dice, index = self._dice, f"i_{name}"
        node: Document = {"on_failure": dice.pick(("wait", "continue", "fail_fast"))}
        if dice.chance(3):
            node["concurrency"] = dice.integer(1, 2)
        inside = place._replace(depth=place.depth + 1, may_set=True)
        if dice.chance():
            branches = range(dice.integer(1, 3))
            return {**node, "branches": [{"id": f"b{branch}", "body": self.graph(inside)} for branch in branches]}
        inside = inside._replace(indexes=(*place.indexes, index), items=(*place.items, f"e_{name}"))
        node |= {"for_each": self._items(), "as": f"e_{name}", "index_as": index, "body": self.graph(inside)}
        if dice.chance(3):
            after = inside._replace(before=(*inside.before, *(one["id"] for one in node["body"]["nodes"])))
            node["collect"] = self._value(after)
        return node

    # Expressions

    def _items(self) -> str:
        return self._dice.pick(("[1, 2]", "[5]", "[]", "input.items", "[0, 1, 2]", "input.n"))

    def _term(self, place: _Place) -> str:
        """Return an expression; few of them fail."""
        dice = self._dice
        terms = ["1", "input.n", "vars.v", "vars.w", *place.indexes, *place.items]
        if place.before and dice.chance():
            name = dice.pick(place.before)
            output = f"nodes.{name}.approved" if self._types[name] == "approval" else f"nodes.{name}"
            safe = (
                f"(has(nodes.{name}) && nodes.{name} != null ? {output} : null)",
                f"(has(errors.{name}) ? errors.{name}.code : null)",
            )
            risky = (output, f"errors.{name}.type", f"errors.{name}.retryable", f"errors.{name}.attempt")
            return dice.pick(risky) if dice.chance(6) else dice.pick(safe)
        return dice.pick(terms)

    def _value(self, place: _Place) -> object:
        dice = self._dice
        if dice.chance(3):
            return {"a": f"${{{self._term(place)}}}", "b": [f"is ${{{self._term(place)}}}"]}
        return f"${{{self._term(place)}}}"

    def _truth(self, place: _Place) -> str:
        dice = self._dice
        options = [f"{term} % 2 == 0" for term in ("input.n", *place.indexes)]
        options += ["vars.v > 1", f"{self._term(place)} == {dice.integer(0, 2)}"]
        if place.before:
            name = dice.pick(place.before)
            options += [f"has(nodes.{name})", f"has(errors.{name})", f"has(nodes.{name}) && nodes.{name} != null"]
        return dice.pick(options)


def _ports(node: Document) -> list[str]:
    """Return the ports of a node, the default one first."""
    match node["type"]:
        case "condition":
            return ["true", "false", "true", "false", "error"]
        case "switch":
            return ["default", *(case["port"] for case in node["cases"]), "error"]
        case "approval":
            return ["approved", "rejected", "rejected", "expired", "error"]
        case "form" | "wait_signal" | "callback":
            return ["done", "done", "expired", "error"]
        case _:
            return ["done", "done", "error"]
