"""The metadata of a foreign document: the envelope of a builder, free names, fields that we only keep.

A builder stores the graph under `definition` and its own bookkeeping beside it. We lift the graph up and keep the
bookkeeping as `x-` fields, which the engine does not read. A name that is not valid for a workflow is turned into one
that is; the original is kept too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from layover.core.definitions.dialects.tree_edits import fields_of, kebab, text_of
from layover.core.definitions.kinds import WORKFLOW_PATTERN

if TYPE_CHECKING:
    from layover.core.definitions.tree import Tree

_BOOKKEEPING: Final = frozenset(
    {
        *("id", "workflowId", "workflow_id", "status", "version", "enabled", "isActive", "is_active", "viewport"),
        *("createdAt", "created_at", "createdBy", "created_by", "updatedAt", "updated_at", "updatedBy", "updated_by"),
        *("deletedAt", "deleted_at"),
    }
)
_NAME = re.compile(WORKFLOW_PATTERN)
_OUTSIDE = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST = 255


def unwrap(tree: Tree) -> Tree:
    """Return a document with the graph under `definition` lifted to the top, beside its name."""
    inner = tree.get("definition")
    outer = fields_of(tree)
    if inner is None or not isinstance(inner.value, dict) or "nodes" in outer or "steps" in outer:
        return tree
    if "nodes" not in inner.value and "steps" not in inner.value:
        return tree
    beside = {key: child for key, child in outer.items() if key != "definition"}
    return tree.with_value(with_own_heading({**inner.value, **beside}))


def with_own_heading(fields: dict[str, Tree]) -> dict[str, Tree]:
    """Return the top-level fields with a valid name, and the bookkeeping as `x-` fields."""
    made: dict[str, Tree] = {}
    name = _workflow_name(fields)
    for key, child in fields.items():
        if key == "name" and name is not None:
            made["name"] = name
            if name.value != child.value:
                made["x-name"] = child
        elif key in _BOOKKEEPING:
            made[f"x-{kebab(key)}"] = child
        else:
            made[key] = child
    if name is not None:
        made.setdefault("name", name)
    return made


def _workflow_name(fields: dict[str, Tree]) -> Tree | None:
    """Return the name: as it is, else the workflow's id, else the name with dashes for invalid characters."""
    for key in ("name", "workflow_id", "workflowId"):
        written = fields.get(key)
        text = text_of(written)
        if text is not None and _NAME.fullmatch(text):
            return written
    written = fields.get("name")
    slug = _OUTSIDE.sub("-", text_of(written) or "").strip("-.")[:_LONGEST]
    return written.with_value(slug) if written is not None and _NAME.fullmatch(slug) else written
