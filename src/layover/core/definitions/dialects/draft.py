"""One foreign node on its way to ours.

Fields are taken out under their old names and put in under our own. What nobody took is left as it was, so that the
reader behind can report it with its place. Texts are translated when they are put in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.definitions.dialects.retries import translate_builder_retry
from layover.core.definitions.dialects.templates import expression, translated
from layover.core.definitions.dialects.tree_edits import graft

if TYPE_CHECKING:
    from layover.core.definitions.dialects.scope import Scope
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
    """A node in the making; `config` names the fields that were written as its configuration."""

    def __init__(
        self,
        origin: Tree,
        fields: dict[str, Tree],
        scope: Scope,
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

    def take(self, *spellings: str) -> Tree | None:
        """Take the first of several spellings of a field, if there is one."""
        for spelling in spellings:
            if spelling in self._fields:
                return self._fields.pop(spelling)
        return None

    def drop(self, *names: str) -> None:
        """Take fields that mean nothing here."""
        for name in names:
            self._fields.pop(name, None)

    def put(self, name: str, value: Shape, at: Tree | None = None) -> None:
        """Set a field of our node; a plain value stands at `at`, or where the node does."""
        self._made[name] = graft(value, at if at is not None else self.origin)

    def put_text(self, name: str, tree: Tree | None) -> None:
        """Set a field to a value whose texts are translated, if there is one."""
        if tree is not None:
            self._made[name] = translated(tree, self.scope, self.problems)

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
        """Take the retry policy of a node that calls nothing, and say that it has no use."""
        written = self.take("retry", "retryConfig", "retry_config")
        if written is not None and translate_builder_retry(written, self.problems) is not None:
            self.problems.warn("useless_field", written.key_place, f"{what} calls nothing, so it is never tried again.")

    def arguments(self) -> dict[str, Tree]:
        """Take all that is left of the configuration, and all that no function node has as a field."""
        names = [name for name in self._fields if self._is_argument(name)]
        return {name: translated(self._fields.pop(name), self.scope, self.problems) for name in names}

    def _is_argument(self, name: str) -> bool:
        if name in self._config:
            return name not in {"retry", "retryConfig", "retry_config", "timeout"}
        return name not in COMMON | WORKING and not name.startswith("x-")

    def finish(self) -> Tree:
        """Return our node, with what is left as it was but for its texts; nested graphs have their own turn."""
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
        return translated(tree, self.scope, self.problems)
