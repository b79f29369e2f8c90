"""Layover: durable workflows whose first-class act is the pause."""

from layover.core.definitions import Checked, InvalidDefinition, Problem, check
from layover.core.errors import LayoverError
from layover.core.plan import Plan, load

__all__ = ["Checked", "InvalidDefinition", "LayoverError", "Plan", "Problem", "check", "load"]
