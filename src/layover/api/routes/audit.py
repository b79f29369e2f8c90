"""What was done by whom."""

from __future__ import annotations

from layover.api.routing import Routes

routes = Routes("Audit", "What was done by whom.", prefix="/api/v1")
