"""Texts of notifications: the message of a rule, rendered within a budget; the default text if that fails."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from layover.core.expressions import ExpressionError, ExpressionLimits, ExpressionTime, Meter
from layover.core.expressions.template import text_of
from layover.runtime.deliveries.default_texts import SpokenText, default_text

if TYPE_CHECKING:
    from layover.core.plan import PlannedNotify
    from layover.runtime.deliveries.default_texts import TextFacts

LONGEST_SUBJECT: Final = 200
LONGEST_TEXT: Final = 65_536  # bytes
_LIMITS: Final = ExpressionLimits(steps=50_000, size=4 * LONGEST_TEXT)

_log = logging.getLogger("layover.deliveries")


def spoken(
    rule: PlannedNotify | None, kind: str, facts: TextFacts, now: int, *, language: str = "", zone: str = ""
) -> SpokenText:
    """Return what is said about an occasion, by a rule; the default texts are in the language of the reader."""
    message = rule.definition.message if rule is not None else None
    if rule is None or message is None:
        return cut_text(default_text(kind, facts, language, zone))
    try:
        meter = Meter(_LIMITS)
        subject = _rendered(rule, "message.subject", message.subject, facts, now, meter)
        text = _rendered(rule, "message.text", message.text, facts, now, meter)
    except (ExpressionError, RecursionError) as error:
        # What is to be told is told; what the template lacks is for its author.
        _log.warning("message_not_rendered workflow=%s kind=%s error=%s", facts.workflow, kind, type(error).__name__)
        return cut_text(default_text(kind, facts, language, zone))
    return cut_text(SpokenText(subject or default_text(kind, facts, language, zone).subject, text))


def cut_text(given: SpokenText) -> SpokenText:
    """Return a text within its bounds: no line breaks in a subject, and nothing that no receiver could take."""
    text = storable(given.text[:LONGEST_TEXT])
    return SpokenText(one_line(given.subject)[:LONGEST_SUBJECT], text.encode()[:LONGEST_TEXT].decode(errors="ignore"))


def one_line(text: str) -> str:
    """Return a text without line breaks and characters that cannot be seen."""
    seen = "".join(one if one.isprintable() else " " for one in text[: 4 * LONGEST_SUBJECT])
    return " ".join(seen.split())


def storable(text: str) -> str:
    """Return a text that every database and every wire can have: without U+0000 and halves of characters."""
    return text.replace("\0", "").encode(errors="replace").decode()


def _rendered(rule: PlannedNotify, path: str, written: str, facts: TextFacts, now: int, meter: Meter) -> str:
    renderer = rule.renderers.get(path)
    if renderer is None:
        return written
    return text_of(renderer.render(facts._asdict(), ExpressionTime(now), meter), meter)
