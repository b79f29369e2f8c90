"""What can be checked of triggers before they are registered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from layover.core.calendar import ScheduleError, check_schedule
from layover.core.definitions.check_arguments import Parameters, check_arguments
from layover.core.definitions.scopes import SECRETS
from layover.core.definitions.trigger_types import (
    PollTrigger,
    ScheduleTrigger,
    SignalTrigger,
    WebhookTrigger,
    source_key,
)
from layover.core.expressions import DYN, STRING, RecordType, Type
from layover.core.schedules import schedule_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from layover.core.definitions.check_expressions import ExpressionChecker
    from layover.core.definitions.model import Definition, TriggerDefinition
    from layover.core.definitions.problems import Problems
    from layover.core.definitions.read import Reading
    from layover.core.definitions.tree import Tree

_MOST = 100
_SHORTEST_PAUSE = 1_000  # milliseconds between two polls
_LONGEST_POLL = 3_600_000
_WITHOUT_SECRET = {"none": "it proves nothing", "token": "its token is made, and shown once, when it is registered"}

# The only name in the expressions of a trigger: there is no execution yet.
TRIGGER = RecordType(
    {
        "name": STRING,
        "type": STRING,
        "id": STRING,
        "at": STRING,
        "received_at": STRING,
        "data": DYN,
        "headers": DYN,
        "query": DYN,
    },
    open=False,
)
_NAMES: dict[str, Type] = {"trigger": TRIGGER}
# Of what a source is asked with: there is no input yet.
_POLLED = RecordType({"name": STRING, "type": STRING, "at": STRING}, open=False)
_OTHER_NAMES: dict[str, Mapping[str, Type]] = {"with": {"trigger": _POLLED, "secrets": SECRETS}}


class TriggerChecker:
    """Checks the triggers of one definition; `functions` are those of `check`."""

    def __init__(
        self, reading: Reading, expressions: ExpressionChecker, functions: Collection[str] | None = None
    ) -> None:
        self._functions = functions
        self._reading = reading
        self._problems: Problems = reading.problems
        self._expressions = expressions

    def check(self, definition: Definition) -> None:
        """Report every problem of its triggers."""
        if len(definition.triggers) > _MOST:
            place = self._site(definition.triggers[_MOST], "name").place
            self._problems.add("too_large", place, f"A workflow has at most {_MOST} triggers.")
        names: set[str] = set()
        for trigger in definition.triggers:
            if trigger.name in names:
                self._add("duplicate_trigger", trigger, "name", f"There are two triggers `{trigger.name}`.")
            names.add(trigger.name)
            self._expressions.check_part(trigger, _NAMES, _OTHER_NAMES)
            self._check_circle(trigger, definition)
            if isinstance(trigger, ScheduleTrigger):
                self._check_schedule(trigger, definition)
            elif isinstance(trigger, WebhookTrigger):
                self._check_webhook(trigger, definition)
            elif isinstance(trigger, PollTrigger):
                self._check_poll(trigger)

    def _check_circle(self, trigger: TriggerDefinition, definition: Definition) -> None:
        """Report a trigger that delivers a signal for which this workflow has a trigger."""
        sent = trigger.deliver.signal if trigger.deliver is not None else None
        fed = [one.name for one in definition.triggers if isinstance(one, SignalTrigger) and one.signal == sent]
        if fed:
            message = f"`{trigger.name}` delivers the signal `{sent}`, which fires `{fed[0]}`: that would never end."
            self._add("trigger_feeds_itself", trigger, "deliver", message)

    def _check_schedule(self, trigger: ScheduleTrigger, definition: Definition) -> None:
        try:
            check_schedule(schedule_of(trigger))
        except ScheduleError as error:
            field = {"begin": "from", "end": "until"}.get(error.field, error.field)
            self._add("bad_schedule", trigger, field, str(error))
        except ValueError as error:
            self._add("unknown_zone", trigger, "zone", f"{error}.".replace("..", "."))
        self._check_overlap(trigger, definition)

    def _check_webhook(self, trigger: WebhookTrigger, definition: Definition) -> None:
        verify = trigger.verify
        if (verify.scheme in _WITHOUT_SECRET) == bool(verify.secret):
            message = (
                f"`scheme: {verify.scheme}` has no `secret`: {_WITHOUT_SECRET[verify.scheme]}."
                if verify.secret
                else f"`scheme: {verify.scheme}` needs a `secret`: the name of one that `secrets` declares."
            )
            self._add("bad_verification", trigger, "verify", message)
        if verify.scheme == "hmac" and not verify.header:
            self._add("bad_verification", trigger, "verify", "`scheme: hmac` needs a `header`, such as `X-Signature`.")
        for secret in verify.secret:
            if secret.name not in definition.secrets:
                message = f"The secret `{secret.name}` is not declared: add it to `secrets` of the definition."
                self._add("undeclared_secret", trigger, "verify", message)
        if trigger.deliver is not None and trigger.respond != "accepted":
            message = f"`respond: {trigger.respond}` waits for an execution, and `deliver` starts none."
            self._add("bad_respond", trigger, "respond", message)

    def _check_poll(self, trigger: PollTrigger) -> None:
        if trigger.every < _SHORTEST_PAUSE:
            self._add("bad_value", trigger, "every", "`every` is at least `1s`.")
        if not _SHORTEST_PAUSE <= trigger.timeout <= _LONGEST_POLL:
            self._add("bad_value", trigger, "timeout", "`timeout` is at least `1s` and at most `1h`.")
        if "cursor" in trigger.with_:
            self._add("bad_value", trigger, "with", "The engine passes `cursor` to a source: remove it from `with`.")
        else:
            self._check_source(trigger, source_key(trigger.source))

    def _check_source(self, trigger: PollTrigger, key: str) -> None:
        functions, name = self._functions, trigger.source
        place = self._site(trigger, "source").place
        if functions is None:
            message = f"An instance with a source `{name}` has to poll it."
            self._problems.warn("unknown_source", place, message)
        elif key not in functions:
            known = sorted(one.removeprefix(source_key("")) for one in functions if one.startswith(source_key("")))
            self._problems.unknown("unknown_source", place, f"There is no source `{name}`", name, known)
        elif isinstance(functions, Mapping) and isinstance(functions[key], Parameters):
            check_arguments(self._problems, name, functions[key], self._reading.site(trigger), "with")

    def _check_overlap(self, schedule: ScheduleTrigger, definition: Definition) -> None:
        if schedule.overlap == "skip" and schedule.catch_up.which == "all":
            message = "With `overlap: skip`, most occurrences that are made up for are skipped: choose `queue`."
            self._problems.warn("catch_up_skipped", self._site(schedule, "catch_up").place, message)
        if schedule.overlap in ("queue", "queue_one", "cancel") and definition.settings.concurrency is not None:
            message = (
                f"`overlap: {schedule.overlap}` and `settings.concurrency` both decide what runs at once: "
                "write `overlap: allow` or `overlap: skip` here."
            )
            self._add("bad_schedule", schedule, "overlap", message)

    def _add(self, code: str, trigger: TriggerDefinition, field: str, message: str) -> None:
        self._problems.add(code, self._site(trigger, field).place, message)

    def _site(self, trigger: TriggerDefinition, field: str) -> Tree:
        site = self._reading.site(trigger)
        return site.get(field) or site
