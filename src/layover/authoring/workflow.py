"""A workflow written in Python.

    flow = Workflow("refund", input={"type": "object", "required": ["amount"]})
    review = flow.approval("review", title="Refund ${input.amount}?")
    pay = flow.call("pay", pay_back, input={"amount": "${input.amount}"})
    review >> pay

It becomes a definition in the same way as text does: the same check finds its problems, and the same workflow in YAML
has the same hash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, Unpack

import msgspec

from layover.authoring.fields import WorkflowFields
from layover.authoring.graphs import GraphBuilder
from layover.authoring.notifications import NotifyBuilder
from layover.authoring.paths import path_for_people
from layover.authoring.readable import as_people_write
from layover.authoring.shapes import schema_of
from layover.authoring.triggers import TriggerBuilder
from layover.authoring.writing import to_format
from layover.core.definitions import Checked, check, document
from layover.core.definitions.model import WorkflowSettings
from layover.core.definitions.trigger_types import source_key
from layover.core.plan import Plan, compile_plan

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from layover.core.definitions import Definition
    from layover.nodes.function import AnyFunction

_SETTINGS = frozenset(field.name for field in msgspec.structs.fields(WorkflowSettings))


class Workflow(GraphBuilder, TriggerBuilder, NotifyBuilder):
    """A workflow that is being built: its nodes are added by a method for each type, and wired by `>>`."""

    def __init__(self, name: str, **fields: Unpack[WorkflowFields]) -> None:
        super().__init__(name)
        self.heading = _heading(name, fields)
        self._is_read = False  # from a text, which may name unknown functions

    @property
    def functions(self) -> tuple[AnyFunction, ...]:
        """The functions that its nodes call and its triggers poll, for `Engine(nodes=flow.functions)`."""
        return tuple(self.known_functions.values())

    def node_types(self) -> Iterator[str]:
        """Return the type of each node, and of each function that is called; built-in ones as well."""
        return _types_in(self)

    def source_keys(self) -> Iterator[str]:
        """Return the sources that its triggers poll, as a check knows them."""
        triggers = self.heading.get("triggers", ())
        for one in triggers if isinstance(triggers, list) else ():
            if isinstance(one, dict) and one.get("type") == "poll":
                yield source_key(str(one.get("source")))

    def document(self) -> dict[str, object]:
        """Return it as a document, unchecked."""
        return {"name": self.name, **self.heading, **self.graph_document()}

    def check(self, functions: Collection[str] | None = None) -> Checked:
        """Find all its problems; each names its node.

        `functions` are the registered node types, as `layover.check` takes them. Without them, the functions that a
        workflow names in Python are assumed to be registered.
        """
        source = self.document()
        if functions is None and not self._is_read:
            functions = frozenset([*self.node_types(), *self.source_keys()])
        checked = check(source, functions=functions)
        problems = [msgspec.structs.replace(one, path=path_for_people(one.path, source)) for one in checked.problems]
        definition = checked.definition if checked.ok else None
        return Checked(definition, problems, checked.texts, checked.steps)

    def plan(self) -> Plan:
        """Compile it; InvalidDefinition lists all its problems."""
        return compile_plan(self.check())

    @property
    def definition(self) -> Definition:
        """Its definition; InvalidDefinition if it has problems."""
        return self.check().definition

    @property
    def hash(self) -> str:
        """The hash of its meaning: the same as that of the same workflow in YAML or JSON."""
        return self.plan().hash

    def to_yaml(self) -> str:
        """Return it as YAML."""
        from layover.core.definitions.yaml_write import write_yaml  # noqa: PLC0415 - loaded only when needed

        return write_yaml(as_people_write(document(self.definition)))

    def to_json(self) -> str:
        """Return it as JSON."""
        return msgspec.json.format(msgspec.json.encode(as_people_write(document(self.definition))), indent=2).decode()

    @classmethod
    def from_yaml(cls, text: str | bytes) -> Self:
        """Return the workflow of a text in YAML or JSON, to be changed, checked or run."""
        from layover.authoring.rebuilding import rebuild  # noqa: PLC0415 - most workflows are not built twice

        source = document(check(text).definition)
        flow = cls(str(source["name"]))
        flow._is_read = True
        flow.heading = {key: value for key, value in source.items() if key not in ("name", "nodes", "edges", "start")}
        rebuild(flow, source)
        return flow


def _heading(name: str, fields: Mapping[str, object]) -> dict[str, object]:
    said = to_format(f"The workflow `{name}`", fields, WorkflowFields.__annotations__)
    for shape in ("input", "resume_data"):
        if shape in said:
            said[shape] = schema_of(said[shape])
    if isinstance(said.get("concurrency"), int):
        said["concurrency"] = {"limit": said["concurrency"]}
    settings = {key: said.pop(key) for key in list(said) if key in _SETTINGS}
    return {**said, "settings": settings} if settings else said


def _types_in(graph: GraphBuilder) -> Iterator[str]:
    """Yield the node types that are named; a type named in Python is assumed to be a registered function."""
    for step in graph:
        yield step.type
        if step.type == "callback":
            yield str(step.fields.get("call"))
        for _, body in step.bodies():
            yield from _types_in(body)
