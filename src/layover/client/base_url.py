"""The address of a server, and the key that is shown to it."""

from __future__ import annotations

from urllib.parse import urlsplit

from layover.errors import InvalidInput


class ServerAddress:
    """The address of a server, with the API key that is shown there and nowhere else."""

    def __init__(self, url: str, api_key: str | None) -> None:
        self._base = _base(url)
        self.host = urlsplit(self._base).netloc
        self.credentials = _credentials(api_key)

    def __repr__(self) -> str:
        return f"ServerAddress({self._base!r})"

    def url_of(self, path: str) -> str:
        """Return the address of a path."""
        return f"{self._base}{path}"


def _base(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise _refused("url", f"This is not the address of a server: {error}.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise _refused("url", "The address of a server begins with http:// or https://, and names a host.")
    if "@" in parts.netloc:
        raise _refused("url", "The address of a server has no user name or password in it: give `api_key`.")
    if parts.query or parts.fragment or not url.isascii() or not url.isprintable() or " " in url:
        raise _refused("url", "The address of a server has a host, perhaps a port and a path, and nothing else.")
    return url.rstrip("/")


def _credentials(key: str | None) -> dict[str, str]:
    if key is None:
        return {}
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise _refused("api_key", "The API key is empty, or has characters that no key has.")
    return {"Authorization": f"Bearer {key}"}


def _refused(name: str, message: str) -> InvalidInput:
    return InvalidInput(message, ((name, message),), code="invalid_parameter")
