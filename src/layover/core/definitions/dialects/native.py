"""Documents in our own form, in which only a retry policy may be spelled differently.

Every node is visited once, bodies included. Nothing is copied unless something changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.definitions.dialects.retries import is_foreign_retry, translate_retry

if TYPE_CHECKING:
    from layover.core.definitions.problems import Problems
    from layover.core.definitions.tree import Tree

_CONTAINERS = ("loop", "parallel")


def translate_own_retries(tree: Tree, problems: Problems) -> Tree:
    """Return a graph (a mapping with `nodes`, or a list of nodes) with its retry policies in our spelling."""
    if isinstance(tree.value, list):
        return _list(tree, tree.value, problems)
    nodes = tree.get("nodes")
    if not isinstance(tree.value, dict) or nodes is None or not isinstance(nodes.value, list):
        return tree
    made = _list(nodes, nodes.value, problems)
    return tree if made is nodes else tree.with_value({**tree.value, "nodes": made})


def _list(tree: Tree, nodes: list[Tree], problems: Problems) -> Tree:
    made = [_node(node, problems) for node in nodes]
    return tree if _same(made, nodes) else tree.with_value(made)


def _node(tree: Tree, problems: Problems) -> Tree:
    if not isinstance(tree.value, dict):
        return tree
    changed: dict[str, Tree | None] = {}
    retry = tree.value.get("retry")
    if retry is not None and is_foreign_retry(retry):
        changed["retry"] = translate_retry(retry, problems)
    kind = tree.value.get("type")
    if kind is not None and kind.value in _CONTAINERS:
        changed |= _bodies(tree.value, problems)
    if not changed:
        return tree
    fields = {**tree.value, **changed}
    return tree.with_value({key: child for key, child in fields.items() if child is not None})


def _bodies(fields: dict[str, Tree], problems: Problems) -> dict[str, Tree]:
    """Return the nested graphs of a container that change."""
    changed: dict[str, Tree] = {}
    body, branches = fields.get("body"), fields.get("branches")
    if body is not None:
        changed["body"] = translate_own_retries(body, problems)
    if branches is not None and isinstance(branches.value, list):
        made = [_branch(branch, problems) for branch in branches.value]
        changed["branches"] = branches if _same(made, branches.value) else branches.with_value(made)
    return {key: child for key, child in changed.items() if child is not fields[key]}


def _branch(tree: Tree, problems: Problems) -> Tree:
    if not isinstance(tree.value, dict):
        return tree
    changed = _bodies(tree.value, problems)
    return tree.with_value({**tree.value, **changed}) if changed else tree


def _same(made: list[Tree], given: list[Tree]) -> bool:
    return all(new is old for new, old in zip(made, given, strict=True))
