"""Masks credentials in texts that are stored or shown: errors, log lines, heads of answers.

Three things are masked: what looks like a credential (`RULES`), the values that were registered as secret, and
whatever the user's redaction hooks mask. Secrets and hooks belong to the process, because its log does.

Patterns are a net with holes: a credential without a known form, in a sentence that does not name it, passes. A value
that must never be seen has to be registered. Where a rule cannot tell, it masks too much rather than too little.

The time is bounded: a text is cut before it is searched, and no rule looks at a character more than a few times. A rule
starts with a literal or a bounded name, and what it repeats without limit ends it. A credential that was cut in two
is masked as well: rules do not need the end of what they mask, and a margin beyond the cut is searched too.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from layover.masking import MASK, SHORTEST, Masker

if TYPE_CHECKING:
    from collections.abc import Callable

    Redactor = Callable[[str], object]  # a text; anything else that a hook returns hides the text

LONGEST: Final = 16_000  # characters of a text that are kept
SHORTEST_SECRET: Final = SHORTEST  # a shorter value is not masked

_MARGIN: Final = 4_000  # characters beyond the cut that are searched too
_SHORT: Final = 100  # characters of a text that is remembered to be free of credentials
_REFUSED: Final = f"{MASK} (the redaction hook failed)"
_PASSWORD: Final = re.compile(r"((?<=://)[^:/@\s]*:)\S*(?=@)|((?<=[?&])(?:ssl)?password=)[^&\s]*")

_NAMES: Final = (
    "password|passwd|passphrase|passcode|pwd|secret|token|bearer|credentials?|signature"
    "|(?:api|access|private|secret|signing|account|encryption)[_-]?key|session[_-]?id|(?<![a-z])sig"
)
_NAMED: Final = rf"""(?i)((?:{_NAMES})[0-9]{{0,3}}\\{{0,3}}["']?\s{{0,8}}(?:=>|[=:])\s{{0,8}}"""  # its group stays open
_HEADER_SIGNS: Final = ("authorization", "cookie", "key", "token", "secret", "password", "signature")
_NAME_SIGNS: Final = ("pass", "pwd", "secret", "token", "bearer", "credential", "signature", "sig=", "key", "session")


class Rule(NamedTuple):
    """One form of credentials: a text that has none of the `signs`, in small letters, need not be searched."""

    name: str
    signs: tuple[str, ...]
    pattern: str
    kept: str = MASK  # what is put in place of a match


RULES: Final = (
    Rule(
        "private key block",
        ("-----begin ",),
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]{0,40}-----|\Z)",
    ),
    Rule(
        "Authorization and Cookie headers",
        ("authorization", "cookie"),
        r"""(?i)((?:authorization|cookie)\\{0,3}["']?\s{0,8}(?:[:=]\s{0,8}|,\s{0,8}(?=b?["']))(?:b?\\{0,3}["'])?)"""
        r"""[^\s"'\\][^\r\n"'\\]*""",
        rf"\1{MASK}",
    ),
    Rule("bearer token", ("bearer",), r"(?i)\b(bearer\s{1,8})[\w.~+/=-]{12,}", rf"\1{MASK}"),
    Rule(
        "basic credentials",
        ("basic",),
        r"\b([Bb]asic\s{1,8})(?=[a-z]{0,99}[A-Z0-9+/=])[\w+/-]{8,}={0,2}",
        rf"\1{MASK}",
    ),
    Rule(
        "password in an address",
        ("://",),
        r"(://[^\s/?#:@\"'<>]{0,256}:)[^\s/?#\"'<>]{1,1000}@",
        rf"\1{MASK}@",
    ),
    # The quotes around a value stay, so that JSON is JSON afterwards; a text that was cut may lack the last one.
    Rule(
        "named value in quotes",
        _NAME_SIGNS,
        _NAMED + r"""[bru]?)(["'])(?:(?!\2)[^\\]|\\.)*(?:\2|\Z)""",
        rf"\1\2{MASK}\2",
    ),
    Rule("named value in escaped quotes", _NAME_SIGNS, _NAMED + r"""\\{1,3}["'])[^"'\\]*""", rf"\1{MASK}"),
    Rule(
        "named value",
        _NAME_SIGNS,
        _NAMED + rf""")(?!{re.escape(MASK)})(?:\([^()]*\)?|[^\s,;&"'()\\\]}}<>]+)""",
        rf"\1{MASK}",
    ),
    Rule("key of Layover", ("lay_",), r"\blay_[A-Za-z0-9_-]{20,}"),
    Rule("JSON web token", ("eyj",), r"\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,4}"),
    Rule("AWS access key id", ("akia", "asia", "abia", "acca"), r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}"),
    Rule("GitHub token", ("gh", "github_pat_"), r"\b(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}"),
    Rule("GitLab token", ("glpat-",), r"\bglpat-[A-Za-z0-9_-]{16,}"),
    Rule("Slack token", ("xox",), r"\bxox[a-z]-[A-Za-z0-9-]{10,}"),
    Rule("Google key", ("aiza",), r"\bAIza[A-Za-z0-9_-]{30,}"),
    Rule(
        "secret key with a prefix",
        ("sk_", "sk-", "rk_", "rk-", "whsec_", "npm_", "pypi-", "hf_"),
        r"\b(?:sk[_-]|rk[_-]|whsec_|npm_|pypi-|hf_)[A-Za-z0-9_-]{20,}",
    ),
)

_secrets: dict[str, list[str]] = {}  # registered values, each with the names under which it was registered
_masker: Masker = Masker({})  # of all of them
_hooks: tuple[Redactor, ...] = ()


def names_credential(header: str) -> bool:
    """Return whether a header of a request has a credential as its value, by its name."""
    lowered = header.lower()
    return lowered != "idempotency-key" and any(sign in lowered for sign in _HEADER_SIGNS)


def redact(text: str, longest: int = LONGEST) -> str:
    """Return a text without credentials, cut to so many characters."""
    text = _masker.text(text[: longest + _MARGIN + _masker.margin])
    if len(text) > _SHORT or _has_signs(text):
        lowered = text.lower()
        for signs, rules in _rules():
            for sign in signs:
                if sign in lowered:
                    for search, kept in rules:
                        text = search.sub(kept, text)
                    break
    for hook in _hooks:
        text = _hooked(hook, text)
    return text[:longest]


def without_password(text: str) -> str:
    """Return a text with the passwords of the addresses in it replaced by `***`."""
    return _PASSWORD.sub(r"\1\2***", text)


def has_credential(name: str, value: str) -> bool:
    """Return whether a value that goes under a name, such as a parameter of an address, is a credential or has one."""
    text = f"{name}={value}"
    return redact(text, len(text)) != text


def mask_secrets(text: str) -> str:
    """Return a text without the values that are registered; what only looks like a credential stays."""
    return _masker.text(text)


def has_secrets() -> bool:
    """Return whether any value is registered."""
    return bool(_masker)


def register_secret(value: str, name: str = "") -> None:
    """Mask a value wherever it is found from now on, also in base64 and escaped; the mask tells the name.

    It is masked until it was forgotten as often as it was registered.
    """
    if len(value) >= SHORTEST_SECRET:
        names = _secrets.setdefault(value, [])
        names.append(name)
        if len(names) == 1:
            _replace_masker()


def forget_secret(value: str) -> None:
    """Undo one registration of a value."""
    names = _secrets.get(value)
    if names is not None:
        names.pop()
        if not names:
            del _secrets[value]
            _replace_masker()


def add_hook(hook: Redactor) -> None:
    """Let a function mask texts as well: it takes a text and returns it. One that fails hides the whole text."""
    global _hooks  # noqa: PLW0603 - replaced as a whole: other threads redact meanwhile
    _hooks = (*_hooks, hook)


def remove_hook(hook: Redactor) -> None:
    """Stop using a function that was added, once for each time that it was."""
    global _hooks  # noqa: PLW0603 - as above
    found = next((index for index, one in enumerate(_hooks) if one is hook), None)
    if found is not None:
        _hooks = (*_hooks[:found], *_hooks[found + 1 :])


def _replace_masker() -> None:
    global _masker  # noqa: PLW0603 - as above
    _masker = Masker({value: names[0] for value, names in list(_secrets.items())})


def _hooked(hook: Redactor, text: str) -> str:
    try:
        masked = hook(text)
    except Exception:  # noqa: BLE001 - a text that could not be masked is not shown
        return _REFUSED
    return masked if isinstance(masked, str) else _REFUSED


@lru_cache(maxsize=1024)
def _has_signs(text: str) -> bool:
    """Return whether any rule may find something in a text: cached, because log lines repeat the same short values."""
    lowered = text.lower()
    return any(sign in lowered for signs, _ in _rules() for sign in signs)


@cache
def _rules() -> tuple[tuple[tuple[str, ...], list[tuple[re.Pattern[str], str]]], ...]:
    """Return the rules by their signs, compiled when the first text is redacted: most programs start without errors."""
    found: dict[tuple[str, ...], list[tuple[re.Pattern[str], str]]] = {}
    for rule in RULES:
        found.setdefault(rule.signs, []).append((re.compile(rule.pattern, re.DOTALL), rule.kept))
    return tuple(found.items())
