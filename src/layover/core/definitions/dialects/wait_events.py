"""The builder's node that waits for several events, which are signals in our format.

An event from an API comes as the signal `api_response`, one from a broker as the signal named after its topic. Both
carry the key `<execution id>:<node id>`, which is the correlation id that the request sends along. If the node calls an
address itself, an `http` node in front of it makes that call; the answer may then arrive before we wait for it, so the
wait looks back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.definitions.dialects.conditions import condition
from layover.core.definitions.dialects.draft import Draft
from layover.core.definitions.dialects.lengths import length
from layover.core.definitions.dialects.templates import translate_texts
from layover.core.definitions.dialects.tree_edits import build_tree, is_false, items_of, kebab, number_of, text_of
from layover.core.definitions.problems import display

if TYPE_CHECKING:
    from layover.core.definitions.dialects.builder_draft import BuilderDraft
    from layover.core.definitions.dialects.tree_edits import Shape
    from layover.core.definitions.tree import Tree

_EVENTS: Final = {"apiCall": "api_response", "kafkaEvent": "kafka_event"}
_SPELLINGS: Final = {"apiCall": ("apiCall", "api_call"), "kafkaEvent": ("kafkaEvent", "kafka_event")}
_DEFAULT_TIMEOUT = 300
_LOOKBACK = "5m"
_OUTCOMES: Final = {"fail": "fail", "continue": "continue", "continue-with-partial": "partial"}


def make_wait_events(draft: BuilderDraft) -> None:
    """Translate a wait for the enabled events, or a constant value if none is."""
    draft.drop_retry("A wait")
    events = {kind: draft.take(*_SPELLINGS[kind]) for kind in _EVENTS}
    enabled = {
        kind: tree
        for kind, tree in events.items()
        if tree is not None and isinstance(tree.value, dict) and not is_false(tree.get("enabled"))
    }
    if not enabled:
        draft.drop("aggregationStrategy", "requiredEvents", "timeout", "onTimeout")
        draft.put("type", "compute")
        draft.put("output", {"status": "skipped", "reason": "No events enabled"})
        return
    draft.put("type", "wait_signal")
    required = _put_need(draft, enabled)
    draft.put("signals", [_signal(draft, kind, tree, kind in required) for kind, tree in enabled.items()])
    _put_deadline(draft, list(enabled.values()))
    call = enabled.get("apiCall")
    if call is not None and text_of(call.get("url")) is not None:
        draft.first = _request(draft, call)
        draft.put("lookback", _LOOKBACK, call)


def _signal(draft: BuilderDraft, kind: str, tree: Tree, required: bool) -> Tree:  # noqa: FBT001 - a fact, not an option
    name = tree.get("signal") or (tree.get("topic") if kind == "kafkaEvent" else None)
    made: dict[str, Shape] = {
        "alias": _EVENTS[kind],
        "signal": name if name is not None else _EVENTS[kind],
        "key": tree.get("key") or _key(draft),
    }
    written = tree.get("filter")
    if written is not None and written.value not in (None, "", {}):
        made["filter"] = build_tree(_filter(draft, written), written)
    if required:
        made["required"] = True
    return build_tree({field: _texts(draft, build_tree(value, tree), field) for field, value in made.items()}, tree)


def _texts(draft: BuilderDraft, tree: Tree, field: str) -> Tree:
    return tree if field == "filter" else translate_texts(tree, draft.scope, draft.problems)


def _key(draft: BuilderDraft) -> str:
    return f"${{execution.id}}:{draft.id}"


def _filter(draft: BuilderDraft, written: Tree) -> str:
    """Return the filter as an expression on the signal: a condition, or fields and their required values."""
    scope = draft.scope.within((), ("signal",)).on("signal.data")
    fields = written.value
    if isinstance(fields, dict) and {"field", "conditions", "expression", "and", "or"}.isdisjoint(fields):
        parts: list[Shape] = [
            {"field": f"signal.data.{key}", "operator": "equals", "value": child} for key, child in fields.items()
        ]
        written = build_tree({"conditions": parts}, written)
    return condition(written, scope, draft.problems) or "false"


def _put_need(draft: BuilderDraft, enabled: dict[str, Tree]) -> set[str]:
    """Set how many events are needed; return those that are required whatever the number."""
    strategy = draft.take("aggregationStrategy", "aggregation_strategy")
    listed = draft.take("requiredEvents", "required_events")
    match kebab(text_of(strategy) or "all"):
        case "all":
            draft.put("need", "all", strategy)
            return set()
        case "any":
            draft.put("need", "any", strategy)
            return set()
        case "required-only":
            draft.put("need", "any", strategy)
            return {kind for kind, tree in enabled.items() if not is_false(tree.get("required"))}
        case "custom":
            draft.put("need", "any", strategy)
            names = {text_of(item) for item in items_of(listed)}
            return {kind for kind in enabled if not names.isdisjoint({*_SPELLINGS[kind], _EVENTS[kind]})}
    if strategy is not None:
        draft.problems.add(
            "bad_value",
            strategy.place,
            f"`aggregationStrategy` is `all`, `any`, `required_only` or `custom`, not {display(strategy)}.",
        )
    return set()


def _put_deadline(draft: BuilderDraft, events: list[Tree]) -> None:
    """Set the deadline: the node's own, else the longest of its events, else five minutes."""
    timeout = draft.take("timeout")
    if timeout is None:
        written = [
            tree for event in events if (tree := event.get("timeout")) is not None and number_of(tree) is not None
        ]
        timeout = max(
            written, key=lambda tree: number_of(tree) or 0, default=build_tree(_DEFAULT_TIMEOUT, draft.origin)
        )
    draft.put_text("deadline", length(timeout, "s"))
    outcome = draft.take("onTimeout", "on_timeout")
    word = _OUTCOMES.get(kebab(text_of(outcome) or "fail"))
    draft.put("on_deadline", outcome if word is None else word, outcome)


def _request(draft: BuilderDraft, call: Tree) -> dict[str, Tree]:
    """Return the call that requests the answer, with the ids that the answer has to carry."""
    correlation = text_of(call.get("correlationIdHeader")) or "X-Correlation-Id"
    execution = text_of(call.get("executionIdHeader")) or "X-Execution-Id"
    headers = call.get("headers")
    given = headers.value if headers is not None and isinstance(headers.value, dict) else {}
    request = Draft(call, {}, draft.scope, draft.problems)
    request.put("type", "http")
    request.put_text("url", call.get("url"))
    method = call.get("method")
    request.put("method", (text_of(method) or "POST").upper(), method)
    request.put_text(
        "headers",
        build_tree({correlation: _key(draft), execution: "${execution.id}", **given}, headers or call),
    )
    request.put_text("body", call.get("body"))
    request.put_text("auth", call.get("authentication"))
    made = request.finish().value
    return made if isinstance(made, dict) else {}
