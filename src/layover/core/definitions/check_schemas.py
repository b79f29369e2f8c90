"""The JSON Schemas that a definition carries: valid, self-contained, and bounded in what they can cost.

Nothing is ever fetched: each check runs offline against meta-schemas that the validator brings along. (Its own
`meta.validate` would ask the network for an unknown `$schema`, so it is not used.)
"""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

import jsonschema_rs

from layover.core.schemas import validator_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from layover.core.definitions.problems import Problems
    from layover.core.definitions.tree import Json, Tree

_NEWEST = "https://json-schema.org/draft/2020-12/schema"
# A validator brings along the meta-schema of its own dialect only.
_DIALECTS: dict[str, type[jsonschema_rs.Validator]] = {
    _NEWEST: jsonschema_rs.Draft202012Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "http://json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "http://json-schema.org/draft-06/schema": jsonschema_rs.Draft6Validator,
    "http://json-schema.org/draft-04/schema": jsonschema_rs.Draft4Validator,
}
_MOST_ERRORS = 20
_LARGE = 2_000


def check_schema(tree: Tree, problems: Problems) -> None:
    """Report the problems of a JSON Schema."""
    schema = tree.plain()
    if not isinstance(schema, dict | bool):
        return  # the reader has reported it
    dialect = tree.get("$schema")
    uri = _NEWEST if dialect is None else str(dialect.value).removesuffix("#")
    if uri not in _DIALECTS:
        place = (dialect or tree).place
        problems.unknown("bad_schema", place, "This dialect of JSON Schema is not known", uri, _DIALECTS)
        return
    faulty = False
    for error in islice(_errors(_meta_validator(uri), schema, tree), _MOST_ERRORS):
        faulty = True
        problems.add("bad_schema", _find(tree, error.instance_path).place, f"In this JSON Schema {_message_of(error)}")
    if not faulty:
        _check_use(schema, tree, problems)


def _errors(validator: jsonschema_rs.Validator, schema: Json, tree: Tree) -> Iterator[jsonschema_rs.ValidationError]:
    """Return all errors of a schema of ordinary size; of a huge one only the first.

    The validator finds all errors before it gives the first, and a hostile schema can make each of them expensive.
    """
    if sum(1 for _ in islice(_values(tree), _LARGE)) < _LARGE:
        yield from validator.iter_errors(schema)
        return
    try:
        validator.validate(schema)
    except jsonschema_rs.ValidationError as error:
        yield error


def _values(tree: Tree) -> Iterator[Tree]:
    waiting = [tree]
    while waiting:
        found = waiting.pop()
        yield found
        if isinstance(found.value, dict):
            waiting.extend(found.value.values())
        elif isinstance(found.value, list):
            waiting.extend(found.value)


def _check_use(schema: dict[str, Json] | bool, tree: Tree, problems: Problems) -> None:  # noqa: FBT001 - a schema may be true or false
    """Build the validator: only this finds references and patterns that do not work."""
    try:
        validator_of(schema)
    except jsonschema_rs.ValidationError as error:
        problems.add("bad_schema", _find(tree, error.instance_path).place, f"In this JSON Schema {_message_of(error)}")


@cache
def _meta_validator(uri: str) -> jsonschema_rs.Validator:
    return _DIALECTS[uri]({"$ref": uri}, offline=True)


def _find(tree: Tree, path: Sequence[str | int]) -> Tree:
    for step in path:
        value = tree.value
        if isinstance(value, list) and isinstance(step, int) and step < len(value):
            tree = value[step]
        elif isinstance(value, dict) and str(step) in value:
            tree = value[str(step)]
    return tree


def _message_of(error: jsonschema_rs.ValidationError) -> str:
    line = error.message.split("\n", maxsplit=1)[0]
    shortened = line if len(line) <= 200 else f"{line[:199]}…"
    return shortened if shortened.endswith(".") else f"{shortened}."
