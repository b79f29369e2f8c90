"""The second model: a parent, a child, and the outbox between them.

What one execution wants from another is a row of its outbox, committed with its own log. A courier (any instance)
reads a row, delivers it in a transaction of the destination, then deletes it: three steps, two couriers, each of which
may be killed in between. So every row arrives at least once, and some arrive late.

The appends themselves are those of the first model and are taken for granted here: each commit is one step. The child
waits for a person, who may never come; a pause must reach it nevertheless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from .rules import Invariant, Rule
from .search import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

Gate = Literal["open", "pausing", "paused"]
Destination = Literal["child", "parent"]
Message = Literal["start", "pause", "resume", "paused", "result"]


class Row(NamedTuple):
    """A row of the outbox; its number is what makes a second delivery known."""

    n: int
    to: Destination
    kind: Message
    about: int = 0  # a report: the row that it answers


class Child(NamedTuple):
    """The child execution."""

    closed: bool = False
    gate: Gate = "open"


class Courier(NamedTuple):
    """An instance on its way with a row."""

    row: Row
    delivered: bool = False


class Family(NamedTuple):
    """Everything, at one moment."""

    parent: Literal["ready", "waiting", "answered", "closed"] = "ready"
    gate: Gate = "open"
    pausing_by: int = 0  # the row that carried the last pause to the child
    children: tuple[Child, ...] = ()
    outbox: tuple[Row, ...] = ()
    rows: int = 0
    seen: frozenset[int] = frozenset()  # (source, source_n) of the commands that both have received
    couriers: tuple[Courier | None, Courier | None] = (None, None)
    remembered: bool = True  # whether the instance that committed the rows is still the same process
    pauses: int = 2  # twice, so that what is left of the first meets the second
    resumes: int = 1
    crashes: int = 1
    breach: Invariant | None = None

    def send(self, to: Destination, kind: Message, about: int = 0) -> Family:
        """Add a row to the outbox, in the commit that is being made."""
        row = Row(self.rows + 1, to, kind, about)
        return self._replace(outbox=(*self.outbox, row), rows=row.n)

    def with_child(self, child: Child) -> Family:
        """Change the child (without its rule there may be two; both hear the same)."""
        return self._replace(children=(child,) * len(self.children))

    def awaits_child(self) -> bool:
        """Say whether there is an open child that a pause must reach."""
        return self.parent == "waiting"


class ParentAndChild:
    """The protocol between executions, or that without one of its rules."""

    def __init__(self, without: Rule | None = None, *, start: Family | None = None) -> None:
        self._without = without
        self._start = start or Family()

    def initial(self) -> Family:
        """Begin with a parent that is about to start its child."""
        return self._start

    def broken(self, family: Family) -> Invariant | None:
        """Return what is wrong with a state."""
        return Invariant.CHILD_IS_ONE if len(family.children) > 1 else family.breach

    def is_end(self, family: Family) -> bool:
        """Both closed, both paused, or both waiting for the person; and nothing left to deliver."""
        if family.outbox:
            return False
        if family.parent == "waiting":
            return bool(family.children) and family.gate == family.children[0].gate and not family.children[0].closed
        return family.parent == "closed" or family.gate == "paused"

    def steps(self, family: Family) -> Iterator[Step[Family]]:
        """Yield all that anybody can do now."""
        yield from self._parent(family)
        yield from self._operator(family)
        yield from self._person(family)
        for index in (0, 1):
            yield from self._courier(family, index)

    def _parent(self, family: Family) -> Iterator[Step[Family]]:
        if family.gate != "open":
            return
        if family.parent == "ready":
            waiting = family._replace(parent="waiting").send("child", "start")
            yield Step("child wanted", "parent: opens a child point, with `start` in its outbox", waiting)
        if family.parent == "answered":
            yield Step("parent closed", "parent: goes on and completes", family._replace(parent="closed"))

    def _operator(self, family: Family) -> Iterator[Step[Family]]:
        if family.parent == "closed":
            return
        if family.gate == "open" and family.pauses:
            pausing = family._replace(pauses=family.pauses - 1, gate="pausing")
            if family.awaits_child():
                pausing = pausing.send("child", "pause")
                pausing = pausing._replace(pausing_by=pausing.rows)
            if not family.awaits_child() or self._without is Rule.PARENT_WAITS_FOR_CHILDREN:
                pausing = pausing._replace(gate="paused")
            yield Step("paused", f"operator: pauses the parent, which is {pausing.gate}", pausing, obliged=False)
        if family.gate != "open" and family.resumes:
            resumed = family._replace(resumes=family.resumes - 1, gate="open")
            resumed = resumed.send("child", "resume") if family.awaits_child() else resumed
            yield Step("resumed", "operator: resumes the parent", resumed, obliged=False)

    def _person(self, family: Family) -> Iterator[Step[Family]]:
        if not family.children or family.children[0] != Child():
            return
        done = family.with_child(Child(closed=True)).send("parent", "result")
        if family.gate == "paused":
            done = done._replace(breach=Invariant.PAUSE_REACHES_CHILDREN)
        yield Step("child closed", "person: answers in the child, which goes on and completes", done, obliged=False)

    # Couriers.

    def _courier(self, family: Family, index: int) -> Iterator[Step[Family]]:
        courier, name = family.couriers[index], ("one", "two")[index]
        if courier is None:
            for row in self._takeable(family, index):
                taken = _with_courier(family, index, Courier(row))
                yield Step("taken", f"{name}: reads `{row.kind}` ({row.n}) in the outbox", taken)
        elif not courier.delivered:
            given = _with_courier(self._deliver(family, courier.row), index, courier._replace(delivered=True))
            yield Step("delivered", f"{name}: delivers `{courier.row.kind}` ({courier.row.n})", given)
        else:
            left = tuple([row for row in family.outbox if row != courier.row])
            deleted = _with_courier(family._replace(outbox=left), index, None)
            yield Step("deleted", f"{name}: deletes `{courier.row.kind}` ({courier.row.n})", deleted)
        if family.crashes:
            crashed = _with_courier(family._replace(crashes=family.crashes - 1, remembered=index != 0), index, None)
            yield Step("crashed", f"{name}: is killed and starts again", crashed, obliged=False)

    def _takeable(self, family: Family, index: int) -> Iterator[Row]:
        if self._without is Rule.ANY_INSTANCE_EMPTIES_THE_OUTBOX and (index != 0 or not family.remembered):
            return  # only who committed the rows knows of them, as long as it lives
        passed: set[str] = set()
        for row in family.outbox:
            if row.to not in passed or self._without is Rule.OUTBOX_IS_FIFO:
                yield row
            passed.add(row.to)

    def _deliver(self, family: Family, row: Row) -> Family:
        """One transaction of the destination."""
        if row.kind == "start":
            known = family.children and self._without is not Rule.CHILD_ID_IS_DERIVED
            return family if known else family._replace(children=(*family.children, Child()))
        if row.n in family.seen and self._without is not Rule.DELIVERY_IS_UNIQUE:
            return family
        family = family._replace(seen=family.seen | {row.n})
        return self._to_parent(family, row) if row.to == "parent" else self._to_child(family, row)

    def _to_child(self, family: Family, row: Row) -> Family:
        if not family.children or family.children[0].closed:
            return family  # refused: no such execution, or a closed one
        if row.kind == "resume":
            return family.with_child(Child(gate="open"))
        return family.with_child(Child(gate="paused")).send("parent", "paused", about=row.n)

    def _to_parent(self, family: Family, row: Row) -> Family:
        if row.kind == "result" and family.parent == "waiting":
            return family._replace(parent="answered", gate="open" if family.gate == "open" else "paused")
        old = row.about != family.pausing_by and self._without is not Rule.REPORT_NAMES_ITS_PAUSE
        if row.kind == "paused" and family.gate == "pausing" and not old:
            return family._replace(gate="paused")
        return family


def _with_courier(family: Family, index: int, courier: Courier | None) -> Family:
    first, second = family.couriers
    return family._replace(couriers=(courier, second) if index == 0 else (first, courier))
