"""Types as JSON Schemas: forms and inputs of workflows can be declared by a class."""

from __future__ import annotations

from collections.abc import Mapping

from layover.authoring.errors import BadBuild
from layover.errors import LayoverError
from layover.nodes.annotations import is_model


def schema_of(shape: object) -> object:
    """Return the JSON Schema of a type (a Struct, a dataclass, a TypedDict, a pydantic model), or the given schema."""
    if isinstance(shape, Mapping | bool):
        return shape
    if is_model(shape):
        return shape.model_json_schema()
    from layover.nodes.ask import schema_for  # noqa: PLC0415 - its imports are only needed by an engine

    try:
        return schema_for(shape)
    except LayoverError as error:
        raise BadBuild(error.message) from error
