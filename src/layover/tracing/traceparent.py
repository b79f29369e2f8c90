"""The text by which a span is named across processes: `traceparent` of W3C Trace Context."""

from __future__ import annotations

import re
from typing import Final

_FORM: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_LONGEST: Final = 512  # characters: a later version may have more fields than the four that are read


def read_traceparent(text: str) -> str:
    """Return a traceparent as version 00 writes it; empty if the text is not one: it is ignored then."""
    found = _FORM.fullmatch(text.strip(" \t")) if len(text) <= _LONGEST else None
    if found is None:
        return ""
    version, trace, span, flags, more = found.groups()
    if version == "ff" or (version == "00" and more is not None):
        return ""
    if trace.strip("0") == "" or span.strip("0") == "":
        return ""
    return f"00-{trace}-{span}-{flags}"
