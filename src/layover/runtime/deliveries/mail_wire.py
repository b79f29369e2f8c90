"""Sends mails to a mail server, each over a connection of its own, within one timeout for all of it.

TLS is demanded, unless the server is on this machine. The connection is closed at once, whatever happened: to say
goodbye to a server that does not answer would hold up the end. A server that had the mail and did not say so gets it
again, under the same Message-ID.
"""

from __future__ import annotations

import asyncio
import ipaddress
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from layover.redaction import redact
from layover.runtime.deliveries.mail_message import BadAddress, mail_bytes
from layover.runtime.deliveries.outcomes import LONGEST_REPLY, SendOutcome, failed, hopeless, judge_mail

if TYPE_CHECKING:
    from urllib.parse import SplitResult

    from layover.runtime.deliveries.shipments import Shipment

_PORTS: Final = {"smtp": 587, "smtps": 465}
_LOCAL_PORT: Final = 25


class MailWire:
    """Sends mails."""

    async def send(self, shipment: Shipment) -> SendOutcome:
        """Make one attempt."""
        if not shipment.address:
            return hopeless("no_address", "The directory has no mail address of the addressee.")
        try:
            sender, addressee, message = mail_bytes(shipment)
        except BadAddress:
            return hopeless("bad_address", "The address of the addressee or the sender cannot be used.")
        try:
            import aiosmtplib  # noqa: F401, PLC0415 - loaded only when needed
        except ModuleNotFoundError:
            return failed("mail_not_installed", "`aiosmtplib` is missing: `pip install layover[mail]`.")
        server = urlsplit(shipment.plain(shipment.destination.address))
        if server.scheme not in _PORTS or not server.hostname:
            return failed("address_malformed", "The secret of the mail server is not an address.", health="unknown")
        return await _exchange(shipment, server, sender, addressee, message)


async def _exchange(
    shipment: Shipment, server: SplitResult, sender: str, addressee: str, message: bytes
) -> SendOutcome:
    """Hand a message over, and judge what the server says."""
    import aiosmtplib  # noqa: PLC0415 - loaded only when needed

    destination, host = shipment.destination, server.hostname or ""
    seconds, is_local = destination.timeout / 1000, _is_local(host)
    secrets = shipment.valid_secrets()
    client = aiosmtplib.SMTP(
        hostname=host,
        port=server.port or (_LOCAL_PORT if is_local and server.scheme == "smtp" else _PORTS[server.scheme]),
        timeout=seconds,
        use_tls=server.scheme == "smtps",
        start_tls=not (server.scheme == "smtps" or is_local),
        local_hostname=sender.rpartition("@")[2],  # to look our own name up would block
    )
    try:
        async with asyncio.timeout(seconds):
            await client.connect()
            if destination.user:
                await client.login(destination.user, secrets[0] if secrets else "")
            _, reply = await client.sendmail(sender, addressee, message)
            return SendOutcome(verdict="sent", status=250, reply=_shown(reply), health="good")
    except aiosmtplib.SMTPRecipientsRefused as error:
        refused = error.recipients[0]
        return judge_mail(refused.code, _shown(refused.message))
    except aiosmtplib.SMTPSenderRefused as error:
        return judge_mail(error.code, _shown(error.message))
    except aiosmtplib.SMTPDataError as error:
        return judge_mail(error.code, _shown(error.message))
    except aiosmtplib.SMTPResponseException as error:  # it refuses to talk to us
        return judge_mail(error.code, _shown(error.message), of_server=True)
    except TimeoutError:
        return failed("mail_timeout", f"The mail server did not answer within {seconds:g} s.")
    except (aiosmtplib.SMTPException, OSError, ValueError) as error:
        return failed("mail_unreachable", f"The mail server cannot be used: {type(error).__name__}.")
    finally:
        client.close()


def _is_local(host: str) -> bool:
    """Return whether a server is on this machine, by its name."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _shown(reply: str) -> str:
    return redact(reply, LONGEST_REPLY)
