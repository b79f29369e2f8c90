"""Deliveries to the webhooks of a test: signed as their senders sign them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, urlencode

import msgspec

from layover.core.definitions.trigger_types import WebhookTrigger
from layover.core.webhooks import HookCheck, sign
from layover.errors import BadUse, NotFound
from layover.model.triggers import HookReceipt
from layover.runtime.triggers.planned import planned_of
from layover.runtime.triggers.webhooks import HookName, HookRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from layover.ports.trigger_records import TriggerRow
    from layover.service.service import UserService
    from layover.testing.secrets import GivenSecrets

_MOST = 1_000
_DAY = 86_400_000


class KitDelivery(NamedTuple):
    """What is delivered: `name` is a trigger, as WORKFLOW/NAME or alone if only one workflow has it."""

    name: str
    body: object
    id: str
    headers: Mapping[str, str]
    query: Mapping[str, str | Sequence[str]]

    @property
    def raw(self) -> bytes:
        """The body as it is sent."""
        return self.body if isinstance(self.body, bytes) else msgspec.json.encode(self.body)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The parameters of the address, one by one."""
        return parse_qsl(urlencode(self.query, doseq=True), keep_blank_values=True)


async def deliver(service: UserService, secrets: GivenSecrets, delivery: KitDelivery) -> HookReceipt:
    """Sign and deliver; NotAllowed if the webhook does not take the signature."""
    instance = service.actor.runtime.instance
    row = await _find(service, delivery.name)
    plan = await instance.plans.latest(row.workflow, instance.clock.now())
    planned = planned_of(plan, row) if plan is not None else None
    if planned is None or not isinstance(planned.trigger, WebhookTrigger):
        raise BadUse(f"`{delivery.name}` is no webhook.")
    verify = planned.trigger.verify
    headers = {"content-type": "application/json"}
    hook = HookName(row.workflow, row.name)
    if verify.scheme == "token":
        made = await service.actor.runtime.trigger_resources.rotate_token(row, _DAY, None)
        hook = HookName.of_token((made.address or "").removeprefix("/hooks/t/"))
    if verify.scheme in ("token", "key", "none"):
        headers["idempotency-key"] = delivery.id
    if verify.secret:
        secret = await secrets.get(verify.secret[0].name)
        if secret is None:
            raise BadUse(f"Give the secret first: `layover.secret({verify.secret[0].name!r}, …)`.")
        check = HookCheck(verify.scheme, verify.header)
        headers |= sign(check, secret.value, delivery.raw, instance.clock.now(), delivery.id)
    given = {name.lower(): value for name, value in delivery.headers.items()}
    request = HookRequest(hook, {**headers, **given}, delivery.raw, delivery.pairs)
    result = await instance.webhooks.take(request)
    return HookReceipt(
        input_id=result.input_id, status=result.status, execution_id=result.execution_id, reason=result.reason
    )


async def _find(service: UserService, name: str) -> TriggerRow:
    """Return the webhook of a name."""
    rows = await service.actor.runtime.instance.store.triggers.list_triggers(limit=_MOST)
    hooks = [row for row in rows if row.type == "webhook" and name in (row.name, f"{row.workflow}/{row.name}")]
    if not hooks:
        raise NotFound(f"There is no webhook `{name}`.", code="unknown_trigger")
    if len(hooks) > 1:
        named = ", ".join(f"`{row.workflow}/{row.name}`" for row in hooks[:5])
        raise BadUse(f"There are several webhooks `{name}`: {named}.")
    return hooks[0]
