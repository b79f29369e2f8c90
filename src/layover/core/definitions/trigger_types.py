"""The types of triggers, each with its fields.

A trigger belongs to the workflow that it starts, and is known by its name: a changed one is a new version of the
workflow, and goes on with the cursor of the one before.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta

from layover.core.definitions.kinds import (
    Data,
    Duration,
    Id,
    Instant,
    Positive,
    ShortText,
    SignalName,
    Text,
    Values,
)
from layover.core.definitions.model import DefinitionPart, HookSecret, TriggerDefinition

_DAY = 86_400_000

Overlap = Literal["skip", "queue_one", "queue", "cancel", "allow"]


class CatchUpDefinition(DefinitionPart, frozen=True, kw_only=True):
    """Which occurrences are made up for that were missed, and how old the oldest of them may be."""

    which: Literal["none", "last", "all"] = "last"
    within: Duration = _DAY


class ScheduleTrigger(TriggerDefinition, frozen=True, kw_only=True):
    """Starts at times: by a `cron` line, `every` so often (counted from 1970), or `at` single moments."""

    noun = "schedule"

    type: Literal["schedule"] = "schedule"
    cron: ShortText | None = None
    every: Duration | None = None
    at: Annotated[tuple[Instant, ...], Meta(max_length=1_000)] = ()
    zone: ShortText = "UTC"
    from_: Instant | None = msgspec.field(name="from", default=None)
    until: Instant | None = None
    times: Positive | None = None
    jitter: Duration = 0
    overlap: Overlap = "skip"
    catch_up: CatchUpDefinition = CatchUpDefinition()
    data: Data = msgspec.field(default_factory=dict)


class SignalTrigger(TriggerDefinition, frozen=True, kw_only=True):
    """Starts for each signal of a name, or only for those that no execution waited for."""

    noun = "signal trigger"

    type: Literal["signal"] = "signal"
    id: Text | None = None
    signal: SignalName
    when: Literal["always", "unmatched"] = "always"


class HookVerification(DefinitionPart, frozen=True, kw_only=True):
    """How a sender proves who it is. Of several secrets, any may match, so that they can be replaced."""

    noun = "verification"
    lists = ("secret",)

    scheme: Literal["standard", "github", "stripe", "slack", "hmac", "token", "key", "none"]
    secret: Annotated[tuple[HookSecret, ...], Meta(max_length=10)] = ()
    header: ShortText = ""


class WebhookTrigger(TriggerDefinition, frozen=True, kw_only=True):
    """Starts for each delivery to `/hooks/WORKFLOW/NAME` whose sender can prove who it is.

    With `scheme: token` the address is `/hooks/t/TOKEN`, which is shown once, when it is made.
    """

    noun = "webhook"

    type: Literal["webhook"] = "webhook"
    id: Text | None = None
    verify: HookVerification
    respond: Literal["accepted", "result", "pause"] = "accepted"


class PollTrigger(TriggerDefinition, frozen=True, kw_only=True):
    """Asks a source for new items, `every` so often; starts for each item."""

    noun = "poll"

    type: Literal["poll"] = "poll"
    id: Text | None = None
    source: Id
    with_: Values = msgspec.field(name="with", default_factory=dict)
    every: Duration = 60_000
    timeout: Duration = 30_000


BUILT_IN: tuple[type[TriggerDefinition], ...] = (ScheduleTrigger, SignalTrigger, WebhookTrigger, PollTrigger)


def _type_name(struct: type[TriggerDefinition]) -> str:
    (name,) = get_args(msgspec.structs.fields(struct)[1].type)
    return str(name)


TRIGGER_TYPES: dict[str, type[TriggerDefinition]] = {_type_name(struct): struct for struct in BUILT_IN}


def source_key(name: str) -> str:
    """Return the name of a source among the functions that a check knows; no node type has a colon in its name."""
    return f"source:{name}"
