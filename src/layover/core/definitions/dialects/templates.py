"""`@{expr}` in text, the foreign spelling of our `${expr}`.

Only roots are renamed (`_trigger`, node ids) and the functions that have another name here; operators and fields are
the same in both languages. In a text with `@{ }`, `${` was meant literally, so it is escaped. A text without `@{` is
left alone: it is in our own spelling. Every pass is linear in the text: a string that never ends takes the rest of the
text with it instead of being scanned again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from layover.core.definitions.dialects.scope import FUNCTIONS, quoted

if TYPE_CHECKING:
    from layover.core.definitions.dialects.scope import RootNames
    from layover.core.definitions.problems import Problems
    from layover.core.definitions.tree import Tree

_STRING = r""" "(?:[^"\\]|\\.)*+(?:"|\\?\Z) | '(?:[^'\\]|\\.)*+(?:'|\\?\Z) """
_TOKEN = re.compile(
    rf"""(?P<text>{_STRING})
       | (?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
       | (?P<dot>\.\s*+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*+(?:-[A-Za-z0-9_]++)*+)(?P<call>(?=\s*+\())?
    """,
    re.VERBOSE | re.DOTALL,
)
_BRACE = re.compile(rf"{_STRING}|[{{}}]", re.VERBOSE | re.DOTALL)

Piece = tuple[bool, str]


def pieces(text: str) -> tuple[list[Piece], bool]:
    """Return text and code in turn, code marked with True, and whether the last `@{` is never closed."""
    found: list[Piece] = []
    position = 0
    while (opening := text.find("@{", position)) >= 0:
        closing = _closing(text, opening + 2)
        if closing is None:
            found.append((False, text[position:]))
            return found, True
        if opening > position:
            found.append((False, text[position:opening]))
        found.append((True, text[opening + 2 : closing]))
        position = closing + 1
    if position < len(text):
        found.append((False, text[position:]))
    return found, False


def is_balanced(code: str) -> bool:
    """Return whether code is valid between `${` and `}`."""
    return _closing(code + "}", 0) == len(code)


def rename_roots(code: str, scope: RootNames) -> str:
    """Return an expression with our names."""

    def replace(match: re.Match[str]) -> str:
        name: str | None = match["name"]
        if name is None or match["dot"] is not None:
            return match[0]
        if match["call"] is not None:
            return FUNCTIONS.get(name, name)
        known = scope.reference(name)
        if known is not None:
            return known
        return "-".join(scope.reference(part) or part for part in name.split("-"))

    return _TOKEN.sub(replace, code).strip()


def template(text: str, scope: RootNames) -> str:
    """Return a text with its `@{ }` as our `${ }`; a text without any is returned as it is."""
    if "@{" not in text:
        return text
    found, _ = pieces(text)
    if not any(is_code for is_code, _ in found):
        return text
    made = ""
    for index, (is_code, piece) in enumerate(found):
        if is_code:
            made += f"${{{rename_roots(piece, scope)}}}"
        else:
            followed = index + 1 < len(found)
            made += _literal(piece, before_code=followed)
    return made


def translate_texts(tree: Tree, scope: RootNames, problems: Problems) -> Tree:
    """Return a value with every text in it translated; an unchanged value stays the very same tree."""
    value = tree.value
    if isinstance(value, str):
        return _translated_text(tree, value, scope, problems)
    if isinstance(value, list):
        items = [translate_texts(child, scope, problems) for child in value]
        return tree if _same(items, value) else tree.with_value(list(items))
    if isinstance(value, dict):
        fields = {key: translate_texts(child, scope, problems) for key, child in value.items()}
        return tree if _same(list(fields.values()), list(value.values())) else tree.with_value(fields)
    return tree


def expression(tree: Tree, scope: RootNames, problems: Problems) -> Tree:
    """Return a bare expression: ours as it is, `@{ }` within it opened and renamed."""
    text = tree.value
    if not isinstance(text, str) or "@{" not in text:
        return tree
    found, unclosed = pieces(text)
    if unclosed:
        _warn_unclosed(tree, problems)
    if len(found) == 1 and found[0][0]:
        return tree.with_value(rename_roots(found[0][1], scope))
    return tree.with_value("".join(f"({rename_roots(piece, scope)})" if is_code else piece for is_code, piece in found))


def _translated_text(tree: Tree, text: str, scope: RootNames, problems: Problems) -> Tree:
    if "@{" not in text:
        return tree
    if pieces(text)[1]:
        _warn_unclosed(tree, problems)
    made = template(text, scope)
    return tree if made == text else tree.with_value(made)


def _warn_unclosed(tree: Tree, problems: Problems) -> None:
    problems.warn("unclosed_template", tree.place, "A `@{` is never closed, so it is taken as plain text.")


def _closing(text: str, position: int) -> int | None:
    depth = 0
    for match in _BRACE.finditer(text, position):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            if not depth:
                return match.start()
            depth -= 1
    return None


def _literal(text: str, *, before_code: bool) -> str:
    """Escape text; dollars right before code would escape the code, so they become code themselves."""
    kept = text.rstrip("$") if before_code else text
    dollars = text[len(kept) :]
    return kept.replace("${", "$${") + (f"${{{quoted(dollars)}}}" if dollars else "")


def _same(made: list[Tree], given: list[Tree]) -> bool:
    return all(new is old for new, old in zip(made, given, strict=True))
