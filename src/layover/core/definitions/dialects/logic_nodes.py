"""The builder's nodes that decide and wait: condition, switch, loop, delay, merge, function and pause blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.definitions.dialects.builder_draft import CaseTarget
from layover.core.definitions.dialects.conditions import condition, field_path
from layover.core.definitions.dialects.ids import port_name
from layover.core.definitions.dialects.lengths import UNIT_WORDS, length, unit_of
from layover.core.definitions.dialects.templates import expression, is_balanced, rename_roots
from layover.core.definitions.dialects.tree_edits import build_tree, label_of, text_of
from layover.core.definitions.problems import display

if TYPE_CHECKING:
    from layover.core.definitions.dialects.builder_draft import BuilderDraft
    from layover.core.definitions.dialects.tree_edits import Shape
    from layover.core.definitions.tree import Tree


def make_condition(draft: BuilderDraft) -> None:
    """Translate a condition of a field, an operator and a value, of several of them, or of an expression."""
    draft.drop_retry("A condition")
    draft.put("type", "condition")
    if draft.has("if"):
        return
    text = draft.take("condition", "expression")
    parts = {name: draft.take(name) for name in ("conditions", "logic", "field", "operator", "value")}
    written = text or draft.origin.with_value({name: part for name, part in parts.items() if part is not None})
    made = condition(written, draft.scope, draft.problems)
    draft.put("if", "false" if made is None else made, text or parts["conditions"] or parts["field"])


def make_switch(draft: BuilderDraft) -> None:
    """Translate a switch whose cases are ports; a case may also name its target node."""
    draft.drop_retry("A switch")
    draft.put("type", "switch")
    field = draft.take("switchField", "switch_field", "field")
    if field is not None:
        path = field_path(field, draft.scope, draft.problems)
        draft.put("value", "null" if path is None else path, field)
    cases = draft.take("cases")
    if cases is not None and isinstance(cases.value, list):
        draft.put("cases", [_case(case, draft) for case in cases.value], cases)
    elif cases is not None:
        draft.put("cases", cases)
    default = draft.take("defaultBranch", "default_branch", "default")
    if label_of(default) is not None and default is not None:
        _route(draft, default, "default")


def _case(tree: Tree, draft: BuilderDraft) -> Tree:
    value, branch = tree.get("value"), tree.get("branch") or tree.get("nodeId") or tree.get("node_id")
    named = branch or value
    label = label_of(named)
    if value is None or named is None or label is None or tree.get("port") is not None:
        return tree
    port = port_name(label)
    _route(draft, named, port)
    return tree.with_value({"equals": value, "port": build_tree(port, named)})


def _route(draft: BuilderDraft, named: Tree, port: str) -> None:
    """Record the meaning of a branch: the edge with its label, or else the node of that id."""
    label = label_of(named) or ""
    routes = draft.routes
    if label in draft.labels:
        _append(routes.ports, label, port)
    elif draft.scope.knows(label):
        _append(routes.targets, label, port)
        routes.cases.append(CaseTarget(named, port))
    elif port == "default":
        draft.problems.add("dangling_edge", named.place, f"No edge and no node is called {display(named)}.")


def _append(ports: dict[str, list[str]], key: str, port: str) -> None:
    known = ports.setdefault(key, [])
    if port not in known:
        known.append(port)


def make_loop(draft: BuilderDraft) -> None:
    """Translate a loop over an array; its body has to be nested."""
    draft.drop_retry("A loop")
    draft.put("type", "loop")
    if not any(draft.has(name) for name in ("for_each", "while", "times")):
        array = draft.take("arrayField", "array_field") or build_tree("items", draft.origin)
        path = field_path(array, draft.scope, draft.problems)
        draft.put("for_each", "[]" if path is None else path, array)
    draft.rename("as", "itemVariable", "item_variable", "as")
    draft.rename("index_as", "indexVariable", "index_variable", "index_as")
    if draft.has("body"):
        return
    nodes, edges = draft.take("nodes"), draft.take("edges")
    if nodes is not None:
        draft.put("body", {"nodes": nodes} if edges is None else {"nodes": nodes, "edges": edges}, nodes)
        return
    draft.problems.add(
        "missing_field",
        draft.origin.place,
        f"The loop `{draft.id}` needs a `body`: put the nodes that it repeats into it, instead of drawing edges.",
    )
    idle: dict[str, Shape] = {"id": f"{draft.id}-body", "type": "compute", "output": None}
    draft.put("body", [idle])


def make_delay(draft: BuilderDraft) -> None:
    """Translate a delay of a number of units."""
    draft.drop_retry("A delay")
    draft.put("type", "delay")
    draft.drop("persistState", "persist_state")
    duration, written_unit = draft.take("duration"), draft.take("unit")
    unit = unit_of(written_unit, "s")
    if unit is None and written_unit is not None:
        listed = ", ".join(f"`{word}`" for word in UNIT_WORDS)
        draft.problems.add("bad_value", written_unit.place, f"`unit` is one of {listed}, not {display(written_unit)}.")
    if duration is not None:
        draft.put_text("duration", length(duration, unit or "s"))


def make_merge(draft: BuilderDraft) -> None:
    """Translate a merge."""
    draft.drop_retry("A merge")
    draft.put("type", "merge")
    strategy = draft.take("mergeStrategy", "merge_strategy", "strategy")
    if strategy is not None:
        word = text_of(strategy)
        draft.put("strategy", strategy if word is None else word.lower(), strategy)


def make_function(draft: BuilderDraft) -> None:
    """Translate an expression into a computed value."""
    draft.drop_retry("A computed value")
    draft.put("type", "compute")
    written = draft.take("expression")
    field = text_of(draft.take("outputField", "output_field")) or "result"
    text = text_of(written)
    if written is None or text is None:
        draft.problems.add("missing_field", draft.origin.place, f"The function `{draft.id}` needs an `expression`.")
        draft.put("output", None)
        return
    opened = expression(written, draft.scope, draft.problems).value
    code = rename_roots(text, draft.scope) if opened == text else str(opened)
    if not is_balanced(code):
        draft.problems.add("bad_value", written.place, "The braces or quotes of this expression do not match.")
        code = "null"
    draft.put("output", {field: f"${{{code}}}"}, written)


def make_pause(draft: BuilderDraft) -> None:
    """Translate a block that pauses until data is sent into a form."""
    draft.drop_retry("A form")
    draft.put("type", "form")
    schema = draft.take("schema", "inputSchema", "input_schema")
    if schema is not None:
        draft.put("schema", schema)
