"""Values are found in all forms that texts have them in, and nothing else is touched."""

from __future__ import annotations

import base64
import html
import json
from functools import partial
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layover.masking import Masker
from tests.core.definitions.effort import instructions_of

AWKWARD = 's3cr3t/va lue+é"\\x\n&<€😀>'
MASKER = Masker({AWKWARD: "KEY"})

FORMS = {
    "as it is": AWKWARD,
    "JSON in ASCII": json.dumps(AWKWARD),
    "JSON": json.dumps(AWKWARD, ensure_ascii=False),
    "JSON with escaped slashes": json.dumps(AWKWARD).replace("/", "\\/"),
    "JSON in JSON": json.dumps(json.dumps({"a": AWKWARD})),
    "JSON in JSON in JSON": json.dumps(json.dumps(json.dumps(AWKWARD))),
    "Python": repr({"a": AWKWARD}),
    "Python, ASCII": ascii(AWKWARD),
    "an address": quote(AWKWARD),
    "an address without slashes": quote(AWKWARD, safe=""),
    "an address that escapes little": quote(AWKWARD, safe="!$'()*,;:@/?&<>\""),
    "an address in small letters": quote(AWKWARD, safe="").lower(),
    "a form": quote_plus(AWKWARD),
    "JSON in an address": quote(json.dumps(AWKWARD)),
    "an address in JSON": json.dumps(quote(AWKWARD)),
    "HTML": html.escape(AWKWARD),
    "base64": base64.b64encode(AWKWARD.encode()).decode(),
    "base64 for addresses": base64.urlsafe_b64encode(AWKWARD.encode()).decode(),
    "hexadecimal": AWKWARD.encode().hex(),
    "hexadecimal in capital letters": AWKWARD.encode().hex().upper(),
    **{
        f"base64 after {n} and before {m} bytes": base64.b64encode(b"u" * n + AWKWARD.encode() + b"v" * m).decode()
        for n in range(1, 5)
        for m in range(3)
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_a_value_is_found_in_every_form(form: str) -> None:
    text = FORMS[form]
    masked = MASKER.text(f"before {text} behind")
    assert "***KEY***" in masked
    assert masked.startswith("before ")
    assert masked.endswith(" behind")
    assert not any(piece in masked for piece in _pieces(text)), masked


def _pieces(text: str) -> set[str]:
    """Return all that is left of a form if only its ends are taken away."""
    inner = text.strip("".join(set("'\"\\{}a: =uvdXVZ")))[4:-6]  # without what is around the value
    return {inner[at : at + 8] for at in range(0, len(inner) - 8, 8)}


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=8, max_size=40))
def test_any_value_is_found_however_it_is_escaped(value: str) -> None:
    masker = Masker({value: "K"})
    for write in (str, json.dumps, quote, quote_plus, lambda one: json.dumps(json.dumps(one))):
        text = f"<{write(value)}>"
        if len(value.replace("\\", "")) >= 8:
            assert masker.holds(text), text
    for offset in range(3):
        assert masker.holds(base64.b64encode(b"-" * offset + value.encode()).decode())


@given(st.text(max_size=200))
def test_a_text_without_the_value_stays_as_it_is(text: str) -> None:
    masker = Masker({"correct horse battery": "K"})
    assert masker.text(text) == text


def test_data_is_masked_in_texts_keys_and_numbers() -> None:
    masker = Masker({"12345678": "PIN", "correct-horse": "PASS"})
    data = {"a": ["correct-horse", 12345678, 1.5, None, True], "correct-horse!": {"b": "x12345678y"}}
    assert masker.data(data) == {
        "a": ["***PASS***", "***PIN***", 1.5, None, True],
        "***PASS***!": {"b": "x***PIN***y"},
    }


def test_a_value_that_is_part_of_another_does_not_spoil_it() -> None:
    masker = Masker({"battery-horse": "SHORT", "correct-battery-horse-staple": "LONG"})
    assert masker.text("correct-battery-horse-staple battery-horse") == "***LONG*** ***SHORT***"
    escaped = quote("correct battery", safe="") + "%2E"
    assert Masker({"correct battery.": "A", "battery.": "B"}).text(escaped) == "***A***"


def test_a_mask_never_has_the_value_in_it() -> None:
    assert Masker({"SHOP_TOKEN": "SHOP_TOKEN"}).text("a SHOP_TOKEN b") == "a *** b"


@pytest.mark.parametrize("value", ["\\" * 20, "%" * 20, "%41" * 8, "+ + + + +", "&amp;&amp;&amp;", "\\n\\n\\n\\n"])
def test_values_made_of_escapes_are_found_as_they_are(value: str) -> None:
    assert Masker({value: "K"}).text(f"a{value}b") == "a***K***b"


@pytest.mark.parametrize("piece", ["\\", "%41", "\\u0041", "&amp;", "correct-hors", "Y29ycmVjdC1ob3Jz", "a", "+"])
def test_the_effort_grows_no_faster_than_the_text(piece: str) -> None:
    masker = Masker({"correct-horse": "K"})
    masker.text("warm%41")
    small, large = (instructions_of(partial(masker.text, piece * count)) for count in (1_000, 10_000))
    assert large < small * 12 + 10_000
