"""JSON Schemas in use: the one way to make a validator, whether a definition is checked or an answer is taken.

Nothing is ever fetched, whatever a schema refers to, and patterns run on an engine without backtracking and with a
bound on their size, so that no answer of a person can make them hang.
"""

from __future__ import annotations

from typing import Any

import jsonschema_rs

_PATTERNS = jsonschema_rs.RegexOptions(size_limit=1_000_000)


def validator_of(schema: dict[str, Any] | bool) -> jsonschema_rs.Validator:  # noqa: FBT001 - a schema may be true or false
    """Return what validates data by a schema; a ValidationError says why a schema cannot be used."""
    return jsonschema_rs.validator_for(schema, offline=True, pattern_options=_PATTERNS)
