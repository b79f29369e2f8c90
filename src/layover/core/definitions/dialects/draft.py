"""One foreign node during translation.

Fields are taken out under their old names and put in under our own. A field that no rule took is left as it was, so
that the reader can report it with its position. Texts are translated when they are put in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.definitions.dialects.retries import translate_builder_retry
from layover.core.definitions.dialects.templates import expression, translate_texts
from layover.core.definitions.dialects.tree_edits import build_tree

if TYPE_CHECKING:
    from layover.core.definitions.dialects.scope import RootNames
    from layover.core.definitions.dialects.tree_edits import Shape
    from layover.core.definitions.problems import Problems
    from layover.core.definitions.tree import Tree

COMMON: Final = frozenset({"label", "description", "join", "on_error", "position", "next"})
WORKING: Final = frozenset({"retry", "timeout", "heartbeat", "on_crash"})
_BARE: Final = frozenset({"if", "while", "for_each", "value", "filter", "break_if", "skip_if"})
_AS_WRITTEN: Final = frozenset({"schema", "position", "next", "label", "description"})
_GRAPHS: Final = frozenset({"body", "branches"})
_CONTAINERS: Final = ("loop", "parallel")


class Draft:
    """A node during translation; `config` names the fields that were written as its configuration."""

    def __init__(
        self,
        origin: Tree,
        fields: dict[str, Tree],
        scope: RootNames,
        problems: Problems,
        config: frozenset[str] = frozenset(),
    ) -> None:
        self.origin = origin
        self.scope = scope
        self.problems = problems
        self._fields = fields
        self._config = config
        self._made: dict[str, Tree] = {}

    def has(self, name: str) -> bool:
        """Return whether a field is still there to be taken."""
        return name in self._fields

    def has_text(self, name: str) -> bool:
        """Return whether a field is still there to be taken, and is a text."""
        return name in self._fields and isinstance(self._fields[name].value, str)

    def take(self, *spellings: str) -> Tree | None:
        """Take the first of several spellings of a field, if there is one."""
        for spelling in spellings:
            if spelling in self._fields:
                return self._fields.pop(spelling)
        return None

    def drop(self, *names: str) -> None:
        """Drop fields that have no meaning in our format."""
        for name in names:
            self._fields.pop(name, None)

    def put(self, name: str, value: Shape, at: Tree | None = None) -> None:
        """Set a field of our node; a plain value gets the position of `at`, or of the node."""
        self._made[name] = build_tree(value, at if at is not None else self.origin)

    def put_text(self, name: str, tree: Tree | None) -> None:
        """Set a field to a value whose texts are translated, if there is one."""
        if tree is not None:
            self._made[name] = translate_texts(tree, self.scope, self.problems)

    def rename(self, name: str, *spellings: str) -> None:
        """Move a field from its first spelling to our name for it."""
        self.put_text(name, self.take(*spellings))

    def put_retry(self) -> None:
        """Translate the retry policy."""
        written = self.take("retry", "retryConfig", "retry_config")
        policy = translate_builder_retry(written, self.problems) if written is not None else None
        if policy is not None:
            self._made["retry"] = policy

    def drop_retry(self, what: str) -> None:
        """Drop the retry policy of a node that calls nothing, and warn that it has no effect."""
        written = self.take("retry", "retryConfig", "retry_config")
        if written is not None and translate_builder_retry(written, self.problems) is not None:
            self.problems.warn("useless_field", written.key_place, f"{what} calls nothing: remove its retry policy.")

    def arguments(self) -> dict[str, Tree]:
        """Take the rest of the configuration, and all fields that a function node does not have."""
        names = [name for name in self._fields if self._is_argument(name)]
        return {name: translate_texts(self._fields.pop(name), self.scope, self.problems) for name in names}

    def _is_argument(self, name: str) -> bool:
        if name in self._config:
            return name not in {"retry", "retryConfig", "retry_config", "timeout"}
        return name not in COMMON | WORKING and not name.startswith("x-")

    def finish(self) -> Tree:
        """Return our node; the remaining fields stay, with their texts translated; nested graphs come later."""
        kind = self._made.get("type") or self._fields.get("type")
        kept = _AS_WRITTEN | _GRAPHS if kind is not None and kind.value in _CONTAINERS else _AS_WRITTEN
        for name, tree in self._fields.items():
            if name not in self._made:
                self._made[name] = tree if name in kept else self._left(name, tree)
        return self.origin.with_value(self._made)

    def _left(self, name: str, tree: Tree) -> Tree:
        if name.startswith("x-"):
            return tree
        if name in _BARE:
            return expression(tree, self.scope, self.problems)
        return translate_texts(tree, self.scope, self.problems)
