"""All scenes that there are."""

from __future__ import annotations

from tests.api.codes import (  # noqa: F401 - they bring their scenes along
    anywhere,
    asking,
    batching,
    defining,
    delivering,
    forking,
    hurrying,
    monitoring,
    proving,
    running,
    taking_back,
    talking,
    telling,
    triggering,
)
from tests.api.codes.registry import OF_ANY, OF_ONE, scene_of

__all__ = ["OF_ANY", "OF_ONE", "scene_of"]
