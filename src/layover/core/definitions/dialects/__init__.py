"""Foreign formats of a definition, translated into ours before it is read.

`translate` looks at the shape of a document. A step list and the nodes of a visual builder are rewritten into our nodes
and edges; a document in our own form goes through as the very same tree, apart from retry policies in camelCase, which
are accepted everywhere. A translation reports what it cannot express and leaves unknown fields as they are: the reader
after it reports those, at the position where the author wrote them. The work is linear in the tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.definitions.dialects.builder import is_builder_graph, translate_graph
from layover.core.definitions.dialects.heading import unwrap, with_own_heading
from layover.core.definitions.dialects.native import translate_own_retries
from layover.core.definitions.dialects.steps import translate_steps
from layover.core.definitions.dialects.tree_edits import build_tree, fields_of, items_of
from layover.core.definitions.dialects.triggers import translate_triggers

if TYPE_CHECKING:
    from layover.core.definitions.problems import Problems
    from layover.core.definitions.tree import Tree

__all__ = ["translate"]


def translate(tree: Tree, problems: Problems) -> Tree:
    """Return a document in our own form; one that is in it already comes back as it is."""
    if not isinstance(tree.value, dict):
        return tree
    tree = unwrap(tree)
    steps = tree.get("steps")
    if steps is not None and isinstance(steps.value, list) and tree.get("nodes") is None:
        return _from_steps(tree, steps, problems)
    if is_builder_graph(tree):
        return _from_builder(tree, problems)
    return translate_own_retries(tree, problems)


def _from_steps(tree: Tree, steps: Tree, problems: Problems) -> Tree:
    fields = with_own_heading({key: child for key, child in fields_of(tree).items() if key != "steps"})
    trigger = fields.pop("trigger", None)
    if trigger is not None:
        fields["x-triggers"] = build_tree([trigger], trigger)
        _add_triggers(fields, [trigger])
    fields["nodes"], start = translate_steps(steps, problems)
    if start is not None:
        fields.setdefault("start", start)
    return tree.with_value(fields)


def _from_builder(tree: Tree, problems: Problems) -> Tree:
    graph, triggers = translate_graph(tree, problems)
    fields = with_own_heading(graph)
    if triggers:
        kept = items_of(fields.get("x-triggers"))
        fields["x-triggers"] = build_tree([*kept, *triggers], tree)
        _add_triggers(fields, triggers)
    return tree.with_value(fields)


def _add_triggers(fields: dict[str, Tree], foreign: list[Tree]) -> None:
    """Add the triggers that foreign ones become; a document that has some in our form has said what it wants."""
    made = translate_triggers(foreign)
    if made and "triggers" not in fields:
        fields["triggers"] = build_tree(made, foreign[0])
