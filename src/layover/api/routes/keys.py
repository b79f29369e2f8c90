"""Keys to use this interface with, and who the caller is."""

from __future__ import annotations

from layover.api.routing import Routes

routes = Routes("Keys", "Keys to use this interface with, and who the caller is.", prefix="/api/v1")
