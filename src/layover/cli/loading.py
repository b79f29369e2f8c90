"""The definitions that a server or a worker is started with: sound ones, with all the functions that they call.

Of a folder only YAML and JSON files are taken: Python runs when it is loaded, so it has to be named.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from layover.cli.exits import Stop
from layover.cli.functions import functions_of, node_types
from layover.cli.json_argument import STANDARD_INPUT
from layover.cli.sources import HOW_TO_NAME, distinct, sources, text_of
from layover.core.plan import compile_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.plan import Plan
    from layover.nodes.registry import AnyFunction

_SUFFIXES = (".yaml", ".yml", ".json")


class LoadedWorkflow(NamedTuple):
    """A workflow ready to run, and how it is registered: as its text, with the comments, or else as its plan."""

    plan: Plan
    definition: str | Plan


class LoadedWorkflows(NamedTuple):
    """Workflows ready to run, and their functions."""

    workflows: list[LoadedWorkflow]
    functions: Sequence[AnyFunction]


def load_definitions(names: Sequence[str], nodes: tuple[str, ...]) -> LoadedWorkflows:
    """Return the workflows that are named, or say all that is wrong with them."""
    found = [one for name in names for file in _expanded(name) for one in sources(file)]
    functions = distinct(functions_of(nodes), *(one.functions for one in found))
    types = node_types(functions)
    workflows: list[LoadedWorkflow] = []
    wrong: list[str] = []
    for one in found:
        checked = one.check(types)
        if checked.ok:
            plan = compile_plan(checked)
            workflows.append(LoadedWorkflow(plan, text_of(one) or plan))
        else:
            errors = [problem for problem in checked.problems if problem.severity == "error"]
            wrong += [f"{one.name}:{' ' if problem.line is None else ''}{problem}" for problem in errors]
    if wrong:
        hint = "Functions come from --nodes MODULE; `layover check` tells more."
        raise Stop("These workflows have errors:", details=tuple(wrong), hint=hint)
    return LoadedWorkflows(workflows, functions)


def _expanded(name: str) -> list[str]:
    """Return the definitions in a folder, or the name itself."""
    path = Path(name)
    if not path.is_dir():
        if ":" not in name and name != STANDARD_INPUT and path.suffix != ".py" and not path.exists():
            raise Stop(f"{name}: there is no such folder or file.", hint=HOW_TO_NAME)
        return [name]
    return [str(file) for file in sorted(path.iterdir()) if file.suffix in _SUFFIXES and file.is_file()]
