"""Problems of one node beyond its single fields: fields that need or exclude each other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, cast

from msgspec import UNSET

from layover.core.definitions.check_arguments import Parameters, check_arguments
from layover.core.definitions.durations import format_duration
from layover.core.definitions.kinds import NAME_PATTERN
from layover.core.definitions.model import DEFAULT_MAX_PAUSE
from layover.core.definitions.node_types import (
    TYPES,
    Approval,
    AskingNode,
    Callback,
    CallNode,
    Delay,
    Form,
    Http,
    Loop,
    Merge,
    Parallel,
    PeopleDefinition,
    Send,
    Set,
    Switch,
    WaitSignal,
    WorkingNode,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from layover.core.definitions.check_notify import NotifyChecker
    from layover.core.definitions.model import Definition, DefinitionPart, GraphDefinition, Node, RetryDefinition
    from layover.core.definitions.problems import Problems
    from layover.core.definitions.read import Reading
    from layover.core.definitions.tree import SourcePosition

_RETRY_WORD = re.compile(r"[1-5]xx|[1-5]\d\d|[A-Za-z_][A-Za-z0-9_.]*")


class NodeChecker:
    """Checks the nodes of one definition; `functions` are those of `check`."""

    def __init__(
        self, reading: Reading, functions: Collection[str] | None, definition: Definition, notify: NotifyChecker
    ) -> None:
        settings = reading.site(definition).get("settings")
        self._has_max_pause = settings is not None and settings.get("max_pause") is not None
        self._reading = reading
        self._problems: Problems = reading.problems
        self._functions = functions
        self._notify = notify
        self._sources: dict[int, dict[str, set[str]]] = {}

    def check(self, node: Node, graph: GraphDefinition) -> None:
        """Report the problems of a node of a graph."""
        if isinstance(node, WorkingNode) and node.retry is not None:
            self._check_retry(node.retry)
        if isinstance(node, AskingNode):
            self._check_people(node)
            self._check_missing_deadline(node)
        if isinstance(node, Approval | Form | WaitSignal | Callback):
            self._check_deadline(node)
        self._check_control(node, graph)
        self._check_pause_or_work(node)

    def _check_control(self, node: Node, graph: GraphDefinition) -> None:
        match node:
            case Switch():
                self._check_switch(node)
            case Set():
                self._check_set(node)
            case Merge():
                self._check_merge(node, graph)
            case Loop():
                self._check_loop(node)
            case Parallel():
                self._check_parallel(node)
            case _:
                pass

    def _check_pause_or_work(self, node: Node) -> None:
        match node:
            case Approval():
                self._check_approval(node)
            case Delay():
                self._exactly_one(node, "duration", "until")
            case WaitSignal():
                self._check_wait(node)
            case Http():
                self._check_url(node)
            case Send():
                self._check_send(node)
            case Callback(call=str() as call):
                self._check_function(node, "call", call)
            case CallNode():
                self._check_function(node, "type", node.type)
            case _:
                pass

    def _place(self, part: DefinitionPart, field: str | None = None) -> SourcePosition:
        site = self._reading.site(part)
        written = site.get(field) if field is not None else None
        return (written or site).place

    def _exactly_one(self, node: Node, *fields: str, code: str = "exactly_one") -> str | None:
        """Report if none or several of some exclusive fields are given; return the one that is."""
        given = [field for field in fields if self._has_value(node, field)]
        if len(given) == 1:
            return given[0]
        listed = " or ".join(f"`{field}`" for field in fields)
        if given:
            both = " and ".join(f"`{field}`" for field in given)
            self._problems.add(
                code, self._place(node, given[-1]), f"`{node.id}` has {both}, which exclude each other: keep one."
            )
        else:
            self._problems.add(code, self._place(node), f"`{node.id}` needs {listed}.")
        return None

    def _has_value(self, part: DefinitionPart, field: str) -> bool:
        """Whether a field has a value: a canonical document may spell out that it is empty."""
        written = self._reading.site(part).get(field)
        return written is not None and written.value not in (None, "", [])

    def _check_function(self, node: Node, field: str, name: str) -> None:
        if name in TYPES and field == "call":
            return
        place = self._place(node, field)
        if self._functions is None:
            what = f"`{name}` is not a built-in type: an instance with a function of that name has to run it"
            self._problems.unknown("unknown_type", place, what, name, TYPES, severity="warning")
        elif name == "send" and name not in self._functions:
            self._problems.add("missing_field", place, "A send node needs the field `via`.")
        elif name not in self._functions:
            what = f"There is no node type `{name}`: it is neither built in nor a registered function"
            self._problems.unknown("unknown_type", place, what, name, chain(TYPES, self._functions))
        elif isinstance(self._functions, Mapping):
            parameters = self._functions[name]
            if isinstance(parameters, Parameters):
                check_arguments(self._problems, name, parameters, self._reading.site(node))
                self._check_lost_calls(node, name, parameters.for_lost_calls)

    def _check_lost_calls(self, node: Node, function: str, has: frozenset[str] | None) -> None:
        """Warn of a probe or an undo that is wanted after a crash, where the function has none."""
        wanted = node.on_crash if isinstance(node, CallNode) else ""
        if has is not None and wanted in ("probe", "undo") and wanted not in has:
            mended = f"Give it one (`@{function}.{wanted}`)."
            what = f"`{function}` has no {wanted}: after a crash a person would be asked. {mended}"
            self._problems.warn(f"unknown_{wanted}", self._place(node, "on_crash"), what)

    def _check_retry(self, retry: RetryDefinition) -> None:
        if retry.max_delay < retry.delay:
            place = self._place(retry, "max_delay")
            self._problems.add("bad_value", place, "`max_delay` is shorter than `delay`.")
        for field in ("retry_on", "ignore"):
            for index, word in enumerate(cast("tuple[str, ...]", getattr(retry, field))):
                if not _RETRY_WORD.fullmatch(word):
                    place = self._item_place(retry, field, index)
                    self._problems.add(
                        "bad_value",
                        place,
                        f"`{field}` lists exception names, HTTP codes (`429`) and classes (`5xx`), not {word!r}.",
                    )

    def _item_place(self, part: DefinitionPart, field: str, index: int) -> SourcePosition:
        site = self._reading.site(part).get(field)
        if site is not None and isinstance(site.value, list) and index < len(site.value):
            return site.value[index].place
        return self._place(part, field)

    def _check_deadline(self, node: Approval | Form | WaitSignal | Callback) -> None:
        if node.deadline is not None and node.on_deadline is None:
            self._problems.add(
                "deadline_without_outcome",
                self._place(node, "deadline"),
                f"`{node.id}` has a deadline: say with `on_deadline` what happens when it passes.",
            )
        elif node.on_deadline is not None and node.deadline is None:
            self._problems.add(
                "outcome_without_deadline",
                self._place(node, "on_deadline"),
                f"`{node.id}` says what happens `on_deadline`, but has no `deadline`.",
            )

    def _check_missing_deadline(self, node: AskingNode) -> None:
        """Warn of a question that fails its execution after the default `max_pause`, which its author may not know."""
        if node.deadline is None and not self._has_max_pause and not self._has_value(node, "deadline"):
            self._problems.warn(
                "default_max_pause",
                self._place(node),
                f"`{node.id}` has no `deadline`: without an answer its execution fails after "
                f"{format_duration(DEFAULT_MAX_PAUSE)}. Give it one with `on_deadline`, or say with "
                "`settings.max_pause` how long it may wait (`none` for no limit).",
            )

    def _check_people(self, node: AskingNode) -> None:
        for people in (node.approvers, node.escalate.to if node.escalate else None):
            if people is not None and not self._has_approvers(people):
                self._problems.add(
                    "nobody_asked", self._place(people), "Name at least one approver: `users`, `roles` or `expression`."
                )
        for index, reminder in enumerate(node.remind):
            place = self._item_place(node, "remind", index)
            if not isinstance(reminder, int) and node.deadline is None:
                message = f"`{node.id}` would remind before its deadline, but has no `deadline`."
                self._problems.add("reminder_without_deadline", place, message)
            elif not isinstance(node.deadline, int):
                continue  # when it is, is known when the node asks
            elif isinstance(reminder, int) and reminder >= node.deadline:
                self._problems.warn("useless_reminder", place, f"`{node.id}` would remind at or after its deadline.")
            elif not isinstance(reminder, int) and reminder.before >= node.deadline:
                self._problems.warn("useless_reminder", place, f"`{node.id}` would remind before it has asked.")

    @staticmethod
    def _has_approvers(people: PeopleDefinition) -> bool:
        return bool(people.users or people.roles or people.expression)

    def _check_approval(self, node: Approval) -> None:
        people = node.approvers
        only_users = people is not None and bool(people.users) and not people.roles and people.expression is None
        templated = people is not None and any("${" in user for user in people.users)
        if people is not None and only_users and not templated and node.escalate is None:
            for field in ("need", "reject_need"):
                if getattr(node, field) > len(set(people.users)):
                    self._problems.add(
                        "impossible_need",
                        self._place(node, field),
                        f"`{field}` is {getattr(node, field)}, but only {len(set(people.users))} may decide.",
                    )
        if node.order == "sequence" and not only_users:
            self._problems.add(
                "order_without_users", self._place(node, "order"), "`order: sequence` needs `approvers` with `users`."
            )

    def _check_switch(self, node: Switch) -> None:
        for case in node.cases:
            equals, if_ = case.equals is not UNSET, case.if_ is not None
            if equals == if_:
                self._problems.add("exactly_one", self._place(case), "A case has either `equals` or `if`.")
            elif equals and node.value is None:
                self._problems.add(
                    "missing_field", self._place(case), f"`equals` compares with `value`, which `{node.id}` lacks."
                )
            if case.port == "error":
                self._problems.add("bad_name", self._place(case, "port"), "`error` is the port for failures.")

    def _check_set(self, node: Set) -> None:
        site = self._reading.site(node).get("values")
        for name in node.values:
            if not re.fullmatch(NAME_PATTERN, name):
                child = site.get(name) if site is not None else None
                place = child.key_place if child is not None else self._place(node, "values")
                self._problems.add("bad_name", place, f"A variable is made of letters, digits and `_`, not {name!r}.")

    def _check_merge(self, node: Merge, graph: GraphDefinition) -> None:
        sources = self._sources_in(graph).get(node.id, set()) if node.branches else set()
        for index, name in enumerate(node.branches):
            if name not in sources:
                place = self._item_place(node, "branches", index)
                what = f"No edge leads from `{name}` to `{node.id}`"
                self._problems.unknown("dangling_edge", place, what, name, sources)
        if (node.strategy == "custom") != (node.output is not UNSET):
            self._problems.add(
                "exactly_one", self._place(node, "strategy"), "`strategy: custom` and `output` belong together."
            )

    def _sources_in(self, graph: GraphDefinition) -> dict[str, set[str]]:
        """Return the nodes that lead to each node of a graph; computed once for all its merges."""
        known = self._sources.get(id(graph))
        if known is None:
            known = self._sources[id(graph)] = {}
            for edge in graph.edges:
                known.setdefault(edge.target, set()).add(edge.source)
        return known

    def _check_loop(self, node: Loop) -> None:
        kind = self._exactly_one(node, "for_each", "while", "times", code="loop_without_bound")
        if kind == "while" and node.max_iterations is None:
            self._problems.add(
                "loop_without_bound",
                self._place(node, "while"),
                f"`{node.id}` might never end: give it `max_iterations`.",
            )

    def _check_parallel(self, node: Parallel) -> None:
        kind = self._exactly_one(node, "body", "branches")
        has_items = node.for_each is not None
        if kind == "body" and not has_items:
            self._problems.add(
                "missing_field", self._place(node), f"`{node.id}` needs `for_each`: its body runs once for each item."
            )
        if kind == "branches":
            for field in ("for_each", "collect", "max_iterations"):
                if self._has_value(node, field):
                    self._problems.add(
                        "exactly_one", self._place(node, field), f"`{field}` belongs to a `body`, not to `branches`."
                    )
            self._check_branches(node)

    def _check_branches(self, node: Parallel) -> None:
        for branch, again in _repeated(node):
            self._problems.add("duplicate_id", self._place(branch, "id"), f"Two branches are called `{again}`.")

    def _check_wait(self, node: WaitSignal) -> None:
        kind = self._exactly_one(node, "signal", "signals")
        if kind == "signals":
            self._check_signals(node)
        if kind == "signal" and node.need not in ("all", "any", 1):
            self._problems.add("impossible_need", self._place(node, "need"), "One signal is awaited, so `need` is 1.")

    def _check_signals(self, node: WaitSignal) -> None:
        if isinstance(node.need, int) and node.need > len(node.signals):
            self._problems.add(
                "impossible_need",
                self._place(node, "need"),
                f"`need` is {node.need}, but only {len(node.signals)} are awaited.",
            )
        for field in ("key", "filter"):
            if self._has_value(node, field):
                self._problems.add(
                    "exactly_one", self._place(node, field), f"With `signals`, each one has its own `{field}`."
                )
        aliases: set[str] = set()
        for signal in node.signals:
            if signal.alias in aliases:
                place = self._place(signal, "alias")
                self._problems.add("duplicate_id", place, f"Two signals are called `{signal.alias}`.")
            aliases.add(signal.alias)

    def _check_send(self, node: Send) -> None:
        fixed = [one if "${" not in one else "requester" for one in node.to]  # the others are known when it is sent
        self._notify.check_recipients(node, fixed)
        self._notify.check_destination(node.via)
        if "people" in node.to:
            place = self._item_place(node, "to", node.to.index("people"))
            self._problems.add("bad_recipient", place, "`people` are those whom a pause point asks: name others here.")
        if not node.text and node.data is UNSET:
            self._problems.add("missing_field", self._place(node), f"`{node.id}` needs `text` or `data`.")
        for field in ("retry", "timeout"):
            if not node.wait and self._has_value(node, field):
                self._problems.add(
                    "exactly_one", self._place(node, field), f"`{node.id}` does not wait, so it has no `{field}`."
                )

    def _check_url(self, node: Http) -> None:
        if "${" not in node.url and not re.match(r"https?://[^/\s]", node.url, re.IGNORECASE):
            place = self._place(node, "url")
            self._problems.add("bad_value", place, "`url` starts with `http://` or `https://` and a host.")


def _repeated(node: Parallel) -> Iterator[tuple[DefinitionPart, str]]:
    seen: set[str] = set()
    for branch in node.branches:
        if branch.id in seen:
            yield branch, branch.id
        seen.add(branch.id)
