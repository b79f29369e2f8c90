"""JSON Schemas in use: the one way to make a validator, for the check of a definition and for answers.

Nothing is ever fetched, whatever a schema refers to, and patterns run on an engine without backtracking and with a
bound on their size, so that no answer of a person can make them hang.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import Any

import jsonschema_rs
import msgspec

_PATTERNS = jsonschema_rs.RegexOptions(size_limit=1_000_000)
_MOST_TOLD = 20


def validator_of(schema: dict[str, Any] | bool) -> jsonschema_rs.Validator:  # noqa: FBT001 - a schema may be true or false
    """Return a validator for a schema; a ValidationError says why a schema cannot be used."""
    return jsonschema_rs.validator_for(schema, offline=True, pattern_options=_PATTERNS)


def misfits(schema: object, data: object) -> tuple[tuple[str, str], ...]:
    """Return the first places where data does not fit a schema, each with the problem there."""
    if schema in (None, {}, True):
        return ()
    errors = _validator(msgspec.json.encode(schema)).iter_errors(data)
    return tuple(
        ("/".join(map(str, error.instance_path)), error.message.split("\n", maxsplit=1)[0])
        for error in islice(errors, _MOST_TOLD)
    )


@lru_cache(maxsize=256)
def _validator(schema: bytes) -> jsonschema_rs.Validator:
    return validator_of(msgspec.json.decode(schema))
