"""Signatures of webhooks: published vectors, libraries as oracles, rotation, clocks, replays, and hostile input."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook

from layover.core.webhooks import (
    SCHEMES,
    HookCheck,
    HookDelivery,
    RefusedHook,
    Scheme,
    Verified,
    WebhookSecret,
    sign,
    token_hash,
    verify,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

NOW = 1_790_000_000_000
STANDARD = f"whsec_{base64.b64encode(b'k' * 24).decode()}"
OTHER = f"whsec_{base64.b64encode(b'o' * 24).decode()}"
SIGNED: tuple[Scheme, ...] = ("standard", "github", "stripe", "slack", "hmac")
TIMED: tuple[Scheme, ...] = ("standard", "stripe", "slack")
SLACK_BODY = (
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar"
    "&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com"
    "%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121."
    "803a0bc887a14d10d2c447fce8b6703c"
)


def _verification(scheme: Scheme) -> HookCheck:
    return HookCheck(scheme, "X-Signature" if scheme == "hmac" else "")


def _secrets(*values: str) -> list[WebhookSecret]:
    return [WebhookSecret(value) for value in values]


def _signed(scheme: Scheme, secret: str, body: bytes, now: int = NOW) -> HookDelivery:
    return HookDelivery(sign(_verification(scheme), secret, body, now, "msg_1"), body)


@pytest.mark.parametrize(
    ("scheme", "secret", "headers", "body", "at"),
    [
        (
            "standard",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            {
                "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
                "webhook-timestamp": "1614265330",
                "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            },
            '{"test": 2432232314}',
            1_614_265_330_000,
        ),
        (
            "github",
            "It's a Secret to Everybody",
            {"x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
            "Hello, World!",
            NOW,
        ),
        (
            "slack",
            "8f742231b10e8888abcd99yyyzzz85a5",
            {
                "x-slack-request-timestamp": "1531420618",
                "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
            },
            SLACK_BODY,
            1_531_420_618_000,
        ),
        (
            "stripe",
            "whsec_test_secret",
            {"stripe-signature": "t=1700000000,v1=86d195bdf7fa8d2a41b621d0367baa5f34b0c4861d35227c2012edbaf25cf1a2"},
            '{"id": "evt_1", "object": "event"}',
            1_700_000_000_000,
        ),
    ],
)
def test_a_published_signature_is_verified(
    scheme: Scheme, secret: str, headers: dict[str, str], body: str, at: int
) -> None:
    verdict = verify(_verification(scheme), HookDelivery(headers, body.encode()), _secrets(secret), at)
    assert isinstance(verdict, Verified)
    other = verify(_verification(scheme), HookDelivery(headers, body.encode() + b" "), _secrets(secret), at)
    assert other == RefusedHook("wrong_signature", 0 if scheme in TIMED else None)


@given(st.binary(min_size=24, max_size=64), st.text(max_size=50), st.text("abc_-123", min_size=1, max_size=20))
def test_the_library_of_standard_webhooks_signs_as_we_do(key: bytes, body: str, named: str) -> None:
    secret = f"whsec_{base64.b64encode(key).decode()}"
    theirs = Webhook(secret).sign(
        named, datetime.fromtimestamp(NOW // 1000, UTC), body.encode(errors="replace").decode()
    )
    ours = sign(HookCheck("standard"), secret, body.encode(errors="replace"), NOW, named)
    assert ours["webhook-signature"] == theirs
    verdict = verify(HookCheck("standard"), HookDelivery(ours, body.encode(errors="replace")), _secrets(secret), NOW)
    assert verdict == Verified(named, 0)


@pytest.mark.parametrize("scheme", SIGNED)
def test_a_wrong_key_or_a_changed_body_is_refused(scheme: Scheme) -> None:
    delivery = _signed(scheme, STANDARD, b"{}")
    skew = 0 if scheme in TIMED else None
    assert isinstance(verify(_verification(scheme), delivery, _secrets(STANDARD), NOW), Verified)
    assert verify(_verification(scheme), delivery, _secrets(OTHER), NOW) == RefusedHook("wrong_signature", skew)
    changed = HookDelivery(delivery.headers, b"{ }")
    assert verify(_verification(scheme), changed, _secrets(STANDARD), NOW) == RefusedHook("wrong_signature", skew)
    assert verify(_verification(scheme), HookDelivery({}, b"{}"), _secrets(STANDARD), NOW) == RefusedHook(
        "missing_signature"
    )


@pytest.mark.parametrize("scheme", SIGNED)
def test_an_old_secret_counts_until_its_moment(scheme: Scheme) -> None:
    delivery = _signed(scheme, OTHER, b"{}")

    def rotated(until: int) -> Sequence[WebhookSecret]:
        return [WebhookSecret(STANDARD), WebhookSecret(OTHER, until)]

    assert isinstance(verify(_verification(scheme), delivery, rotated(NOW), NOW), Verified)
    assert isinstance(verify(_verification(scheme), delivery, rotated(NOW - 1), NOW), RefusedHook)
    only = [WebhookSecret(OTHER, NOW - 1)]
    assert verify(_verification(scheme), delivery, only, NOW) == RefusedHook("no_secret")
    assert verify(_verification(scheme), delivery, [], NOW) == RefusedHook("no_secret")


@pytest.mark.parametrize("scheme", TIMED)
@pytest.mark.parametrize("direction", [-1, 1])
def test_a_signed_time_may_differ_by_five_minutes(scheme: Scheme, direction: int) -> None:
    near = _signed(scheme, STANDARD, b"{}", NOW + direction * 300_000)
    assert isinstance(verify(_verification(scheme), near, _secrets(STANDARD), NOW), Verified)
    far = _signed(scheme, STANDARD, b"{}", NOW + direction * 301_000)
    assert verify(_verification(scheme), far, _secrets(STANDARD), NOW) == RefusedHook("wrong_time", direction * 301_000)


@pytest.mark.parametrize("scheme", ["github", "hmac"])
def test_where_only_the_body_is_signed_a_replay_has_the_same_id_whatever_its_headers(scheme: Scheme) -> None:
    delivery = _signed(scheme, STANDARD, b"{}")
    forged = {**delivery.headers, "x-github-delivery": "other", "webhook-id": "other", "idempotency-key": "other"}
    for headers in (delivery.headers, forged):
        verdict = verify(_verification(scheme), HookDelivery(headers, b"{}"), _secrets(STANDARD), NOW)
        assert verdict == Verified(hashlib.sha256(b"{}").hexdigest())


@pytest.mark.parametrize(
    ("scheme", "body", "named"),
    [
        ("stripe", b'{"id": "evt_1", "data": {}}', "evt_1"),
        ("stripe", b'{"id": 5}', None),
        ("stripe", b"[]", None),
        ("slack", b'{"event_id": "Ev1", "type": "event_callback"}', "Ev1"),
        ("slack", b"command=x", None),
        ("slack", b'{"event_id": ' + b"[" * 100_000, None),
        ("standard", b"\xff\xfe", "msg_1"),
        ("stripe", b"\xff\xfe", None),
        ("stripe", b'{"id": "' + b"x" * 201 + b'"}', hashlib.sha256(b"x" * 201).hexdigest()),
    ],
)
def test_the_id_is_one_that_the_signature_covers(scheme: Scheme, body: bytes, named: str | None) -> None:
    verdict = verify(_verification(scheme), _signed(scheme, STANDARD, body), _secrets(STANDARD), NOW)
    assert verdict == Verified(named or hashlib.sha256(body).hexdigest(), 0)


def test_slack_is_sent_its_challenge_if_it_is_signed() -> None:
    body = json.dumps({"type": "url_verification", "challenge": "3eZbrw1a", "token": "t"}).encode()
    verdict = verify(HookCheck("slack"), _signed("slack", STANDARD, body), _secrets(STANDARD), NOW)
    assert isinstance(verdict, Verified)
    assert verdict.challenge == "3eZbrw1a"
    unsigned = verify(HookCheck("slack"), HookDelivery({}, body), _secrets(STANDARD), NOW)
    assert unsigned == RefusedHook("missing_signature")


def test_a_plain_signature_may_say_its_hash() -> None:
    delivery = _signed("hmac", STANDARD, b"{}")
    prefixed = {name: f"sha256={value}" for name, value in delivery.headers.items()}
    verdict = verify(_verification("hmac"), HookDelivery(prefixed, b"{}"), _secrets(STANDARD), NOW)
    assert isinstance(verdict, Verified)


def test_a_key_stands_in_its_header() -> None:
    keys = _secrets("new", "old")
    own = HookCheck("key", "X-Secret")
    assert isinstance(verify(own, HookDelivery({"x-secret": "old"}, b""), keys, NOW), Verified)
    assert isinstance(verify(HookCheck("key"), HookDelivery({"x-api-key": "new"}, b""), keys, NOW), Verified)
    bearer = HookCheck("key", "Authorization")
    assert isinstance(verify(bearer, HookDelivery({"authorization": "Bearer new"}, b""), keys, NOW), Verified)
    assert verify(own, HookDelivery({"x-secret": "others"}, b""), keys, NOW) == RefusedHook("wrong_signature")
    assert verify(own, HookDelivery({}, b""), keys, NOW) == RefusedHook("missing_signature")
    assert verify(own, HookDelivery({"x-secret": ""}, b""), _secrets(""), NOW) == RefusedHook("no_secret")


def test_a_token_is_compared_by_its_hash_and_a_sender_without_a_signature_may_name_its_delivery() -> None:
    stored = _secrets(token_hash("t0ken"))
    verdict = verify(HookCheck("token"), HookDelivery({"idempotency-key": "42"}, b"x", "t0ken"), stored, NOW)
    assert verdict == Verified("42")
    assert verify(HookCheck("token"), HookDelivery({}, b"x", "other"), stored, NOW) == RefusedHook("wrong_signature")
    as_stored = HookDelivery({}, b"x", token_hash("t0ken"))
    assert verify(HookCheck("token"), as_stored, stored, NOW) == RefusedHook("wrong_signature")
    assert verify(HookCheck("none"), HookDelivery({}, b"x"), [], NOW) == Verified(hashlib.sha256(b"x").hexdigest())


def test_only_so_many_signatures_are_compared() -> None:
    delivery = _signed("standard", STANDARD, b"{}")
    good = delivery.headers["webhook-signature"]
    few = {**delivery.headers, "webhook-signature": " ".join(["v1,AAAA", "v2,x", "nonsense", good])}
    many = {**delivery.headers, "webhook-signature": " ".join(["v1,AAAA"] * 50 + [good])}
    giant = {**delivery.headers, "webhook-signature": "v1,AAAA " * 100_000 + good}
    assert verify(HookCheck("standard"), HookDelivery(few, b"{}"), _secrets(STANDARD), NOW) == Verified("msg_1", 0)
    refused = verify(HookCheck("standard"), HookDelivery(many, b"{}"), _secrets(STANDARD), NOW)
    assert refused == RefusedHook("wrong_signature", 0)
    malformed = verify(HookCheck("standard"), HookDelivery(giant, b"{}"), _secrets(STANDARD), NOW)
    assert malformed == RefusedHook("malformed_signature")


_HEADERS = (
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
    "stripe-signature",
    "x-hub-signature-256",
    "x-slack-signature",
    "x-slack-request-timestamp",
    "x-signature",
    "x-api-key",
    "idempotency-key",
)
_VALUES = st.one_of(
    st.text(max_size=60),
    st.from_regex(r"(t=[0-9]{0,30},)?(v[01][=,]|sha256=)[0-9a-fA-F=+/é]{0,70}([ ,]v1[,=][^ ]{0,5}){0,3}"),
    st.from_regex(r"[0-9²٣.e-]{0,30}"),
)


@given(
    st.sampled_from(SCHEMES),
    st.dictionaries(st.sampled_from(_HEADERS), _VALUES),
    st.binary(max_size=40),
    st.lists(st.text(max_size=20), max_size=3),
)
def test_no_input_raises_and_none_is_accepted_by_chance(
    scheme: Scheme, headers: dict[str, str], body: bytes, secrets: list[str]
) -> None:
    verdict = verify(
        _verification(scheme), HookDelivery(headers, body, headers.get("x-api-key", "")), _secrets(*secrets), NOW
    )
    if scheme in SIGNED:
        assert isinstance(verdict, RefusedHook)


def test_a_secret_does_not_show_itself() -> None:
    assert "whsec" not in repr(WebhookSecret("whsec_abc"))
