"""The libraries that senders and receivers use decide as we do: what one signs, the other takes, and nothing else.

GitHub publishes no library for Python; its published vector is in `test_signatures.py`, with those of the others.
"""

from __future__ import annotations

import base64
from importlib import import_module
from time import time
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.signature import Clock, SignatureVerifier
from standardwebhooks import Webhook, WebhookVerificationError

from layover.core.webhooks import HookCheck, HookDelivery, Verified, WebhookSecret, sign, verify

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from layover.core.webhooks import Scheme

# A type checker would read its eight hundred modules.
stripe = import_module("stripe")

SECONDS: Final = 1_790_000_000
KEYS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=40)
BODIES = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
SIGNED = BODIES.map(lambda body: (body, body)) | st.tuples(BODIES, BODIES)  # what was signed, and what comes
SKEWS = st.integers(-400, 400)
LISTED = st.lists(st.sampled_from(["good", "bad", "other version", "nothing"]), min_size=1, max_size=4)


def takes(scheme: Scheme, headers: Mapping[str, str], body: str, secret: str, seconds: int = SECONDS) -> bool:
    delivery = HookDelivery(headers, body.encode())
    return isinstance(verify(HookCheck(scheme), delivery, [WebhookSecret(secret)], seconds * 1000), Verified)


def agrees(theirs: Callable[[], object], refused: type[Exception] = Exception) -> bool:
    """Return whether a library takes something, which it says by an error or by its answer."""
    try:
        return theirs() is not False
    except refused:
        return False


# Stripe: the library looks at the machine's clock, so only signatures are compared


@given(KEYS, BODIES)
def test_stripe_signs_as_we_do_and_takes_what_we_sign(secret: str, body: str) -> None:
    theirs = stripe.WebhookSignature.generate_signature_header(body, secret, SECONDS)
    ours = sign(HookCheck("stripe"), secret, body.encode(), SECONDS * 1000)
    assert ours == {"stripe-signature": theirs}
    assert takes("stripe", ours, body, secret)
    assert stripe.WebhookSignature.verify_header(body, theirs, secret)


@given(KEYS, SIGNED, LISTED)
def test_stripe_takes_and_refuses_the_same_lists_of_signatures(
    secret: str, bodies: tuple[str, str], listed: list[str]
) -> None:
    signed, body = bodies
    good = sign(HookCheck("stripe"), secret, signed.encode(), SECONDS * 1000)["stripe-signature"].partition("v1=")[2]
    parts = {"good": f"v1={good}", "bad": f"v1={'0' * 64}", "other version": f"v0={good}", "nothing": "v1="}
    header = ",".join([f"t={SECONDS}", *(parts[one] for one in listed)])
    refused = stripe.SignatureVerificationError
    theirs = agrees(lambda: stripe.WebhookSignature.verify_header(body, header, secret), refused)
    assert takes("stripe", {"stripe-signature": header}, body, secret) == theirs


# Slack


class At(Clock):
    """A clock that stands at a moment."""

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds

    def now(self) -> float:
        return self._seconds


@given(KEYS, BODIES, SKEWS)
def test_slack_signs_as_we_do_and_takes_the_same_times(secret: str, body: str, skew: int) -> None:
    theirs = SignatureVerifier(secret, At(SECONDS))
    at = SECONDS + skew
    ours = sign(HookCheck("slack"), secret, body.encode(), at * 1000)
    assert ours["x-slack-signature"] == theirs.generate_signature(timestamp=str(at), body=body)
    assert takes("slack", ours, body, secret) == theirs.is_valid_request(body, ours)


@given(KEYS, KEYS, SIGNED)
def test_slack_refuses_other_keys_and_other_bodies_as_we_do(secret: str, other: str, bodies: tuple[str, str]) -> None:
    signed, body = bodies
    ours = sign(HookCheck("slack"), secret, signed.encode(), SECONDS * 1000)
    for key in (secret, other):
        theirs = SignatureVerifier(key, At(SECONDS)).is_valid_request(body, ours)
        assert takes("slack", ours, body, key) == theirs


# Standard Webhooks: the library looks at the machine's clock, so the times are far from the edge


@pytest.mark.parametrize(("skew", "is_taken"), [(0, True), (-200, True), (200, True), (-900, False), (900, False)])
def test_standard_webhooks_take_the_same_times(skew: int, *, is_taken: bool) -> None:
    now, secret = int(time()), f"whsec_{base64.b64encode(b'k' * 24).decode()}"
    ours = sign(HookCheck("standard"), secret, b"{}", (now + skew) * 1000, "msg_1")
    assert agrees(lambda: Webhook(secret).verify(b"{}", ours), WebhookVerificationError) == is_taken
    assert takes("standard", ours, "{}", secret, now) == is_taken


@given(st.binary(min_size=24, max_size=64), SIGNED, LISTED)
def test_standard_webhooks_take_and_refuse_the_same_lists_of_signatures(
    key: bytes, bodies: tuple[str, str], listed: list[str]
) -> None:
    signed, body = bodies
    now, secret = int(time()), f"whsec_{base64.b64encode(key).decode()}"
    headers = sign(HookCheck("standard"), secret, signed.encode(), now * 1000, "msg_1")
    good = headers["webhook-signature"].partition(",")[2]
    bad = base64.b64encode(b"0" * 32).decode()
    parts = {"good": f"v1,{good}", "bad": f"v1,{bad}", "other version": f"v2,{good}", "nothing": "v1,"}
    headers["webhook-signature"] = " ".join(parts[one] for one in listed)
    library = Webhook(secret)
    theirs = agrees(lambda: library.verify(body, headers, json_parse=False), WebhookVerificationError)
    assert takes("standard", headers, body, secret, now) == theirs
