"""All scenes that there are."""

from __future__ import annotations

from tests.api.codes import anywhere, asking, defining, delivering, running, telling, triggering  # noqa: F401 - they bring their scenes along
from tests.api.codes.registry import OF_ANY, OF_ONE, scene_of

__all__ = ["OF_ANY", "OF_ONE", "scene_of"]
