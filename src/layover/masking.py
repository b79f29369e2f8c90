"""Finds known values in texts and data, in the forms that they are written in, and puts masks in their place.

A value is found as it is, in base64 (both alphabets, at any offset within something longer) and in hexadecimal; and
escaped, as addresses, JSON, Python and HTML do it. There are too many ways to escape a text to list them: some quote a
slash, some do not, and one may be done on top of another. So a text that has escapes is read without them, and the
value is looked for in that; what is masked is the piece of the text that it was read from.

Values are looked for from the longest to the shortest, because one may be a part of another. Each text is read a fixed
number of times for each value, whatever is in it.
"""

from __future__ import annotations

import base64
import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

MASK: Final = "[redacted]"
SHORTEST: Final = 4  # characters: to mask shorter values would hide words that are no secrets

_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_ENTITIES: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_PERCENT: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_ESCAPE: Final = re.compile(
    r"\\+u([Dd][89ABab][0-9A-Fa-f]{2})\\+u([Dd][C-Fc-f][0-9A-Fa-f]{2})"  # JSON writes a character beyond 16 bits as two
    r"|\\+(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))"
    r"|&(?:#x([0-9A-Fa-f]{1,6})|#([0-9]{1,7})|(\w{2,4}));",
    re.DOTALL,
)
_WIDEST: Final = 12  # characters in which one may be written: `%5Cu00e9`
_SIGNS: Final = ("%", "\\", "&", "+")


class Masker:
    """Masks some values; each has a name, which its mask tells, or an empty one."""

    def __init__(self, values: Mapping[str, str]) -> None:
        known = sorted((value for value in values if len(value) >= SHORTEST), key=lambda one: (-len(one), one))
        self._values = tuple(_Value(one, values[one]) for one in known)

        self.margin = _WIDEST * max(map(len, known), default=0)  # how much longer than a cut a text has to be searched

    def __bool__(self) -> bool:
        return bool(self._values)

    def text(self, text: str) -> str:
        """Return a text with masks in the place of the values."""
        if not self._values:
            return text
        for value in self._values:
            text = value.masked(text)
        if any(sign in text for sign in _SIGNS):
            text = self._unescaped(text)
        return text

    def data(self, data: object) -> object:
        """Return plain data with masks in the place of the values: in texts, in keys, and numbers that are one."""
        if isinstance(data, str):
            return self.text(data)
        if isinstance(data, dict):
            return {self.text(key): self.data(part) for key, part in data.items()}
        if isinstance(data, list):
            return [self.data(part) for part in data]
        if isinstance(data, int | float) and not isinstance(data, bool):
            shown = str(data)
            return masked if (masked := self.text(shown)) != shown else data
        return data

    def holds(self, text: str) -> bool:
        """Return whether a text has one of the values in it."""
        return self.text(text) != text

    def _unescaped(self, text: str) -> str:
        """Mask the values that are escaped in a text."""
        plain = _Unescaped(text)
        spans = [(*plain.origin(at, end), value.mask) for value in self._values for at, end in value.find(plain.text)]
        done, pieces = 0, []
        for start, end, mask in sorted(spans, key=lambda span: (span[0], -span[1])):
            if start >= done:  # what a longer value has covered is masked
                pieces += [text[done:start], mask]
                done = end
        return "".join([*pieces, text[done:]])


class _Value:
    """One value, and the forms of it that texts may have."""

    def __init__(self, value: str, name: str) -> None:
        self._value = value
        mask = f"***{name}***" if name else MASK
        self.mask = mask if value not in mask else "***"

    def masked(self, text: str) -> str:
        """Return a text without the value as it is, in base64 and in hexadecimal."""
        for form, pattern in self._forms:
            if form in text:
                text = text.replace(form, self.mask) if pattern is None else pattern.sub(lambda _: self.mask, text)
        return text

    def find(self, unescaped: str) -> Iterable[tuple[int, int]]:
        """Return where the value is in a text that was read without escapes."""
        wanted, at = self._unescaped, 0
        if len(wanted) < SHORTEST:
            return
        while (at := unescaped.find(wanted, at)) >= 0:
            yield at, at + len(wanted)
            at += len(wanted)

    @cached_property
    def _forms(self) -> tuple[tuple[str, re.Pattern[str] | None], ...]:
        raw = self._value.encode(errors="surrogatepass")
        forms: dict[str, re.Pattern[str] | None] = {self._value: None, raw.hex(): None, raw.hex().upper(): None}
        for alphabet in (base64.b64encode, base64.urlsafe_b64encode):
            forms[alphabet(raw).decode()] = None
            for offset in range(3):
                inner = _inner_base64(raw, offset, alphabet)
                if len(inner) >= SHORTEST:
                    # A character before and one behind have bits of the value, too.
                    forms[inner] = re.compile(rf"[A-Za-z0-9+/_-]?{re.escape(inner)}(?:[A-Za-z0-9+/_-]?={{0,2}})")
        return tuple(forms.items())

    @cached_property
    def _unescaped(self) -> str:
        # Reading without escapes loses backslashes that are part of the value: so the value is read in the same way.
        return _Unescaped(self._value).text


def _inner_base64(raw: bytes, offset: int, encode: Callable[[bytes], bytes]) -> str:
    """Return the characters that a value has in base64 at an offset, without those that it shares with others."""
    first = -(-offset * 8 // 6)  # those of the bytes before it
    return encode(b"\0" * offset + raw).decode()[first : (offset + len(raw)) * 8 // 6]


class _Unescaped:
    """A text read without its escapes: first those of addresses, then those of JSON, Python and HTML."""

    def __init__(self, text: str) -> None:
        first = _Replaced(text, _PERCENT, _of_percent)
        second = _Replaced(first.text, _ESCAPE, _of_escape)
        self.text = second.text.replace("+", " ")  # as in forms
        self._passes = (second, first)

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return from where to where a piece was read in the original text."""
        for one in self._passes:
            start, end = one.origin(start)[0], one.origin(end - 1)[1]
        return start, end


class _Replaced:
    """A text with the matches of a pattern replaced, which knows where each character was."""

    def __init__(self, text: str, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str]) -> None:
        pieces: list[str] = []
        self._starts: list[int] = [0]  # of pieces in the new text, which are alternately kept and replaced
        self._origins: list[tuple[int, int, bool]] = []  # of the same in the old text, and whether it was replaced
        at = done = 0
        for match in pattern.finditer(text):
            for piece, start, end, is_new in (
                (text[done : match.start()], done, match.start(), False),
                (replace(match), *match.span(), True),
            ):
                pieces.append(piece)
                self._origins.append((start, end, is_new))
                at += len(piece)
                self._starts.append(at)
            done = match.end()
        pieces.append(text[done:])
        self._origins.append((done, len(text), False))
        self.text = "".join(pieces)

    def origin(self, position: int) -> tuple[int, int]:
        """Return where a character was: all of what was replaced by it."""
        index = bisect_right(self._starts, position) - 1
        start, end, is_new = self._origins[min(index, len(self._origins) - 1)]
        if is_new:
            return start, end
        at = start + position - self._starts[index]
        return at, at + 1


def _of_percent(match: re.Match[str]) -> str:
    return bytes.fromhex(match[0].replace("%", "")).decode(errors="replace")


def _of_escape(match: re.Match[str]) -> str:
    high, low, short, long, byte, character, hexadecimal, decimal, entity = match.groups()
    if high is not None:
        return bytes.fromhex(high + low).decode("utf-16-be")
    if character is not None:
        return _CONTROLS.get(character, character)
    if entity is not None:
        return _ENTITIES.get(entity, match[0])
    code = int(decimal) if decimal is not None else int(short or long or byte or hexadecimal, 16)
    return chr(code) if code <= 0x10FFFF else match[0]
