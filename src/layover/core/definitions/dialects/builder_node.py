"""A node of a builder, parsed: its id, its kind, and its configuration.

Category (`trigger`, `logic`, `action`) and kind (`delay`, `api-call`…) may have several names, in the node or in its
configuration: the first word that is not a category is the kind.
"""

from __future__ import annotations

from typing import Final

import msgspec

from layover.core.definitions.dialects.tree_edits import kebab, text_of
from layover.core.definitions.tree import Tree

_CATEGORIES: Final = frozenset({"trigger", "logic", "action"})
_TRIGGERS: Final = frozenset({"scheduler", "event"})
_IDS: Final = ("nodeId", "node_id", "id")
_KINDS: Final = ("subType", "sub_type", "nodeSubType", "node_sub_type", "nodeType", "node_type", "type")
_CONFIGS: Final = ("config", "nodeConfig", "node_config")
_LABELS: Final = ("label", "node_label", "nodeLabel")
REGISTRY: Final = ("registryId", "registry_id")
_MARKS: Final = frozenset({*_IDS[:2], *_KINDS[:-1], *_CONFIGS, *_LABELS[1:], *REGISTRY})
_FOREIGN_KINDS: Final = frozenset({"pause-resume", "wait-events", "api-call", "publish-event", "custom-action"})


class BuilderNode(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed node: its id, its kind, and its fields with those of its configuration."""

    origin: Tree
    name: Tree
    kind: str
    kind_tree: Tree | None
    category: str | None
    fields: dict[str, Tree]
    config: frozenset[str]

    @property
    def id(self) -> str:
        """The id as text."""
        return text_of(self.name) or ""

    @property
    def is_trigger(self) -> bool:
        """Whether this starts executions instead of being a part of them."""
        if self.category is not None:
            return self.category == "trigger"
        return self.kind in _TRIGGERS or (self.kind == "api-call" and "endpointPath" in self.fields)


def is_builder_node(node: Tree) -> bool:
    """Return whether a node is in the builder's spelling."""
    if not isinstance(node.value, dict):
        return False
    if not _MARKS.isdisjoint(node.value):
        return True
    kind = kebab(text_of(node.value.get("type")) or "")
    return kind in _FOREIGN_KINDS or (kind == "pause" and "response" in node.value)


def parse_node(node: Tree) -> BuilderNode | Tree:
    """Parse a node; one in our own form, or without an id, stays as it is."""
    if not isinstance(node.value, dict) or not (is_builder_node(node) or _category_of(node) == "trigger"):
        return node
    fields = dict(node.value)
    name = _take(fields, _IDS)
    if name is None or not isinstance(name.value, str):
        return node
    written = [tree for tree in (fields.pop(key, None) for key in _KINDS) if tree is not None]
    config = _take(fields, _CONFIGS)
    settings = dict(config.value) if config is not None and isinstance(config.value, dict) else {}
    if config is not None and not isinstance(config.value, dict | None):
        fields["config"] = config
    written += [tree for tree in (settings.pop(key, None) for key in _KINDS[:-1]) if tree is not None]
    label = _take(fields, _LABELS)
    if label is not None:
        fields["label"] = label
    kind = next((tree for tree in written if text_of(tree) and kebab(str(tree.value)) not in _CATEGORIES), None)
    category = next((word for tree in written if (word := kebab(text_of(tree) or "")) in _CATEGORIES), None)
    return BuilderNode(
        origin=node,
        name=name,
        kind=kebab(text_of(kind) or ""),
        kind_tree=kind,
        category=category,
        fields={**fields, **settings},
        config=frozenset(settings),
    )


def _category_of(node: Tree) -> str:
    return kebab(text_of(node.get("type")) or "")


def id_of(part: BuilderNode | Tree) -> str | None:
    """Return the id of a node, parsed or not."""
    return text_of(part.get("id")) if isinstance(part, Tree) else text_of(part.name)


def _take(fields: dict[str, Tree], spellings: tuple[str, ...]) -> Tree | None:
    for spelling in spellings:
        if spelling in fields:
            return fields.pop(spelling)
    return None
