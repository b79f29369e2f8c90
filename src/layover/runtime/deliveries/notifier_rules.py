"""The occasions that functions of the program ask for by themselves: rules beside those of the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.notify_rules import load_notify

if TYPE_CHECKING:
    from layover.nodes.registry import Registry
    from layover.runtime.settings import RuntimeSettings


def with_notifiers(settings: RuntimeSettings, registry: Registry) -> RuntimeSettings:
    """Return settings with a rule for each notifier that says of what it is told."""
    asking = [{"on": list(one.on), "via": name} for name, one in registry.notifiers.items() if one.on]
    return replace(settings, notify=(*settings.notify, *load_notify(asking))) if asking else settings
