"""Definitions as callers give them, as what every backend takes: text, or a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from layover.authoring.workflow import Workflow
from layover.core.definitions.canonical import document
from layover.core.plan import Plan
from layover.errors import InvalidInput

Definition: TypeAlias = Workflow | Plan | Path | str | Mapping[str, object]


def source_of(workflow: Definition) -> str | Mapping[str, object]:
    """Return a definition as text or as a mapping: a path is read, and what is built in Python is written out."""
    if isinstance(workflow, Path):
        return text_of(workflow)
    if isinstance(workflow, Workflow):
        return workflow.document()
    if isinstance(workflow, Plan):
        return document(workflow.definition)
    if not isinstance(workflow, str | Mapping):  # Python passes whatever it is given
        raise InvalidInput(f"`workflow`: {workflow!r:.100} is not a definition.", code="invalid_parameter")
    return workflow


def text_of(path: Path) -> str:
    """Return the text of the file of a definition."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise _unreadable(path, "there is no such file") from error
    except OSError as error:
        raise _unreadable(path, error.strerror or type(error).__name__) from error
    except UnicodeDecodeError as error:
        raise _unreadable(path, "it is not UTF-8 text") from error


def _unreadable(path: Path, fault: str) -> InvalidInput:
    return InvalidInput(
        f"The definition `{path}` cannot be read: {fault}.", (("workflow", fault),), code="invalid_parameter"
    )
