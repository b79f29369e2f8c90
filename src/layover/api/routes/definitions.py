"""Checking, trying out and moving definitions."""

from __future__ import annotations

from layover.api.routing import Routes

routes = Routes("Definitions", "Checking, trying out and moving definitions.", prefix="/api/v1")
