"""Triggers of foreign documents as ours: a scheduler is a schedule, an event a signal, a call from outside a webhook.

The foreign trigger is kept whole in `x-triggers` beside ours, with what ours has no use for: a `consumerGroup`, since
the cursor of a trigger is that, or the path of an endpoint, since a webhook has an address of its own. Senders of a
foreign endpoint sign nothing, so the address has a token. A trigger that does not say enough, or says what ours cannot
(a method other than POST, a filter that is not data), becomes none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.definitions.dialects.ids import FreshIds, is_id
from layover.core.definitions.dialects.scope import quoted
from layover.core.definitions.dialects.tree_edits import build_tree, fields_of, is_false, kebab, number_of, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from layover.core.definitions.dialects.tree_edits import Shape
    from layover.core.definitions.tree import Tree

_CONFIGS: Final = ("config", "nodeConfig", "node_config")
_KINDS: Final = ("subType", "sub_type", "nodeSubType", "node_sub_type", "nodeType", "node_type", "type")
_IDS: Final = ("nodeId", "node_id", "id", "name")
_TYPES: Final = {
    "scheduler": "schedule",
    "schedule": "schedule",
    "cron": "schedule",
    "event": "signal",
    "signal": "signal",
    "api-call": "webhook",
    "webhook": "webhook",
}


def translate_triggers(foreign: Sequence[Tree]) -> list[Tree]:
    """Return the triggers of ours that foreign ones become."""
    names = FreshIds()
    made: list[Tree] = []
    for tree in foreign:
        fields = _fields(tree)
        type_ = next((_TYPES[word] for word in _words(fields) if word in _TYPES), None)
        known = _MAKERS[type_](fields) if type_ is not None else None
        if known is not None and type_ is not None:
            name = names.named(_name(fields))
            made.append(build_tree({"name": name, "type": type_, **known}, tree))
    return made


def _fields(tree: Tree) -> dict[str, Tree]:
    """Return the fields of a trigger with those of its configuration."""
    fields = dict(fields_of(tree))
    for config in _CONFIGS:
        fields |= {**fields_of(fields.get(config)), **{key: one for key, one in fields.items() if key in _KINDS}}
    return fields


def _words(fields: Mapping[str, Tree]) -> list[str]:
    return [kebab(text_of(fields.get(key)) or "") for key in _KINDS]


def _name(fields: Mapping[str, Tree]) -> str:
    texts = [text_of(fields.get(key)) for key in _IDS]
    return next((text for text in texts if text is not None and is_id(text)), "trigger")


def _first(fields: Mapping[str, Tree], *names: str) -> Tree | None:
    return next((fields[name] for name in names if name in fields), None)


def _schedule(fields: Mapping[str, Tree]) -> dict[str, Shape] | None:
    cron = _first(fields, "cronExpression", "cron_expression", "cron")
    if text_of(cron) is None:
        return None
    others = {
        "zone": _first(fields, "timezone", "timeZone", "time_zone", "zone"),
        "from": _first(fields, "startDate", "start_date"),
        "until": _first(fields, "endDate", "end_date"),
        "data": fields.get("data"),
    }
    written = {name: one for name, one in others.items() if one is not None and one.value not in (None, "")}
    made: dict[str, Shape] = {"cron": cron, **written}
    repeat = fields.get("repeat")
    times = number_of(repeat)
    if is_false(repeat):
        made["times"] = 1
    elif isinstance(times, int) and times > 0:
        made["times"] = times
    return made


def _signal(fields: Mapping[str, Tree]) -> dict[str, Shape] | None:
    signal = _first(fields, "topic", "event", "eventName", "event_name", "signal")
    if text_of(signal) is None:
        return None
    made: dict[str, Shape] = {"signal": signal}
    conditions = _conditions(_first(fields, "filter"))
    if conditions is None:
        return None
    if conditions:
        made["filter"] = " && ".join(conditions)
    return made


def _webhook(fields: Mapping[str, Tree]) -> dict[str, Shape] | None:
    method = text_of(_first(fields, "httpMethod", "http_method", "method")) or "POST"
    return {"verify": {"scheme": "token"}} if method.upper() == "POST" else None


def _conditions(filtered: Tree | None) -> list[str] | None:
    """Return what a filter asks for: a type of event, and values at paths of the data; None if it says it otherwise."""
    if filtered is None or filtered.value in (None, "", {}):
        return []
    fields = fields_of(filtered)
    conditions = fields.get("conditions")
    paths = fields_of(conditions)
    if not fields or fields.keys() - {"eventType", "event_type", "conditions"} or (conditions and not paths):
        return None
    wanted = [(name, fields[name]) for name in ("eventType", "event_type") if name in fields]
    found: list[str] = []
    for path, value in [*wanted, *paths.items()]:
        literal = _literal(value)
        if literal is None or not all(part.isidentifier() for part in path.split(".")):
            return None
        found.append(f"trigger.data.{path} == {literal}")
    return found


def _literal(tree: Tree) -> str | None:
    value = tree.value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return quoted(value)
    return repr(value) if isinstance(value, int | float) else None


_MAKERS: Final = {"schedule": _schedule, "signal": _signal, "webhook": _webhook}
