"""Callback tokens: put into a call's input just before the call is made, and nowhere else."""

from __future__ import annotations

_KEY = "$token"
_HIDDEN = "[token]"


def with_token(value: object, token: str, url: str) -> object:
    """Return a copy of a plain value with the callback address and token in place of their markers."""
    if isinstance(value, dict):
        if len(value) == 1 and value.get(_KEY) in ("token", "url"):
            return token if value[_KEY] == "token" else url
        return {key: with_token(part, token, url) for key, part in value.items()}
    if isinstance(value, list):
        return [with_token(part, token, url) for part in value]
    return value


def without_token(value: object, token: str) -> object:
    """Return a plain value without the token: results are stored, and shown to people."""
    if isinstance(value, str):
        return value.replace(token, _HIDDEN)
    if isinstance(value, dict):
        return {key.replace(token, _HIDDEN): without_token(part, token) for key, part in value.items()}
    if isinstance(value, list):
        return [without_token(part, token) for part in value]
    return value
