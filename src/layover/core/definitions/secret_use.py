"""Where a node or a poll may use secrets, and where it does.

`${secrets.NAME}` stands alone, as a whole value that is given to a call. So its position in the input of the call is
known before anything runs, and values are put there and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from layover.core.definitions.expression_fields import expression_fields
from layover.core.definitions.node_types import Callback, CallNode, Http
from layover.core.definitions.trigger_types import PollTrigger

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.core.definitions.model import Node, TriggerDefinition
    from layover.core.definitions.parsed_expressions import ParsedExpressions

Path: TypeAlias = tuple[str | int, ...]
SecretPosition: TypeAlias = tuple[Path, str]  # in the input of a call, and the name of the secret

HTTP_FIELDS: Final = ("url", "headers", "query", "body", "auth")  # which are the input of the call
_WHOLE: Final = ("input", "with")  # which are all that is given
_NONE: Final[frozenset[str]] = frozenset()


def secret_fields(node: object) -> frozenset[str]:
    """Return the fields of a node or a trigger that are given to a call."""
    match node:
        case Http():
            return frozenset(HTTP_FIELDS)
        case CallNode() | Callback(call=str()):
            return frozenset({"input"})
        case PollTrigger():
            return frozenset({"with"})
        case _:
            return _NONE


def secret_positions(node: Node | TriggerDefinition, texts: ParsedExpressions) -> tuple[SecretPosition, ...]:
    """Return where the input of a node's call has secrets, or what a poll gives its source."""
    allowed = secret_fields(node)
    if not allowed:
        return ()
    found: list[SecretPosition] = []
    for slot in expression_fields(node):
        if slot.path in allowed:
            start: Path = () if slot.path in _WHOLE else (slot.path,)
            found += _in_value(slot.value, start, texts)
    return tuple(found)


def _in_value(value: object, path: Path, texts: ParsedExpressions) -> Iterator[SecretPosition]:
    if isinstance(value, str):
        if "secrets" in value and "${" in value:
            match texts.template(value).path():
                case ("secrets", str() as name):
                    yield path, name
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _in_value(part, (*path, key), texts)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _in_value(part, (*path, index), texts)
