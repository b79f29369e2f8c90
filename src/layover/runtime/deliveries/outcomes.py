"""What an attempt came to: sent, to be tried again, or never to be."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final, Literal, TypeAlias

import msgspec

from layover.ports.delivery_records import Health

SendVerdict: TypeAlias = Literal["sent", "again", "dead", "gone"]

LONGEST_REPLY: Final = 1_000  # characters that are kept
_GONE: Final = 410


class SendOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one attempt. `gone` is dead, and the destination does not want any others."""

    verdict: SendVerdict
    reason: str = ""  # a code, if it was not sent
    error: str = ""  # what happened, for people
    status: int | None = None
    reply: str = ""
    health: Health = "unknown"
    retry_after: int | None = None  # milliseconds


def judge_http(status: int, reply: str, retry_after: str, now: int) -> SendOutcome:
    """Return what the status of a response means for webhooks and chats."""
    if 200 <= status < 300:
        return SendOutcome(verdict="sent", status=status, reply=reply, health="good")
    if status == _GONE:
        error = "The receiver is gone for good (status 410)."
        return SendOutcome(verdict="gone", reason="gone", error=error, status=status, reply=reply, health="bad")
    error = f"The receiver redirects (status {status})." if 300 <= status < 400 else f"The receiver said {status}."
    return SendOutcome(
        verdict="again",
        reason="http_status",
        error=error,
        status=status,
        reply=reply,
        health="bad",
        retry_after=read_retry_after(retry_after, now),
    )


def judge_mail(code: int, reply: str, *, of_server: bool = False) -> SendOutcome:
    """Return what a refusal by a mail server means: 4xx is for now, 5xx for good.

    A refusal `of_server` is about us and not about the message: it is tried again, and counts against the server.
    """
    again = of_server or not 500 <= code < 600
    return SendOutcome(
        verdict="again" if again else "dead",
        reason="mail_deferred" if again else "mail_refused",
        error=f"The mail server said {code}.",
        status=code,
        reply=reply,
        health="bad" if of_server or code == 421 else "unknown",
    )


def failed(reason: str, error: str, *, health: Health = "bad") -> SendOutcome:
    """Return the outcome of an attempt that got no reply."""
    return SendOutcome(verdict="again", reason=reason, error=error, health=health)


def hopeless(reason: str, error: str) -> SendOutcome:
    """Return the outcome of what cannot be sent, however often it is tried."""
    return SendOutcome(verdict="dead", reason=reason, error=error)


def read_retry_after(text: str, now: int) -> int | None:
    """Return how many milliseconds the header `Retry-After` asks for: seconds or a date, else nothing."""
    text = text.strip()[:100]
    if text.isascii() and text.isdigit() and len(text) <= 9:
        return int(text) * 1000
    try:
        at = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    moment = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return max(0, round(moment.timestamp() * 1000) - now)
