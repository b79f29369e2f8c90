"""What is masked in texts that are stored or shown, and what is left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from layover import redaction
from layover.masking import MASK
from layover.redaction import RULES, redact

if TYPE_CHECKING:
    from collections.abc import Iterator

_JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"

MASKED = {
    f"key {'lay_' + 'k' * 43} was refused": f"key {MASK} was refused",
    "sent Bearer abcdefghijkl.123": f"sent Bearer {MASK}",
    "Authorization: Basic dXNlcjpwYXNz\nHost: here": f"Authorization: {MASK}\nHost: here",
    "{'Authorization': 'Digest x=1', 'Accept': '*'}": f"{{'Authorization': '{MASK}', 'Accept': '*'}}",
    "[(b'cookie', b'a=1; b=2'), (b'host', b'h')]": f"[(b'cookie', b'{MASK}'), (b'host', b'h')]",
    "Set-Cookie: sid=1; Path=/\nHost: here": f"Set-Cookie: {MASK}\nHost: here",
    "basic dXNlcjpwYXNz, rest": f"basic {MASK}, rest",
    "postgresql://layover:pa%40ss@db.example/app": f"postgresql://layover:{MASK}@db.example/app",
    "postgresql://layover:p@ss@db.example/app": f"postgresql://layover:{MASK}@db.example/app",
    "redis://:hunter2@cache:6379/0": f"redis://:{MASK}@cache:6379/0",
    "GET /a?token=abc&x=1": f"GET /a?token={MASK}&x=1",
    "GET /blob?sv=1&sig=a%2Bb%3D&se=2": f"GET /blob?sv=1&sig={MASK}&se=2",
    "password=hunter2, user=a": f"password={MASK}, user=a",
    "password: hunter2": f"password: {MASK}",
    "DB_PASSWORD=hunter2 rest": f"DB_PASSWORD={MASK} rest",
    "accessToken => 'a b' rest": f"accessToken => '{MASK}' rest",
    "Login(user='a', password='b\\'c', n=1)": f"Login(user='a', password='{MASK}', n=1)",
    '{"api_key": "a\\"b", "n": 1}': f'{{"api_key": "{MASK}", "n": 1}}',
    '{\\"client_secret\\": \\"abc\\", \\"n\\": 1}': f'{{\\"client_secret\\": \\"{MASK}\\", \\"n\\": 1}}',
    '"auth": {"bearer": "abc"}': f'"auth": {{"bearer": "{MASK}"}}',
    "AWS_SECRET_ACCESS_KEY=abc/def+ghi": f"AWS_SECRET_ACCESS_KEY={MASK}",
    "id AKIAIOSFODNN7EXAMPLE": f"id {MASK}",
    f"got {_JWT}.": f"got {MASK}",
    "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nrest": f"{MASK}\nrest",
    "ghp_" + "a" * 36: MASK,
    "glpat-" + "a" * 20: MASK,
    "xoxb-1234567890-abc": MASK,
    "AIza" + "a" * 35: MASK,
    "sk-proj-" + "a" * 30: MASK,
}

LEFT = (
    "KeyError: 'x'",
    "Basic authentication required",
    "the bearer of bad news",
    "max_tokens=500, total_tokens: 12",
    "http://host:8080/a@b",
    "unknown_token",
    "lay_12345678",  # the part of a key by which people tell keys apart
    "monkey: banana",
    "signal=paid, bigsig=1",
    "postgresql://layover@host/app",
)


@pytest.fixture(autouse=True)
def nothing_registered() -> Iterator[None]:
    yield
    left = (*redaction._secrets, *redaction._hooks)  # noqa: SLF001 - the next test begins without any
    assert left == ()


@pytest.mark.parametrize("text", MASKED)
def test_a_credential_is_masked_and_the_text_around_it_stays(text: str) -> None:
    assert redact(text) == MASKED[text]


@pytest.mark.parametrize("text", LEFT)
def test_a_text_without_credentials_stays(text: str) -> None:
    assert redact(text) == text


def test_every_rule_is_tried() -> None:
    for rule in RULES:
        redact_only = [text for text in MASKED if any(sign in text.lower() for sign in rule.signs)]
        assert redact_only, rule.name


def test_redacting_twice_changes_nothing_more() -> None:
    for text in MASKED:
        assert redact(redact(text)) == redact(text)


def test_json_with_masked_values_is_still_json() -> None:
    given = {"password": 'a"b\\c', "headers": {"Authorization": "Bearer x"}, "note": "token='abc'", "n": 1}
    read = json.loads(redact(json.dumps(given)))
    assert read == {"password": MASK, "headers": {"Authorization": MASK}, "note": f"token='{MASK}'", "n": 1}


def test_a_long_text_is_cut_and_a_credential_across_the_cut_is_masked() -> None:
    assert redact("x" * 50_000) == "x" * redaction.LONGEST
    assert redact("a" * 95 + " password='" + "p" * 50_000, 100) == "a" * 95 + " pass"
    assert "kkk" not in redact("a" * 90 + " lay_" + "k" * 50_000, 100)
    assert "MII" not in redact("-----BEGIN PRIVATE KEY-----\n" + "MII" * 50_000, 100)


def test_a_registered_value_is_masked_in_all_its_forms() -> None:
    value = 'c0rrect "horse"/ü'
    redaction.register_secret(value)
    try:
        for text in (value, json.dumps(value), repr(value), "https://h/c0rrect%20%22horse%22%2F%C3%BC"):
            assert "horse" not in redact(f"<{text}>")
    finally:
        redaction.forget_secret(value)
    assert redact(value) == value


def test_a_value_within_a_longer_one_does_not_uncover_the_rest() -> None:
    redaction.register_secret("horse")
    redaction.register_secret("horsebattery")
    try:
        assert redact("a horsebattery") == f"a {MASK}"
    finally:
        redaction.forget_secret("horse")
        redaction.forget_secret("horsebattery")


def test_a_value_of_a_few_letters_is_not_registered() -> None:
    redaction.register_secret("abc")
    assert redact("abc") == "abc"


def test_a_hook_masks_what_it_knows_until_it_is_removed() -> None:
    def hide_customers(text: str) -> str:
        return text.replace("ACME", "[customer]")

    redaction.add_hook(hide_customers)
    redaction.add_hook(hide_customers)
    redaction.remove_hook(hide_customers)
    assert redact("ACME failed") == "[customer] failed"
    redaction.remove_hook(hide_customers)
    assert redact("ACME failed") == "ACME failed"


def test_a_hook_that_fails_hides_the_whole_text() -> None:
    def raises(text: str) -> str:
        raise ValueError(text)

    def forgets(_text: str) -> None:
        return None

    for hook in (raises, forgets):
        redaction.add_hook(hook)
        try:
            assert "planted" not in redact("planted")
        finally:
            redaction.remove_hook(hook)
