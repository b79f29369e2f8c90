"""Everything that can be checked in a definition before it runs.

The stages build on each other: text, dialect, model, wiring, nodes, names. Each goes on as far as it can with the
result of the one before, so that one check shows every problem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.definitions.check_expressions import ExpressionChecker
from layover.core.definitions.check_graph import check_graph
from layover.core.definitions.check_nodes import NodeChecker
from layover.core.definitions.check_notify import NotifyChecker
from layover.core.definitions.check_schemas import check_schema
from layover.core.definitions.check_triggers import TriggerChecker
from layover.core.definitions.node_types import Loop, Parallel, nested
from layover.core.definitions.scopes import BEFORE_START, ROOTS, VisibleNames, root_names
from layover.core.expressions import INT, Type

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Sequence

    from layover.core.definitions.limits import DefinitionLimits
    from layover.core.definitions.model import Definition, GraphDefinition, Node, WorkflowSettings
    from layover.core.definitions.parsed_expressions import ParsedExpressions
    from layover.core.definitions.problems import Problems
    from layover.core.definitions.read import Reading


def check_definition(
    definition: Definition,
    reading: Reading,
    texts: ParsedExpressions,
    functions: Collection[str] | None,
    limits: DefinitionLimits,
) -> None:
    """Report every problem of a definition that has been read."""
    expressions = ExpressionChecker(reading, texts, limits.parts, definition.secrets)
    triggers = TriggerChecker(reading, expressions, functions)
    notify = NotifyChecker(reading, expressions, definition.secrets)
    nodes = NodeChecker(reading, functions, definition, notify)
    _Checker(reading, expressions, nodes, triggers, notify).check(definition)


class _Checker:
    """Walks the graphs of a definition, outermost first."""

    def __init__(
        self,
        reading: Reading,
        expressions: ExpressionChecker,
        nodes: NodeChecker,
        triggers: TriggerChecker,
        notify: NotifyChecker,
    ) -> None:
        self._reading = reading
        self._problems: Problems = reading.problems
        self._nodes = nodes
        self._expressions = expressions
        self._triggers = triggers
        self._notify = notify

    def check(self, definition: Definition) -> None:
        site = self._reading.site(definition)
        schema = site.get("input")
        if schema is not None:
            check_schema(schema, self._problems)
        if definition.settings.resume_data is not None:
            given = self._reading.site(definition.settings).get("resume_data")
            if given is not None:
                check_schema(given, self._problems)
        self._expressions.check_top(definition)
        names = root_names(definition)
        self._check_limits(definition.settings, names)
        if definition.triggers:
            self._triggers.check(definition)
        if definition.notify:
            self._notify.check(definition.notify)
        self._check_graph(definition.graph, names, None, ())

    def _check_limits(self, settings: WorkflowSettings, names: dict[str, Type]) -> None:
        # Limits are evaluated before an execution starts: a key can only use the input and the trigger.
        before = {name: names[name] for name in BEFORE_START}
        for limit in (settings.concurrency, settings.rate):
            if limit is not None:
                self._expressions.check_part(limit, before)
        if settings.rate is not None and not settings.rate.per:
            site = self._reading.site(settings.rate)
            self._problems.add("bad_value", (site.get("per") or site).place, "`per` must be longer than zero.")

    def _check_graph(
        self,
        graph: GraphDefinition,
        names: dict[str, Type],
        outer: VisibleNames | None,
        outer_ids: Sequence[Container[str]],
    ) -> VisibleNames:
        """Check a graph and everything in it; return its scope."""
        known = self._problems.count
        shape = check_graph(graph, self._reading, outer_ids)
        whole = self._problems.count == known
        scope = outer.inside(graph, shape, names) if outer is not None else VisibleNames(graph, shape, names, None)
        ids = (*outer_ids, shape.position)
        for position, node in enumerate(graph.nodes):
            # Where the wiring is broken, the order of nodes is unknown: names are then assumed to be right.
            here = scope.at(position) if whole else scope.at_end()
            self._check_node(node, graph, here, ids)
        return scope

    def _check_node(
        self, node: Node, graph: GraphDefinition, scope: VisibleNames, ids: Sequence[Container[str]]
    ) -> None:
        self._nodes.check(node, graph)
        self._expressions.check_node(node, scope)
        schema = self._reading.site(node).get("schema")
        if schema is not None and "schema" in node.__struct_fields__:
            check_schema(schema, self._problems)
        if isinstance(node, Loop | Parallel):
            self._check_container(node, scope, ids)

    def _check_container(self, node: Loop | Parallel, scope: VisibleNames, ids: Sequence[Container[str]]) -> None:
        item = self._expressions.check_items(node, scope)
        names: dict[str, Type] = {node.index_as: INT}
        if node.for_each is not None:
            names[node.as_] = item
        self._check_shadows(node, scope, names)
        for branch, graph in nested(node):
            body = self._check_graph(graph, {} if branch else names, scope, ids)
            if not branch:
                self._expressions.check_rounds(node, body, body.at_end())

    def _check_shadows(self, node: Loop | Parallel, scope: VisibleNames, names: dict[str, Type]) -> None:
        """Report names of a container that hide others.

        Every nested loop has an `index`, so the innermost one counts; two default `item`s are most likely a slip.
        """
        site = self._reading.site(node)
        outside = scope.names()
        for field, name, default in (("as", node.as_, "item"), ("index_as", node.index_as, "index")):
            place = (site.get(field) or site).place
            if name in ROOTS:
                self._problems.add("shadowed_name", place, f"`{name}` is a name of the engine's: choose another name.")
            elif name not in names or name not in outside:
                continue
            elif name != default:
                self._problems.add("shadowed_name", place, f"`{name}` hides an outer `{name}`: choose another name.")
            elif field == "as":
                self._problems.warn(
                    "shadowed_name", place, f"`{node.id}` and a container around it both have `{name}`: name one `as`."
                )
        if node.for_each is not None and node.as_ == node.index_as:
            self._problems.add("shadowed_name", site.place, f"`{node.id}` calls item and index both `{node.as_}`.")
