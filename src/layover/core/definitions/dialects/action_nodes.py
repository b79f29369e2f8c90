"""The builder's nodes that do something: calls over HTTP, published events, custom actions.

An action that sends something becomes a `send` node. Any other without a node type of ours becomes a function node: its
type is the action's name with `_` for `-`, and its configuration becomes the arguments. A function of that name has to
be registered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.definitions.dialects.lengths import length
from layover.core.definitions.dialects.send_actions import is_send, make_send
from layover.core.definitions.dialects.tree_edits import build_tree, kebab, text_of
from layover.core.definitions.dialects.wait_events import make_wait_events

if TYPE_CHECKING:
    from layover.core.definitions.dialects.builder_draft import BuilderDraft
    from layover.core.definitions.tree import Tree


def make_http(draft: BuilderDraft) -> None:
    """Translate a call over HTTP."""
    draft.put("type", "http")
    method = draft.take("method")
    if method is not None:
        word = text_of(method)
        draft.put("method", method if word is None else word.upper(), method)
    draft.rename("auth", "authentication", "auth")
    draft.rename("query", "queryParams", "query_params", "query")
    _put_timeout(draft)
    draft.put_retry()


def make_call(draft: BuilderDraft, function: str, at: Tree | None = None) -> None:
    """Translate a call of a registered function, with the rest of the configuration as its arguments."""
    if is_send(draft, function):
        make_send(draft, function, at)
        return
    draft.put("type", function.strip().replace("-", "_"), at)
    _put_timeout(draft)
    draft.put_retry()
    given = draft.take("input")
    arguments = draft.arguments()
    if given is not None and not arguments:
        draft.put_text("input", given)
    elif given is not None:
        draft.put("input", {"input": given, **arguments})
    elif arguments:
        draft.put("input", arguments)


def make_publish_event(draft: BuilderDraft) -> None:
    """Translate an event into a call of the function that publishes events."""
    make_call(draft, "publish_event")


def make_custom_action(draft: BuilderDraft) -> None:
    """Translate a custom action by its `actionType`."""
    action = draft.take("actionType", "action_type")
    name = text_of(action)
    if name is None:
        draft.problems.add("missing_field", draft.origin.place, f"The action `{draft.id}` needs an `actionType`.")
        name = "unknown"
    if kebab(name) == "wait-events":
        make_wait_events(draft)
    else:
        make_call(draft, name, action)


def _put_timeout(draft: BuilderDraft) -> None:
    timeout = draft.take("timeout")
    if timeout is not None:
        draft.put_text("timeout", length(timeout, "ms"))


def response_words(tree: Tree) -> Tree:
    """Return a mapping of an HTTP response with our names for its fields."""
    value = tree.value
    if isinstance(value, str) and "@{" in value:
        return build_tree(value.replace("_response.statusCode", "_response.status"), tree)
    if isinstance(value, list):
        return tree.with_value([response_words(child) for child in value])
    if isinstance(value, dict):
        return tree.with_value({key: response_words(child) for key, child in value.items()})
    return tree
