"""Triggers as they run: those of the newest version of a workflow, and those that were made by themselves.

Both are checked by the same rules: a trigger by itself is read as if it stood in the definition of its workflow.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from layover.core.definitions.canonical import document, part_document
from layover.core.definitions.check import check
from layover.core.definitions.problems import InvalidDefinition, Problem
from layover.core.definitions.trigger_types import WebhookTrigger
from layover.core.plan import load
from layover.ports.trigger_records import REMOVED

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from layover.core.definitions.model import TriggerDefinition
    from layover.core.plan import Plan, PlannedTrigger
    from layover.ports.trigger_records import TriggerRow

_CACHED = 1_000


def planned_of(plan: Plan, row: TriggerRow) -> PlannedTrigger | None:
    """Return a trigger ready to run; None if the newest version of its workflow has it no more, or it is deleted."""
    if row.managed:
        return plan.triggers.get(row.name)
    return None if row.reason == REMOVED else _compiled(row.config)


def config_of(trigger: TriggerDefinition) -> bytes:
    """Return a trigger as its row has it."""
    return msgspec.json.encode(part_document(trigger))


def checked_trigger(
    plan: Plan, others: Sequence[Mapping[str, object]], given: Mapping[str, object], functions: Collection[str] | None
) -> TriggerDefinition:
    """Return a trigger for a workflow that has others already; InvalidDefinition lists all its problems.

    `functions` are the node types and sources that are known here; without them, a source may be any.
    """
    found = check({**document(plan.definition), "triggers": [*others, dict(given)]}, functions=functions)
    here = f"$.triggers[{len(others)}]"
    problems = [_moved(one, here) for one in found.problems if one.severity == "error" and one.path.startswith(here)]
    if problems:
        raise InvalidDefinition(problems)
    name = given["name"]
    return _alone(dict(given)).triggers[str(name)].trigger  # whatever is wrong with it was found above


def needs_token(trigger: TriggerDefinition) -> bool:
    """Return whether senders prove who they are by a token in the address."""
    return isinstance(trigger, WebhookTrigger) and trigger.verify.scheme == "token"


@lru_cache(maxsize=_CACHED)
def _compiled(config: bytes) -> PlannedTrigger:
    written = msgspec.json.decode(config)
    return _alone(written).triggers[written["name"]]


def _alone(trigger: dict[str, object]) -> Plan:
    """Compile a trigger in a workflow of nothing else; which secrets it may have is asked when it uses them."""
    names = _secret_names(trigger.get("verify"))
    nodes = [{"id": "end", "type": "end"}]
    return load({"name": "alone", "secrets": names, "nodes": nodes, "triggers": [trigger]}, stored=True)


def _secret_names(verify: object) -> list[object]:
    given = verify.get("secret", []) if isinstance(verify, dict) else []
    listed = given if isinstance(given, list) else [given]
    names = {str(one.get("name") if isinstance(one, dict) else one) for one in listed}
    return [*sorted(names)]


def _moved(problem: Problem, within: str) -> Problem:
    return msgspec.structs.replace(problem, path=f"${problem.path.removeprefix(within)}")
