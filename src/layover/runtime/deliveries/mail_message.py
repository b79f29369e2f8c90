"""Mails: one for each addressee, the same bytes at every attempt.

No value can add a header: subjects have no line breaks, addresses are checked character by character, and everything
else in a header is ours. The HTML is made from the text, with everything in it escaped.
"""

from __future__ import annotations

import html
import re
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr
from typing import TYPE_CHECKING, Final

from layover.core.moments import Moment

if TYPE_CHECKING:
    from layover.runtime.deliveries.shipments import Shipment

_LOCAL: Final = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DOMAIN: Final = re.compile(rf"(?:{_LABEL}\.)*{_LABEL}")
_LONGEST_ADDRESS: Final = 254
_LONGEST_LOCAL: Final = 64
# Headers that a destination cannot set: they are ours.
_OURS: Final = frozenset(
    {
        *("from", "sender", "to", "cc", "bcc", "subject", "date", "message-id", "in-reply-to", "references"),
        *("auto-submitted", "mime-version", "content-type", "content-transfer-encoding", "content-disposition"),
    }
)


class BadAddress(ValueError):  # noqa: N818 - it says what the address is
    """A text that is no mail address, or none that every mail server takes."""


def mail_address(text: str) -> str:
    """Return a mail address as it is written on the wire; a domain may have any letters, and is encoded."""
    local, at, domain = text.strip().rpartition("@")
    try:
        encoded = domain.encode("idna").decode() if not domain.isascii() else domain
    except UnicodeError:
        raise BadAddress from None
    known = f"{local}@{encoded}"
    if not at or len(known) > _LONGEST_ADDRESS or len(local) > _LONGEST_LOCAL:
        raise BadAddress
    if not _LOCAL.fullmatch(local) or not _DOMAIN.fullmatch(encoded):
        raise BadAddress
    return known


def mail_bytes(shipment: Shipment) -> tuple[str, str, bytes]:
    """Return the sender, the addressee and the message; BadAddress if one of both is none."""
    parcel = shipment.parcel
    name, written = parseaddr(shipment.destination.sender)
    sender, addressee = mail_address(written), mail_address(shipment.address)
    domain = sender.rpartition("@")[2]
    message = EmailMessage(policy=SMTP)
    message["From"] = Address(display_name=_one_line(name), addr_spec=sender)
    message["To"] = Address(addr_spec=addressee)
    message["Subject"] = _one_line(parcel.subject) or "Notification"
    message["Date"] = format_datetime(Moment.of(parcel.at))
    message["Message-ID"] = f"<{shipment.id}@{domain}>"
    if parcel.first and parcel.first != shipment.id:
        message["In-Reply-To"] = f"<{parcel.first}@{domain}>"
        message["References"] = f"<{parcel.first}@{domain}>"
    message["Auto-Submitted"] = "auto-generated"
    for header, value in shipment.destination.headers.items():
        if header.lower() not in _OURS:
            message[header] = _one_line(shipment.plain(value))
    text = _storable(parcel.text)
    if parcel.link and parcel.link not in text:
        text = f"{text}\n\n{parcel.link}"
    message.set_content(text, cte="quoted-printable")
    message.add_alternative(mail_html(text, parcel.link), subtype="html", cte="quoted-printable")
    message.set_boundary(f"layover-{shipment.id}")  # else it would be chosen by chance
    try:
        return sender, addressee, message.as_bytes()
    except MessageError as error:  # the library refuses what it could not write safely
        raise BadAddress from error


def mail_html(text: str, link: str) -> str:
    """Return a text as HTML; its only link is ours."""
    escaped = html.escape(text)
    if link.startswith(("https://", "http://")):
        known = html.escape(link)
        escaped = escaped.replace(known, f'<a href="{known}">{known}</a>')
    lines = escaped.replace("\r\n", "\n").replace("\n", "<br>\n")
    return f"<!doctype html>\n<html><body><p>{lines}</p></body></html>\n"


def _one_line(text: str) -> str:
    """Return a text without anything that ends a line or cannot be seen."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())


def _storable(text: str) -> str:
    """Return a text without characters that mails cannot have."""
    return "".join(one if one.isprintable() or one in "\n\t" else " " for one in text.replace("\r\n", "\n"))
