"""Webhooks: a delivery whose sender can prove who it is becomes an input.

The order matters: nothing is stored, parsed or evaluated before the signature over the raw bytes is right. A delivery
that comes again has the same id, and gets the same answer. Headers that hold credentials or signatures are masked
before anything else sees them, and so are parameters of the address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple
from urllib.parse import parse_qsl

import msgspec

from layover.core.calendar import zone_named
from layover.core.definitions.instants import parse_instant
from layover.core.definitions.trigger_types import WebhookTrigger
from layover.core.ids import trigger_id
from layover.core.payloads import PayloadReserved, plain, reserved_key
from layover.core.webhooks import (
    HookCheck,
    HookDelivery,
    RefusedHook,
    WebhookSecret,
    has_form_of_hook_token,
    token_hash,
    verify,
)
from layover.errors import InvalidInput, LimitReached, NotAllowed, NotFound
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.trigger_records import Reception
from layover.redaction import has_credential
from layover.runtime.triggers.notes import RefusedDeliveryNote, TriggerNotes
from layover.runtime.triggers.received import Payload, named_input, new_input, note_filtered
from layover.runtime.triggers.registration import execution_id_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from layover.core.plan import PlannedTrigger
    from layover.core.webhooks import Verified
    from layover.ports.trigger_records import InputRow, TriggerRow
    from layover.runtime.instance import Instance
    from layover.runtime.triggers.schedule_claimer import ScheduleClaimer

LARGEST_BODY: Final = 1_000_000
LARGEST_QUERY: Final = 8_000  # characters of all parameters
_MOST_HEADERS: Final = 50
_LONGEST_HEADER: Final = 1_000
_MOST_FIELDS: Final = 1_000
_MASKED: Final = ("authorization", "cookie", "signature", "token", "secret", "api-key", "password")
_MASK: Final = "***"
_FORM: Final = "application/x-www-form-urlencoded"


class HookName(NamedTuple):
    """The webhook that a delivery is for: by the names of its workflow and trigger, or by a token."""

    workflow: str = ""
    name: str = ""
    token: str = ""

    @classmethod
    def of_token(cls, token: str) -> HookName:
        """Return the webhook with `/hooks/t/{token}`, which is one of a workflow `t` if that is no token."""
        return cls(token=token) if has_form_of_hook_token(token) else cls("t", token)


class HookRequest(NamedTuple):
    """One delivery, as it came: header names are lower-case. `row` is its webhook, if that was looked up before."""

    hook: HookName
    headers: Mapping[str, str]
    body: bytes
    query: Sequence[tuple[str, str]] = ()
    row: TriggerRow | None = None


class HookResult(NamedTuple):
    """What became of a delivery; `respond` says what its sender waits for."""

    status: Literal["started", "delivered", "pending", "filtered", "rejected", "challenge"]
    input_id: str = ""
    execution_id: str | None = None
    reason: str = ""
    respond: str = "accepted"
    challenge: str = ""


class Webhooks:
    """Takes deliveries."""

    def __init__(self, instance: Instance, claimer: ScheduleClaimer) -> None:
        self._instance = instance
        self._claimer = claimer
        self.refused = TriggerNotes[RefusedDeliveryNote]()

    async def take(self, request: HookRequest, admit: Callable[[str], Awaitable[None]] | None = None) -> HookResult:
        """Take a delivery: verify it, then keep it, then start it. `admit` refuses one of too many that are genuine."""
        now = self._instance.clock.now()
        row, planned, trigger = await self._planned(request, now)
        verified = await self._verified(row, trigger, request, now)
        if verified.challenge is not None:
            return HookResult("challenge", challenge=verified.challenge)
        if admit is not None:
            await admit(row.id)
        payload = _payload(verified.input_id, request)
        new = new_input(row, payload, now=now, dedup=trigger.dedup)
        event = named_input(row, planned, new, payload, now)
        if event is None or event.input is None:
            self._instance.metrics.trigger_input(row.workflow, row.name, "filtered")
            note_filtered(self._instance.filtered_inputs, row, planned, new, payload, now)
            return HookResult("filtered", verified.input_id)
        most = trigger.max_pending
        kept = await self._instance.store.triggers.receive(Reception(input=event.input, event=event, most_pending=most))
        if kept.input is None:
            raise LimitReached(f"The trigger has {most} pending inputs already; try later.", code="trigger_full")
        if not kept.repeated:
            reached(CommitPoint.INPUT_KEPT)
            if kept.input.due_at is not None and self._instance.settings.executions > 0:
                await self._instance.trigger_runner.start_input(row, kept.input)
        return await self._result(row, kept.input, trigger.respond)

    async def _planned(self, request: HookRequest, now: int) -> tuple[TriggerRow, PlannedTrigger, WebhookTrigger]:
        """Return a webhook as the newest version has it, which may be newer than the row that was looked up before."""
        for row in (request.row, None):
            known = row if row is not None else await self.find(request.hook)
            planned = await self._claimer.planned(known, now)
            if planned is None or not isinstance(planned.trigger, WebhookTrigger):
                continue
            if request.hook.token and planned.trigger.verify.scheme != "token":
                break  # it was one with a token before
            return known, planned, planned.trigger
        raise _unknown()

    async def find(self, hook: HookName) -> TriggerRow:
        """Find a webhook; NotFound if there is none."""
        triggers = self._instance.store.triggers
        if hook.token:
            row = await triggers.find_by_token(token_hash(hook.token), self._instance.clock.now())
        else:
            row = await triggers.find(trigger_id(hook.workflow, hook.name))
        if row is None or row.type != "webhook" or row.state == "stopped":
            raise _unknown()
        return row

    async def _verified(self, row: TriggerRow, trigger: WebhookTrigger, request: HookRequest, now: int) -> Verified:
        check = HookCheck(trigger.verify.scheme, trigger.verify.header)
        token = request.hook.token
        # The token was found by its hash, so that is what it is compared with; in the other address there is none.
        secrets = [WebhookSecret(token_hash(token))] if token else await self._secrets(row.workflow, trigger)
        verdict = verify(check, HookDelivery(request.headers, request.body, token), secrets, now)
        if not isinstance(verdict, RefusedHook):
            return verdict
        self._instance.metrics.webhook_refused(verdict.reason)
        self.refused.set(row.id, RefusedDeliveryNote(now, verdict.reason, verdict.skew))
        raise NotAllowed("The delivery is not signed as this webhook expects.", code="bad_signature")

    async def _secrets(self, workflow: str, trigger: WebhookTrigger) -> list[WebhookSecret]:
        """Return the values of the secrets; one that is missing, or not granted to the workflow, matches nothing."""
        found: list[WebhookSecret] = []
        plan = await self._instance.plans.latest(workflow, self._instance.clock.now())
        declared = plan.definition.secrets if plan is not None else ()
        for one in trigger.verify.secret:
            if one.name not in declared or not self._instance.secret_grants.grants(workflow, one.name):
                continue
            secret = (await self._instance.secrets.find(one.name)).secret
            until = parse_instant(one.until, zone_named("UTC")) if one.until is not None else None
            if secret is not None:
                found.append(WebhookSecret(secret.value, until))
        return found

    async def _result(self, row: TriggerRow, one: InputRow, respond: str) -> HookResult:
        known = await self._instance.store.triggers.find_input(row.id, one.input_id) or one
        id_ = execution_id_of(row.id, one.input_id)
        match known.state:
            case "started":
                return HookResult("started", one.input_id, known.execution_id or id_, respond=respond)
            case "delivered":
                return HookResult("delivered", one.input_id)
            case "skipped":
                return HookResult("filtered", one.input_id)
            case "rejected" | "discarded":
                return HookResult("rejected", one.input_id, reason=known.reason)
            case _:
                return HookResult("pending", one.input_id, id_)


def _unknown() -> NotFound:
    return NotFound("There is no such webhook.", code="unknown_trigger")


def _data(request: HookRequest) -> object:
    """Return what a body says: JSON, or a form as a mapping."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() == _FORM:
        try:
            text = request.body.decode()
            return plain(dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)))
        except ValueError as error:
            raise InvalidInput("The body is not a valid form.", code="malformed") from error
    if not request.body:
        return None
    try:
        return plain(msgspec.json.decode(request.body))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidInput("The body is not valid JSON.", code="malformed") from error


def _payload(input_id: str, request: HookRequest) -> Payload:
    """Return what is kept of a delivery; a reserved key is refused wherever it is, else it could not be started."""
    headers, query = _shown_headers(request.headers), _shown_query(request.query)
    reserved = reserved_key([headers, query])
    if reserved is not None:
        raise PayloadReserved(reserved)
    return Payload(input_id=input_id, data=_data(request), headers=headers, query=query)


def _shown_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that expressions see: those with credentials or signatures, by name or value, are masked."""
    shown: dict[str, str] = {}
    for name, value in list(headers.items())[:_MOST_HEADERS]:
        is_secret = any(word in name for word in _MASKED) or has_credential(name, value)
        shown[name[:_LONGEST_HEADER]] = _MASK if is_secret else value[:_LONGEST_HEADER]
    return shown


def _shown_query(pairs: Sequence[tuple[str, str]]) -> dict[str, str | list[str]]:
    """Return the parameters that expressions see: a name that comes more than once has a list of values."""
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        is_secret = has_credential(name, value)
        shown = _MASK if is_secret and has_credential("", name) else name
        found.setdefault(shown, []).append(_MASK if is_secret else value)
    return {name: values if len(values) > 1 else values[0] for name, values in found.items()}
