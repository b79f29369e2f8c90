"""The builder's actions that send something: `send-email`, `send-slack` and the like.

One that says what it sends becomes a `send` node; the destination has the name of what it is sent by. Any other is a
function, as it was before there were such nodes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from layover.core.definitions.dialects.lengths import length
from layover.core.definitions.dialects.tree_edits import kebab
from layover.core.definitions.kinds import DESTINATION_PATTERN

if TYPE_CHECKING:
    from layover.core.definitions.dialects.builder_draft import BuilderDraft
    from layover.core.definitions.tree import Tree

_PREFIX: Final = "send-"
_MAIL: Final = frozenset({"email", "e-mail", "mail"})
_TEXTS: Final = ("text", "message", "body", "content")


def is_send(draft: BuilderDraft, action: str) -> bool:
    """Return whether an action becomes a `send` node."""
    name = kebab(action)
    if not name.startswith(_PREFIX) or not re.fullmatch(DESTINATION_PATTERN, name.removeprefix(_PREFIX)):
        return False
    return not draft.has("input") and any(draft.has_text(name) for name in _TEXTS)


def make_send(draft: BuilderDraft, action: str, at: Tree | None) -> None:
    """Translate an action that sends something; what has no field of ours becomes its data."""
    name = kebab(action).removeprefix(_PREFIX)
    draft.put("type", "send", at)
    draft.put("via", "mail" if name in _MAIL else name, at)
    draft.rename("to", "recipients", "to")
    draft.rename("subject", "subject")
    draft.rename("text", *(name for name in _TEXTS if draft.has_text(name)))
    timeout = draft.take("timeout")
    if timeout is not None:
        draft.put_text("timeout", length(timeout, "ms"))
    draft.put_retry()
    data = draft.arguments()
    if data:
        draft.put("data", data)
