"""What a source is called with: the `with` of its trigger, whose expressions are evaluated for each poll.

Secrets are put in just before a source is called, and exist for as long as the poll lasts. What the source returns or
raises is searched for them: in data and messages they are masked; a cursor or an id with one in it cannot be kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from layover.core.expressions import ExpressionTime, Meter
from layover.core.moments import moment
from layover.core.payloads import copy_plain, plain
from layover.core.secret_names import secret_reference
from layover.runtime.secrets.errors import SecretMissing
from layover.runtime.triggers.batches import BadBatch, CheckedBatch

if TYPE_CHECKING:
    from layover.core.plan import PlannedTrigger
    from layover.ports.trigger_records import TriggerRow
    from layover.runtime.plans import Plans
    from layover.runtime.secrets.call_secrets import CallSecrets, SecretSource


class PollArguments:
    """The arguments of one poll, with the values of its secrets."""

    def __init__(self, given: object, secrets: CallSecrets | None) -> None:
        self._given = given
        self._secrets = secrets

    def make(self) -> dict[str, object]:
        """Return the arguments for one call: a source may do with them what it likes."""
        given = copy_plain(self._given)
        return cast("dict[str, object]", given if self._secrets is None else self._secrets.fill(given))

    def masked_text(self, text: str) -> str:
        """Return a text without the values."""
        return text if self._secrets is None else self._secrets.masker.text(text)

    def masked(self, source: str, batch: CheckedBatch) -> CheckedBatch:
        """Return a batch without the values; BadBatch if they are in what has to stay as it is."""
        if self._secrets is None:
            return batch
        masker = self._secrets.masker
        cursor = (batch.cursor or b"").decode()
        if masker.holds(cursor) or any(masker.holds(item.id) for item in batch.items):
            what = "a cursor" if masker.holds(cursor) else "an id"
            raise BadBatch(f"The source `{source}` returned {what} with a secret in it, which is never stored.")
        # Masks may be longer than what they hide: so what is masked is measured again.
        return batch._replace(items=tuple(item._replace(data=plain(masker.data(item.data))) for item in batch.items))

    def release(self) -> None:
        """Note that the poll is over."""
        if self._secrets is not None:
            self._secrets.release()


class PollArgumentMaker:
    """Makes the arguments of polls."""

    def __init__(self, plans: Plans, secrets: SecretSource) -> None:
        self._plans = plans
        self._secrets = secrets

    async def make(self, row: TriggerRow, planned: PlannedTrigger, now: int) -> PollArguments:
        """Return the arguments; SecretMissing, SecretNotAllowed or ExpressionError if there are none."""
        positions = planned.secrets
        names = {name: secret_reference(name) for _, name in positions}
        about = {"name": row.name, "type": row.type, "at": moment(now)}
        given = planned.renderers["with"].render({"trigger": about, "secrets": names}, ExpressionTime(now), Meter())
        if not positions:
            return PollArguments(given, None)
        plan = await self._plans.latest(row.workflow, now)
        undeclared = [name for name in names if plan is None or name not in plan.definition.secrets]
        if undeclared:
            raise SecretMissing(f"The workflow does not declare the secret `{undeclared[0]}`.")
        return PollArguments(given, await self._secrets.of_call(row.workflow, positions))
