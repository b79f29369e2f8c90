"""Secrets in a definition: declared at the top, used alone, and never written as a reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.secret_names import SECRET_KEY

if TYPE_CHECKING:
    from collections.abc import Collection

    from layover.core.definitions.problems import Problems
    from layover.core.definitions.tree import Tree
    from layover.core.expressions import Template

_ALONE: Final = (
    "`${secrets.NAME}` stands alone, as a whole value: it cannot be part of a longer text or of an expression. "
    "An `http` node has `auth: {bearer: …}` and `auth: {basic: {user: …, password: …}}`."
)
_LITERAL: Final = (
    "`$secret` is how the log refers to a secret: it means nothing in a definition. Write `${secrets.NAME}`."
)


class SecretChecker:
    """Checks how secrets are used; a version that an earlier release stored is only warned about."""

    def __init__(self, problems: Problems, declared: Collection[str]) -> None:
        self._problems = problems
        self._declared = declared

    def check_declaration(self, tree: Tree | None) -> None:
        """Report a secret that is declared twice."""
        seen: set[object] = set()
        for one in tree.value if tree is not None and isinstance(tree.value, list) else ():
            if isinstance(one.value, str) and one.value in seen:
                self._problems.add("duplicate_name", one.place, f"The secret `{one.value}` is declared twice.")
            seen.add(one.value if isinstance(one.value, str) else None)

    def check_use(self, tree: Tree, template: Template) -> None:
        """Report a template with a secret that does not stand alone, or is not declared."""
        match template.path():
            case ("secrets", name):
                if name not in self._declared:
                    guess = self._problems.suggestions.closest(name, self._declared)
                    hint = f" Did you mean `{guess}`?" if guess is not None else ""
                    message = f"The secret `{name}` is not declared: add it to `secrets` of the definition.{hint}"
                    self._problems.add_unless_stored("undeclared_secret", tree.place, message)
            case _:
                self._problems.add_unless_stored("secret_not_alone", tree.place, _ALONE)

    def check_literals(self, tree: Tree) -> None:
        """Report data of a definition that looks like a reference to a secret."""
        rest = [tree]
        while rest:
            value = rest.pop().value
            if isinstance(value, dict):
                if SECRET_KEY in value:
                    self._problems.add_unless_stored("reserved_key", value[SECRET_KEY].key_place, _LITERAL)
                rest.extend(value.values())
            elif isinstance(value, list):
                rest.extend(value)
