"""This document, and a page that shows it."""

from __future__ import annotations

from layover.api.routing import Routes

routes = Routes("Document", "This document, and a page that shows it.", prefix="")
