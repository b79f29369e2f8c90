"""`layover.hook` delivers as the sender of a scheme does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover import BadUse, NotAllowed, NotFound

if TYPE_CHECKING:
    from layover.testing import Layover

KEY = "whsec_dGhlIGtleSBvZiB0aGUgc2hvcA=="
NODES = [{"id": "a", "type": "end", "output": "${input}"}]


def shop(scheme: str, name: str = "shop") -> dict[str, Any]:
    verify: dict[str, Any] = {"scheme": scheme}
    if scheme not in ("none", "token"):
        verify["secret"] = "KEY"  # noqa: S105 - a name
    if scheme == "hmac":
        verify["header"] = "X-Signature"
    trigger = {"name": "paid", "type": "webhook", "verify": verify}
    return {"name": name, "secrets": ["KEY"], "nodes": NODES, "triggers": [trigger]}


@pytest.mark.parametrize("scheme", ["standard", "github", "stripe", "slack", "hmac", "key", "token", "none"])
async def test_a_delivery_is_signed_and_starts_one_execution(layover: Layover, scheme: str) -> None:
    layover.secret("KEY", KEY)
    await layover.register(shop(scheme))
    first = await layover.hook("paid", {"id": "e1", "event_id": "e1"}, id="d1")
    again = await layover.hook("shop/paid", {"id": "e1", "event_id": "e1"}, id="d1")
    assert (first.status, again.execution_id) == ("started", first.execution_id)
    other = await layover.hook("paid", {"id": "e2", "event_id": "e2"})
    assert other.execution_id != first.execution_id
    assert other.execution_id is not None
    assert await (await layover.execution(other.execution_id)).result() == {"id": "e2", "event_id": "e2"}


async def test_headers_that_are_given_count_and_a_wrong_signature_is_refused(layover: Layover) -> None:
    layover.secret("KEY", KEY)
    await layover.register(shop("github"))
    with pytest.raises(NotAllowed):
        await layover.hook("paid", {}, headers={"X-Hub-Signature-256": "sha256=00"})
    assert (await layover.hook("paid", b"[1]", headers={"X-Event": "push"})).status == "started"


async def test_a_hook_without_its_secret_or_its_workflow_is_refused_with_what_to_do(layover: Layover) -> None:
    await layover.register(shop("github"))
    with pytest.raises(BadUse, match="KEY"):
        await layover.hook("paid")
    with pytest.raises(NotFound):
        await layover.hook("other")
    await layover.register(shop("none", "second"))
    with pytest.raises(BadUse, match="second/paid"):
        await layover.hook("paid")
