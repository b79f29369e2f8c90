"""Types as JSON Schemas: what is asked of people, and what a workflow takes, can be given as a class."""

from __future__ import annotations

from collections.abc import Mapping

from layover.authoring.errors import BadBuild
from layover.core.errors import LayoverError
from layover.nodes.annotations import is_model


def schema_of(shape: object) -> object:
    """Return the JSON Schema of a type (a Struct, a dataclass, a TypedDict, a model of pydantic), or the one given."""
    if isinstance(shape, Mapping | bool):
        return shape
    if is_model(shape):
        return shape.model_json_schema()
    from layover.nodes.ask import schema_for  # noqa: PLC0415 - it brings much that only an engine needs

    try:
        return schema_for(shape)
    except LayoverError as error:
        raise BadBuild(error.message) from error
