"""Conditions that foreign documents write as data: `{field, operator, value}`, alone or in groups.

They become one bare expression. The field is a path and the value a literal, whatever they contain; only text inside
`@{ }` is read as code, because those documents mean code there. A condition that is text already is an expression of
ours and stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.definitions.dialects.scope import quoted
from layover.core.definitions.dialects.templates import expression, pieces, rename_roots
from layover.core.definitions.dialects.tree_edits import items_of, kebab, text_of
from layover.core.definitions.problems import display

if TYPE_CHECKING:
    from layover.core.definitions.dialects.scope import RootNames
    from layover.core.definitions.problems import Problems
    from layover.core.definitions.tree import Tree

_RELATIONS: Final = {
    "equals": "==",
    "not-equals": "!=",
    "greater-than": ">",
    "less-than": "<",
    "greater-than-or-equal": ">=",
    "less-than-or-equal": "<=",
}
_METHODS: Final = {"starts-with": "startsWith", "ends-with": "endsWith"}
_SHORT: Final = {
    **{symbol: name for name, symbol in _RELATIONS.items()},
    "=": "equals",
    "===": "equals",
    "!==": "not-equals",
    "eq": "equals",
    "ne": "not-equals",
    "neq": "not-equals",
    "gt": "greater-than",
    "lt": "less-than",
    "gte": "greater-than-or-equal",
    "ge": "greater-than-or-equal",
    "lte": "less-than-or-equal",
    "le": "less-than-or-equal",
    "greater-than-or-equals": "greater-than-or-equal",
    "less-than-or-equals": "less-than-or-equal",
}
OPERATORS: Final = (*_RELATIONS, "contains", "not-contains", "in", "not-in", *_METHODS)


def condition(tree: Tree, scope: RootNames, problems: Problems) -> str | None:
    """Return the expression of a condition, or None after a reported problem."""
    value = tree.value
    if isinstance(value, str) and value.strip():
        return str(expression(tree, scope, problems).value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return _group(tree, value, "&&", scope, problems)
    if isinstance(value, dict):
        return _mapping(tree, scope, problems)
    problems.add(
        "bad_type", tree.place, f"A condition is an expression, or `field`, `operator`, `value`, not {display(tree)}."
    )
    return None


def _mapping(tree: Tree, scope: RootNames, problems: Problems) -> str | None:
    for key, joint in (("and", "&&"), ("or", "||"), ("AND", "&&"), ("OR", "||"), ("all", "&&"), ("any", "||")):
        members = tree.get(key)
        if members is not None:
            return _group(members, items_of(members), joint, scope, problems)
    negated = tree.get("not")
    if negated is not None:
        inner = condition(negated, scope, problems)
        return f"!({inner})" if inner is not None else None
    members = tree.get("conditions")
    if members is not None:
        joint_or_none = _logic(tree.get("logic"), problems)
        return joint_or_none and _group(members, items_of(members), joint_or_none, scope, problems)
    text = tree.get("expression")
    if text is not None:
        return condition(text, scope, problems)
    return _comparison(tree, scope, problems)


def _logic(tree: Tree | None, problems: Problems) -> str | None:
    if tree is None or tree.value is None:
        return "&&"
    joint = {"and": "&&", "&&": "&&", "all": "&&", "or": "||", "||": "||", "any": "||"}.get(
        (text_of(tree) or "").strip().lower()
    )
    if joint is None:
        problems.add("bad_value", tree.place, f"`logic` is `AND` or `OR`, not {display(tree)}.")
    return joint


def _group(tree: Tree, members: list[Tree], joint: str, scope: RootNames, problems: Problems) -> str | None:
    if not members:
        problems.add("bad_value", tree.place, "A group of conditions needs at least one: list them.")
        return None
    parts = [condition(member, scope, problems) for member in members]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return known[0] if len(known) == 1 else f" {joint} ".join(f"({part})" for part in known)


def _comparison(tree: Tree, scope: RootNames, problems: Problems) -> str | None:
    written = tree.get("field")
    operator = tree.get("operator")
    value = tree.get("value")
    if written is None or operator is None:
        missing = "field" if written is None else "operator"
        problems.add("missing_field", tree.place, f"A condition needs `field`, `operator` and `value`: no `{missing}`.")
        return None
    left = field_path(written, scope, problems)
    if left is None:
        return None
    right = literal(value, scope) if value is not None else "null"
    return _compare(left, operator, right, value, problems)


def _compare(left: str, operator: Tree, right: str, value: Tree | None, problems: Problems) -> str | None:
    word = (text_of(operator) or "").strip()
    name = _SHORT.get(word) or _SHORT.get(kebab(word)) or kebab(word)
    if name in _RELATIONS:
        return f"{left} {_RELATIONS[name]} {right}"
    if name in _METHODS:
        return f"{left}.{_METHODS[name]}({right})"
    match name:
        case "in":
            return f"{left} in {right}"
        case "not-in":
            return f"!({left} in {right})"
        case "contains":
            return _contains(left, right, value)
        case "not-contains":
            return f"!({_contains(left, right, value)})"
    problems.unknown(
        "unknown_operator",
        operator.place,
        f"There is no operator {display(operator)}",
        word,
        [known.replace("-", "_") for known in OPERATORS],
    )
    return None


def _contains(left: str, right: str, value: Tree | None) -> str:
    """Return whether a list has an item or a text has a part: the kind of the field is known only at run time."""
    if value is None or not isinstance(value.value, str):
        return f"{right} in {left}"
    return f'json({left}).startsWith("[") ? {right} in dyn({left}) : dyn({left}).contains({right})'


def field_path(tree: Tree, scope: RootNames, problems: Problems) -> str | None:
    """Return the expression that reads a field, or None after a reported problem."""
    text = text_of(tree)
    path = None
    if text is not None:
        found, _ = pieces(text.strip())
        whole = len(found) == 1 and found[0][0]
        path = f"({rename_roots(found[0][1], scope)})" if whole else scope.path(text)
    if path is None:
        problems.add("bad_value", tree.place, f"`field` is a path such as `order.total`, not {display(tree)}.")
    return path


def literal(tree: Tree, scope: RootNames) -> str:
    """Return the expression that gives a value."""
    value = tree.value
    if isinstance(value, str):
        return _text_literal(value, scope)
    if isinstance(value, list):
        return f"[{', '.join(literal(child, scope) for child in value)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)}: {literal(child, scope)}" for key, child in value.items()) + "}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def _text_literal(text: str, scope: RootNames) -> str:
    found, _ = pieces(text)
    if not any(is_code for is_code, _ in found):
        return quoted(text)
    if len(found) == 1:
        return f"({rename_roots(found[0][1], scope)})"
    return "(" + " + ".join(f"string({rename_roots(p, scope)})" if code else quoted(p) for code, p in found) + ")"
