"""Definitions: read from text or data, checked, normalised, written."""

from layover.core.definitions.canonical import content_hash, document
from layover.core.definitions.check import Checked, check
from layover.core.definitions.check_arguments import Parameters
from layover.core.definitions.limits import DEFAULT_LIMITS, DefinitionLimits
from layover.core.definitions.model import Definition, Edge, GraphDefinition, Node, RetryDefinition, WorkflowSettings
from layover.core.definitions.problems import InvalidDefinition, Problem
from layover.core.definitions.schema import format_schema

__all__ = [
    "DEFAULT_LIMITS",
    "Checked",
    "Definition",
    "DefinitionLimits",
    "Edge",
    "GraphDefinition",
    "InvalidDefinition",
    "Node",
    "Parameters",
    "Problem",
    "RetryDefinition",
    "WorkflowSettings",
    "check",
    "content_hash",
    "document",
    "format_schema",
]
