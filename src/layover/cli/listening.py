"""Where a command listens, and what it is called there."""

from __future__ import annotations

import errno
import socket
from importlib.util import find_spec
from urllib.parse import urlsplit

from layover.cli.exits import FAILED, Stop


def check_can_serve(asked: str) -> None:
    """Say what to install if the packages are not there that answer requests, as `asked` does."""
    if find_spec("uvicorn") is None or find_spec("starlette") is None:
        raise Stop(f'`{asked}` needs packages that are not installed: pip install "layover[server]"')


def listen_at(host: str, port: int, other: str) -> socket.socket:
    """Return a socket that listens at an address; `other` is how to name another one."""
    from layover.asgi import listen  # noqa: PLC0415 - only there with the extra

    try:
        return listen(host, port)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        is_elsewhere = isinstance(error, socket.gaierror) or getattr(error, "errno", 0) == errno.EADDRNOTAVAIL
        hint = "Name an address of this machine, such as 127.0.0.1." if is_elsewhere else f"Another port: {other}."
        raise Stop(f"Cannot listen at {host}, port {port}: {reason}.", FAILED, hint=hint) from error


def url_of(listening: socket.socket) -> str:
    """Return the address at which a socket is reached."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - the name of the machine reaches a server that listens everywhere
        host = socket.gethostname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def hosts_of(host: str, url: str, public_url: str, *given: str) -> tuple[str, ...]:
    """Return what the server is called: what is set, where it listens, and where others reach it."""
    reached = urlsplit(public_url).hostname if public_url else None
    return tuple(filter(None, (*given, host, urlsplit(url).hostname, reached)))
