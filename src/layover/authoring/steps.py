"""Nodes as a program wires them: `a >> b` leaves by the default port, `a.error >> b` and `a["error"] >> b` by another.

An edge stays within the graph of its nodes. A wrong edge raises on the line where it is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, TypeAlias, TypeVar, Unpack, overload

from layover.authoring.errors import BadBuild, UnknownPort
from layover.authoring.fields import NodeFields
from layover.authoring.writing import to_format
from layover.core.definitions.node_types import default_port
from layover.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.authoring.graphs import GraphBuilder

_WAITING = ("done", "expired", "error")


class Port:
    """One way out of a node."""

    __slots__ = ("name", "step")

    def __init__(self, step: Step, name: str) -> None:
        self.step = step
        self.name = name

    @overload
    def __rshift__(self, target: S) -> S: ...

    @overload
    def __rshift__(self, target: Sequence[Step]) -> Sequence[Step]: ...

    def __rshift__(self, target: Step | Sequence[Step]) -> Step | Sequence[Step]:
        """Add an edge to a node, or to several; return the target, so that chains can go on from there."""
        for one in target if isinstance(target, list | tuple) else [target]:
            if not isinstance(one, Step):
                raise BadBuild(f"An edge leads to a node, not to {one!r:.100}: `{self.step.id} >> node`.")
            self.step.graph.wire(self, one)
        return target

    def __repr__(self) -> str:
        return f"<port {self.name} of {self.step.id}>"


class Step:
    """A node of a workflow that is being built."""

    ports: tuple[str, ...] = ("done", "error")

    def __init__(self, graph: GraphBuilder, node_id: str, node_type: str, fields: dict[str, object]) -> None:
        self.graph = graph
        self.id = node_id
        self.type = node_type
        self.fields = fields

    def options(self, **fields: Unpack[NodeFields]) -> Self:
        """Set fields that every node has: a label, a description, the join, the error handling."""
        self.fields |= to_format(f"`{self.id}`", fields, NodeFields.__annotations__)
        return self

    def document(self) -> dict[str, object]:
        """Return the node as part of a document."""
        return {"id": self.id, "type": self.type, **self.fields}

    def bodies(self) -> Sequence[tuple[str, GraphBuilder]]:
        """Return the graphs inside it, each with the name of its branch (empty for a body)."""
        return ()

    # Wiring

    @property
    def error(self) -> Port:
        """The port for a failure."""
        return self["error"]

    def __getitem__(self, port: str) -> Port:
        if port not in self.ports:
            raise UnknownPort(self._no_port(port))
        return Port(self, port)

    @overload
    def __rshift__(self, target: S) -> S: ...

    @overload
    def __rshift__(self, target: Sequence[Step]) -> Sequence[Step]: ...

    def __rshift__(self, target: Step | Sequence[Step]) -> Step | Sequence[Step]:
        return self._default() >> target

    def __rrshift__(self, sources: Sequence[Source]) -> Self:
        for one in sources:
            if not isinstance(one, Step | Port):
                raise BadBuild(f"An edge comes from a node or a port, not from {one!r:.100}.")
            _ = one >> self
        return self

    def _default(self) -> Port:
        if not self.ports:
            raise BadBuild(f"`{self.id}` ends the execution: nothing comes after it.")
        name = default_port(self.type)
        if name is None:
            named = " or ".join(f"`{self.id}.{port} >> …`" for port in self.ports if port != "error")
            raise BadBuild(f"`{self.id}` is a {self.type} and leaves by one port or another: write {named}.")
        return Port(self, name)

    def _no_port(self, port: object) -> str:
        if not self.ports:
            return f"`{self.id}` ends the execution: it has no ports."
        listed = ", ".join(f"`{name}`" for name in self.ports)
        guess = did_you_mean(port, self.ports) if isinstance(port, str) else ""
        return f"`{self.id}` has no port `{port!s:.100}`; it leaves by {listed}.{guess}"

    if not TYPE_CHECKING:  # a type checker is to find wrong names by itself

        def __getattr__(self, name: str) -> Port:
            if name.startswith("_") or "id" not in self.__dict__:  # such names are read by copy and pickle
                raise AttributeError(name)
            if name in self.ports:
                return Port(self, name)
            raise AttributeError(self._no_port(name))

    def __repr__(self) -> str:
        return f"<{self.type} {self.id}>"


Source: TypeAlias = Step | Port
S = TypeVar("S", bound=Step)


class WorkStep(Step):
    """A node that does something and goes on."""

    @property
    def done(self) -> Port:
        """The port for the normal end."""
        return self["done"]


class WaitingStep(WorkStep):
    """A node that waits, and may have a deadline."""

    ports = _WAITING

    @property
    def expired(self) -> Port:
        """The port for a deadline that passed."""
        return self["expired"]


class ApprovalStep(Step):
    """A decision of people."""

    ports = ("approved", "rejected", "expired", "error")

    @property
    def approved(self) -> Port:
        """The port for enough approvals."""
        return self["approved"]

    @property
    def rejected(self) -> Port:
        """The port for enough rejections."""
        return self["rejected"]

    @property
    def expired(self) -> Port:
        """The port for a deadline that passed."""
        return self["expired"]


class ConditionStep(Step):
    """A question with two answers."""

    ports = ("true", "false", "error")

    @property
    def true(self) -> Port:
        """The port for a condition that holds."""
        return self["true"]

    @property
    def false(self) -> Port:
        """The port for a condition that does not hold."""
        return self["false"]


class EndStep(Step):
    """The end of the execution."""

    ports = ()


class SwitchStep(Step):
    """A choice between ports, which its cases name: `switch["express"]`, or `switch.express`."""

    def __init__(self, graph: GraphBuilder, node_id: str, node_type: str, fields: dict[str, object]) -> None:
        super().__init__(graph, node_id, node_type, fields)
        self._cases: list[dict[str, object]] = []
        self.ports = ("default", "error")

    def case(self, equals: object, *, port: str) -> Self:
        """Leave by a port if the value equals something."""
        return self.add_case({"equals": equals, "port": port})

    def when(self, if_: str, *, port: str) -> Self:
        """Leave by a port if a condition holds."""
        return self.add_case({"if": if_, "port": port})

    def add_case(self, case: dict[str, object]) -> Self:
        """Add a case, in the words of the format."""
        self._cases.append(case)
        self.ports = tuple(dict.fromkeys(("default", *(str(one["port"]) for one in self._cases), "error")))
        return self

    def document(self) -> dict[str, object]:
        """Return the node as part of a document."""
        return {**super().document(), "cases": list(self._cases)}

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Port: ...


class LoopStep(WorkStep):
    """A loop; its `body` is run in each round."""

    def __init__(self, graph: GraphBuilder, node_id: str, node_type: str, fields: dict[str, object]) -> None:
        super().__init__(graph, node_id, node_type, fields)
        self.body: GraphBuilder = graph.inner(node_id)

    def bodies(self) -> Sequence[tuple[str, GraphBuilder]]:
        """Return the graph of a round."""
        return (("", self.body),)

    def document(self) -> dict[str, object]:
        """Return the node as part of a document."""
        return {**super().document(), "body": self.body.graph_document()}


class ParallelStep(WorkStep):
    """Branches side by side: one `body` for each item, or named ones, each by `branch`."""

    def __init__(self, graph: GraphBuilder, node_id: str, node_type: str, fields: dict[str, object]) -> None:
        super().__init__(graph, node_id, node_type, fields)
        self._body: GraphBuilder | None = None
        self._branches: dict[str, GraphBuilder] = {}

    @property
    def body(self) -> GraphBuilder:
        """The graph that is run for each item."""
        if self._branches:
            raise BadBuild(f"`{self.id}` has named branches: it can have either those or one body for each item.")
        if self._body is None:
            self._body = self.graph.inner(self.id)
        return self._body

    def branch(self, branch_id: str) -> GraphBuilder:
        """Return the branch with a name, and add it if it is new."""
        if self._body is not None:
            raise BadBuild(f"`{self.id}` has a body for each item: it can have either that or named branches.")
        return self._branches.setdefault(branch_id, self.graph.inner(f"{self.id}.{branch_id}"))

    def bodies(self) -> Sequence[tuple[str, GraphBuilder]]:
        """Return the graphs of its branches."""
        return tuple(self._branches.items()) if self._body is None else (("", self._body),)

    def document(self) -> dict[str, object]:
        """Return the node as part of a document."""
        node = super().document()
        if self._body is not None:
            return {**node, "body": self._body.graph_document()}
        branches = [{"id": name, "body": body.graph_document()} for name, body in self._branches.items()]
        return {**node, "branches": branches} if branches else node
