"""The kinds of settings: how a value is written as text and in a file, what is allowed, and how it is shown.

A reader takes the text of a flag or of the environment, or a value of the file, and raises ValueError if it is not
allowed. What it returns is what the structs of the settings hold.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from layover.api.trusted_proxies import TrustedProxies
from layover.core.definitions.durations import format_duration, parse_duration
from layover.errors import InvalidInput
from layover.logs.configuration import levels_of
from layover.redaction import without_password
from layover.settings import destinations_of, link_keys_of, notify_of

if TYPE_CHECKING:
    from collections.abc import Callable

_RATE: Final = re.compile(r"([1-9][0-9]{0,5})/([0-9]*[a-z]+)")
_NUMBER: Final = re.compile(r"[0-9][0-9_]{0,17}")
_HOST: Final = re.compile(r"\*|(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?")
_FUNCTION: Final = re.compile(r"\w+(\.\w+)*:\w+")
_SIZE: Final = re.compile(r"([0-9]{1,15}) ?(B|kB|MB|GB|kiB|KiB|MiB|GiB)?")
_DECIMAL: Final = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
_UNITS: Final = _DECIMAL | {"kiB": 2**10, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_YES: Final = ("true", "yes", "on", "1")
_NO: Final = ("false", "no", "off", "0")
_PORTS: Final = 65_535
_LARGEST: Final = 1_000_000_000  # more of anything than a process can have
_LARGEST_SIZE: Final = 10**12
_SIZE_FORM: Final = ", written like `2000000`, `500kB` or `2MiB`, and"
_LONGEST: Final = 36_500 * 86_400_000  # a hundred years, which can be added to any moment
_LENGTH: Final = ", written like `500ms`, `30s`, `1h30m` or `7d`, and at most `36500d`"


_Workflows = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z*][A-Za-z0-9_.*-]*$", max_length=255)]
_SecretNames = Annotated[str, msgspec.Meta(pattern=r"^[A-Z*][A-Z0-9_*]*$", max_length=64)]


class Kind(NamedTuple):
    """How values of one kind are read and shown, and in words what they are; `word` stands for no value."""

    what: str
    read: Callable[[object], object]
    show: Callable[[object], str] = str
    form: str = ""
    word: str = ""

    @property
    def allowed(self) -> str:
        """What it takes, with how that is written."""
        return f"{self.what}{self.form}{self.alternative}"

    @property
    def alternative(self) -> str:
        """The word that it takes besides, if there is one."""
        return f", or `{self.word}`" if self.word else ""


def or_word(kind: Kind, word: str) -> Kind:
    """Return a kind that also takes a word for nothing (None)."""
    return kind._replace(
        read=lambda value: None if value == word else kind.read(value),
        show=lambda value: word if value is None else kind.show(value),
        word=word,
    )


def optional(kind: Kind) -> Kind:
    """Return a kind that has no value unless one is given."""
    return kind._replace(show=lambda value: "" if value is None else kind.show(value))


def number(least: int, most: int | None = None) -> Kind:
    """Return whole numbers from one to another."""
    what = f"a whole number {f'of at least {least:,}' if most is None else f'from {least:,} to {most:,}'}"
    largest = _LARGEST if most is None else most

    def read(value: object) -> int:
        text = str(value)
        found = -1 if isinstance(value, bool) or not _NUMBER.fullmatch(text) else int(text)
        if not least <= found <= largest:
            raise ValueError(what)
        return found

    return Kind(what, read, lambda value: f"{value:,}", f" and at most {_LARGEST:,}" if most is None else "")


def size(least: int, most: int = _LARGEST_SIZE) -> Kind:
    """Return numbers of bytes."""
    what = "a number of bytes"

    def read(value: object) -> int:
        found = _SIZE.fullmatch(str(value).replace("_", ""))
        count = int(found[1]) * _UNITS[found[2] or ""] if found and not isinstance(value, bool) else -1
        if not least <= count <= most:
            raise ValueError(what)
        return count

    return Kind(what, read, lambda value: f"{value:,}", f"{_SIZE_FORM} at most {most:,}")


def duration(*, zero: bool, least: str = "") -> Kind:
    """Return lengths of time, kept as the text they are written as."""
    shortest = parse_duration(least) if least else 0 if zero else 1
    what = f"a length of time{f' of at least {least}' if least else '' if zero else ' above zero'}"

    def read(value: object) -> str:
        if not isinstance(value, str) or not shortest <= parse_duration(value) <= _LONGEST:
            raise ValueError(what)
        return value

    return Kind(what, read, form=_LENGTH)


def seconds() -> Kind:
    """Return lengths of time above zero, kept as seconds."""
    what = "a length of time above zero"

    def read(value: object) -> float:
        milliseconds = parse_duration(value) if isinstance(value, str) else 0
        if not 0 < milliseconds <= _LONGEST:
            raise ValueError(what)
        return milliseconds / 1000

    return Kind(what, read, lambda value: format_duration(round(float(str(value)) * 1000)), _LENGTH)


def yes_or_no() -> Kind:
    """Return yes or no."""
    allowed = "`true` or `false` (also `yes`, `on`, `1`, `no`, `off`, `0`)"

    def read(value: object) -> bool:
        text = str(value).lower()
        if text not in (*_YES, *_NO):
            raise ValueError(allowed)
        return text in _YES

    return Kind(allowed, read, lambda value: "true" if value else "false")


def choice(*words: str) -> Kind:
    """Return one of several words."""
    allowed = f"one of {', '.join(f'`{word}`' for word in words)}"

    def read(value: object) -> str:
        text = str(value).lower()
        if text not in words:
            raise ValueError(allowed)
        return text

    return Kind(allowed, read)


def log_levels() -> Kind:
    """Return levels of a log, also of single loggers."""
    allowed = (
        "one of `debug`, `info`, `warning`, `error`, `critical`; also for single loggers: `info,layover.claimer=debug`"
    )

    def read(value: object) -> str:
        try:
            levels_of(str(value))
        except InvalidInput as error:
            raise ValueError(allowed) from error
        return str(value)

    return Kind(allowed, read)


def text() -> Kind:
    """Return any text."""

    def read(value: object) -> str:
        if not isinstance(value, str) or not value:
            raise ValueError("a text")
        return value

    return Kind("a text", read, lambda value: without_password(str(value)))


def function_name() -> Kind:
    """Return where a function is: its module and its name."""
    allowed = "the name of a function, such as `app.privacy:mask`"

    def read(value: object) -> str:
        if not isinstance(value, str) or not _FUNCTION.fullmatch(value):
            raise ValueError(allowed)
        return value

    return Kind(allowed, read)


def web_address() -> Kind:
    """Return the address of a server."""
    allowed = "an address such as `https://layover.example.org`"

    def read(value: object) -> str:
        try:
            parts = urlsplit(value if isinstance(value, str) else "")
        except ValueError as error:
            raise ValueError(allowed) from error
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(allowed)
        return str(value)

    return Kind(allowed, read, lambda value: without_password(str(value)))


def address_and_port() -> Kind:
    """Return where to listen: a port, or an address with a port."""
    allowed = "a port such as `9090`, or an address with a port such as `0.0.0.0:9090` or `[::1]:9090`"

    def read(value: object) -> str:
        host, colon, port = str(value).rpartition(":")
        is_host = not colon or bool(host)
        if isinstance(value, bool) or not is_host or not port.isascii() or not port.isdigit() or int(port) > _PORTS:
            raise ValueError(allowed)
        return str(value)

    return Kind(allowed, read)


def rate() -> Kind:
    """Return how many in how many seconds."""
    what = "a rate"

    def read(value: object) -> tuple[int, float]:
        found = _RATE.fullmatch(str(value))
        length = found[2] if found is not None and found[2][0].isdigit() else f"1{found[2]}" if found else ""
        milliseconds = parse_duration(length)
        if found is None or not milliseconds:
            raise ValueError(what)
        return int(found[1]), milliseconds / 1000

    return Kind(what, read, _show_rate, ", written like `100/m` or `20/10s`")


def limits_by_name() -> Kind:
    """Return numbers by name."""
    allowed = "limits by node type, written like `http=5,send=2`, or as a table in the file"

    def read(value: object) -> dict[str, int]:
        pairs = value.items() if isinstance(value, dict) else [one.partition("=")[::2] for one in _words(value)]
        found = {str(name).strip(): _NUMBER.fullmatch(str(count).strip()) for name, count in pairs}
        if not all(found) or not all(match is not None and int(match[0]) > 0 for match in found.values()):
            raise ValueError(allowed)
        return {name: int(match[0]) for name, match in found.items() if match is not None}

    return Kind(allowed, read, lambda value: _show_pairs(value) or "none")


def secret_grants() -> Kind:
    """Return names of secrets by workflow, as JSON."""
    allowed = 'patterns of workflows with names of secrets, written like `{"billing-*": ["STRIPE_KEY"]}`'

    def read(value: object) -> dict[str, tuple[str, ...]]:
        try:
            return msgspec.json.decode(str(value), type=dict[_Workflows, tuple[_SecretNames, ...]])
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ValueError(allowed) from error

    return Kind(allowed, read, lambda value: msgspec.json.encode(value).decode() if value else "none")


def link_keys() -> Kind:
    """Return one key or more, separated by commas."""
    allowed = (
        "a key of at least 32 characters that cannot be guessed, such as `openssl rand -hex 32` prints, or `NEW,OLD`"
    )

    def read(value: object) -> str:
        try:
            link_keys_of(value)
        except InvalidInput as error:
            raise ValueError(allowed) from error
        return str(value)

    return Kind(allowed, read, str)


class Misread(ValueError):  # noqa: N818 - it says what the value is
    """A value of the right form with something wrong in it, which the text says."""


def notifications() -> Kind:
    """Return notifications, as JSON."""
    allowed = 'a list of notifications, written like `[{"on": ["execution.failed"], "via": "ops-chat"}]`'
    return _json(allowed, list, notify_of)


def destinations() -> Kind:
    """Return destinations by name, as JSON."""
    allowed = 'destinations by name, written like `{"ops-chat": {"kind": "chat", "address": {"secret": "OPS_CHAT"}}}`'
    return _json(allowed, dict, destinations_of)


def _json(allowed: str, shape: type, check: Callable[[object], object]) -> Kind:
    def read(value: object) -> object:
        try:
            found: object = msgspec.json.decode(str(value), type=shape)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ValueError(allowed) from error
        try:
            check(found)
        except InvalidInput as error:
            raise Misread(error.message) from error
        return found

    return Kind(allowed, read, lambda value: msgspec.json.encode(value).decode() if value else "none")


def proxies() -> Kind:
    """Return addresses and networks."""
    allowed = "addresses and networks, such as `10.0.0.7, 192.168.0.0/24`"

    def read(value: object) -> tuple[str, ...]:
        found = _words(value)
        try:
            TrustedProxies(found)
        except ValueError as error:
            raise ValueError(allowed) from error
        return found

    return Kind(allowed, read, _show_words)


def hosts() -> Kind:
    """Return names of hosts."""
    allowed = "names such as `api.example.org, *.example.net`, or `*` for any"

    def read(value: object) -> tuple[str, ...]:
        found = _words(value)
        if not found or not all(_HOST.fullmatch(one) for one in found):
            raise ValueError(allowed)
        return found

    return Kind(allowed, read, lambda value: _show_words(value or ()))


def _words(value: object) -> tuple[str, ...]:
    given = [str(one) for one in value] if isinstance(value, (list, tuple)) else str(value).split(",")
    return tuple(one.strip() for one in given if one.strip())


def _show_rate(value: object) -> str:
    match value:
        case (int(count), float(length)):
            shown = format_duration(round(length * 1000))
            return f"{count}/{shown[1:] if re.fullmatch('1[a-z]+', shown) else shown}"
    return str(value)


def _show_words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else ""


def _show_pairs(value: object) -> str:
    return ", ".join(f"{name}={count}" for name, count in value.items()) if isinstance(value, dict) else ""
