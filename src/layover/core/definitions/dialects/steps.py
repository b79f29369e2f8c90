"""The step list: `steps` that name their next steps by `next`, `on_true` and `on_false`.

Each step becomes one node, or a chain of nodes if it does several things: first its `execute`, then its action, then
its wait. The first node of the chain has the step's id, so that everything that leads to the step leads there; the
chain's last node leads on to the step's `next`. Nothing falls through to the step below, and the target `complete` ends
the path (unless a step has that id).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.definitions.dialects.conditions import condition
from layover.core.definitions.dialects.draft import Draft
from layover.core.definitions.dialects.ids import FreshIds
from layover.core.definitions.dialects.retries import translate_retry
from layover.core.definitions.dialects.scope import RootNames
from layover.core.definitions.dialects.step_acts import act_of, call_of, wait_of
from layover.core.definitions.dialects.templates import translate_texts
from layover.core.definitions.dialects.tree_edits import build_tree, fields_of, items_of, text_of
from layover.core.definitions.node_types import default_port

if TYPE_CHECKING:
    from layover.core.definitions.dialects.step_acts import Act
    from layover.core.definitions.dialects.tree_edits import Shape
    from layover.core.definitions.problems import Problems
    from layover.core.definitions.tree import Tree

_END = "complete"
_SHARED: Final = frozenset({"on_error", "timeout", "retry"})


def translate_steps(steps: Tree, problems: Problems) -> tuple[Tree, Tree | None]:
    """Return the nodes of a list of steps, and the first node."""
    nodes = _StepList(items_of(steps), problems).nodes()
    first = nodes[0].get("id") if nodes else None
    return steps.with_value(nodes), build_tree([first], first) if first is not None else None


class _StepList:
    def __init__(self, steps: list[Tree], problems: Problems, scope: RootNames | None = None) -> None:
        self._steps = steps
        self._problems = problems
        self._ids = {text for step in steps if (text := text_of(step.get("id"))) is not None}
        self._fresh = FreshIds(self._ids)
        self._scope = RootNames(self._ids) if scope is None else scope.within(self._ids, ())

    def nodes(self) -> list[Tree]:
        return [node for step in self._steps for node in self._translate(step)]

    def _translate(self, step: Tree) -> list[Tree]:
        if not isinstance(step.value, dict):
            return [step]
        fields = dict(step.value)
        label = fields.pop("name", None)
        if label is not None:
            fields.setdefault("label", label)
        if "condition" in fields and not {"action", "execute", "wait"}.isdisjoint(fields):
            self._problems.add(
                "exactly_one",
                fields["condition"].key_place,
                "A step either decides by a `condition` or does something: split it in two steps.",
            )
            fields = {name: tree for name, tree in fields.items() if name not in {"action", "execute", "wait"}}
        if "condition" in fields:
            return [self._condition(step, fields)]
        acts = self._acts(fields)
        return self._chain(fields, acts) if acts else [self._own(step, fields)]

    def _condition(self, step: Tree, fields: dict[str, Tree]) -> Tree:
        draft = Draft(step, fields, self._scope, self._problems)
        written = draft.take("condition")
        draft.rename("id", "id")
        draft.put("type", "condition", draft.take("type"))
        if written is not None:
            text = condition(written, self._scope, self._problems)
            draft.put("if", "false" if text is None else text, written)
        self._wire_condition(draft)
        return draft.finish()

    def _wire_condition(self, draft: Draft) -> None:
        ports: dict[str, Shape] = {}
        for port, spelling in (("true", "on_true"), ("false", "on_false")):
            target = self._target(draft.take(spelling))
            if target is not None:
                ports[port] = target
        following = draft.take("next")
        if following is not None and not ports and isinstance(following.value, dict):
            draft.put("next", self._target(following) or {})
        elif following is not None:
            self._problems.add(
                "unknown_port", following.key_place, "A condition goes on by `on_true` and `on_false`, not by `next`."
            )
        elif ports:
            draft.put("next", ports)

    def _acts(self, fields: dict[str, Tree]) -> list[Act]:
        """Take the parts of a step, in the order in which they run."""
        acts: list[Act] = []
        execute, action, wait = (fields.pop(name, None) for name in ("execute", "action", "wait"))
        if execute is not None:
            listed = execute.value if isinstance(execute.value, list) else [execute]
            acts += [call_of(item, self._problems) for item in listed]
        if action is not None:
            act = act_of(action, self._problems)
            if act is not None:
                acts.append(act)
            elif execute is None:
                self._problems.add("missing_field", action.place, "The action needs a `name`, its function.")
        if wait is not None:
            acts.append(wait_of(wait, self._ids, self._problems))
        return acts

    def _chain(self, fields: dict[str, Tree], acts: list[Act]) -> list[Tree]:
        name = fields.pop("id", None)
        fields.pop("type", None)
        following = self._target(fields.pop("next", None))
        stem = text_of(name) or ""
        ids = [stem, *(self._fresh.numbered(stem) for _ in acts[1:])]
        shared = {key: fields.pop(key) for key in _SHARED if key in fields}
        made: list[Tree] = []
        for index, act in enumerate(acts):
            draft = Draft(act.origin, dict(act.fields), self._scope, self._problems)
            if index or name is not None:
                draft.put("id", ids[index] if index else name, name)
            draft.put("type", act.type)
            self._share(draft, act, shared)
            later = build_tree(ids[index + 1], act.origin) if index + 1 < len(ids) else following
            extra = self._wire_act(draft, act, later, ids[index])
            made += [draft.finish(), *extra]
        made[0] = made[0].with_value({**fields, **fields_of(made[0])})
        return made

    def _share(self, draft: Draft, act: Act, shared: dict[str, Tree]) -> None:
        """Give each node of a chain the step's own `retry`, `timeout` and `on_error`, where it can have them."""
        for key, tree in shared.items():
            fits = act.works or key == "on_error"
            if not fits or draft.has(key):
                continue
            policy = translate_retry(tree, self._problems) if key == "retry" else tree
            if policy is not None:
                draft.put(key, policy)

    def _wire_act(self, draft: Draft, act: Act, later: Tree | None, name: str) -> list[Tree]:
        """Connect a node of a chain; return the nodes that this needs."""
        ports: dict[str, Shape] = {}
        if later is not None and _type(act) == "end":
            self._problems.warn("useless_field", later.place, "An `allow` ends the execution: nothing can follow it.")
        elif later is not None and isinstance(later.value, dict):
            ports.update(later.value)
        elif later is not None:
            ports[default_port(_type(act)) or "done"] = later
        added: list[Tree] = []
        if act.expired is not None and "expired" not in ports:
            ports["expired"] = self._target(act.expired) or self._quiet_end(act.expired, added, name)
        if act.blocks and "rejected" not in ports:
            added.append(self._blocked(act, ports, name))
        if ports:
            draft.put("next", ports)
        return added

    def _quiet_end(self, at: Tree, added: list[Tree], name: str) -> str:
        """Add a node that does nothing: an `expired` port that leads nowhere would fail the execution."""
        made = self._fresh.named(f"{name}-expired")
        added.append(build_tree({"id": made, "type": "compute", "output": None}, at))
        return made

    def _blocked(self, act: Act, ports: dict[str, Shape], name: str) -> Tree:
        """Add the end that a rejection leads to, and lead there."""
        ports["rejected"] = blocked = self._fresh.named(f"{name}-blocked")
        end: dict[str, Shape] = {"id": blocked, "type": "end", "outcome": "blocked"}
        reason = act.fields.get("title")
        if reason is not None:
            end["reason"] = translate_texts(reason, self._scope, self._problems)
        return build_tree(end, act.origin)

    def _own(self, step: Tree, fields: dict[str, Tree]) -> Tree:
        """Return a step that is a node of ours, with its `next` and its retry policy translated."""
        draft = Draft(step, fields, self._scope, self._problems)
        draft.put_retry()
        following = self._target(draft.take("next"))
        if following is not None:
            draft.put("next", following)
        for name in ("body", "steps"):
            written = draft.take(name)
            if written is not None:
                draft.put("body", self._body(written))
        return draft.finish()

    def _body(self, tree: Tree) -> Tree:
        written = tree.get("steps") or tree
        if not isinstance(written.value, list):
            return tree
        return tree.with_value(_StepList(written.value, self._problems, self._scope).nodes())

    def _target(self, tree: Tree | None) -> Tree | None:
        """Return the target of a step, without the word for the end of a path."""
        if tree is None or tree.value is None:
            return None
        value = tree.value
        if isinstance(value, list):
            kept = [child for child in value if not self._ends(child)]
            return tree if len(kept) == len(value) else tree.with_value(list(kept)) if kept else None
        if isinstance(value, dict):
            ports = {port: child for port, child in value.items() if not self._ends(child)}
            return tree if len(ports) == len(value) else tree.with_value(ports) if ports else None
        return None if self._ends(tree) else tree

    def _ends(self, tree: Tree) -> bool:
        return tree.value is None or (tree.value == _END and _END not in self._ids)


def _type(act: Act) -> str:
    return text_of(act.type) or ""
