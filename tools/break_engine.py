"""Break the engine in many ways and see that its tests notice each one.

    python tools/break_engine.py [--small]

Each mutation is one change of text in a copy of the source. A mutation that no longer finds its text is an error too,
so that the list stays true. Exits with 1 if any mutation survives. `--small` looks for the text of all mutations, and
runs the tests of one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
ENGINE = Path("layover") / "core" / "engine"
TESTS = Path("tests") / "core" / "engine"
_LONGEST = 300


class Mutation(NamedTuple):
    """One way to break the engine."""

    what: str
    file: str
    old: str
    new: str


MUTATIONS = [
    Mutation("skip the gate", "advance.py", 'if facts.gate != "open":', 'if facts.gate == "paused":'),
    Mutation("forget dead paths", "node_transitions.py", 'status = "skipped"', 'status = "idle"'),
    Mutation("run a join at its first edge", "node_transitions.py", "reached and (complete or", "reached and (True or"),
    Mutation("take every port", "node_transitions.py", "taken=out == taken_port", "taken=taken_port is not None"),
    Mutation("apply an answer twice", "apply_points.py", "state.points.drop(event.point)", "None"),
    Mutation("count a stale attempt", "decide.py", "and node.attempt == command.attempt", ""),
    Mutation("take a result of what does not run", "decide.py", 'and node.status == "running"', ""),
    Mutation(
        "lose the order of a scope's results",
        "containers.py",
        "[one.output for one in kept",
        "[one.output for one in [*kept][::-1]",
    ),
    Mutation("collect skipped rounds", "apply_nodes.py", 'event.end in ("done", "broken")', "True"),
    Mutation(
        "leave a closed scope's nodes",
        "node_transitions.py",
        "state.nodes.drop(name)\n    state.scopes",
        "pass\n    state.scopes",
    ),
    Mutation("apply answers while work is out", "points.py", "or (sequential and state.busy)", ""),
    Mutation("retry without end", "failures.py", "if is_exhausted(retry, failures):", "if False:"),
    Mutation("ignore the error port", "failures.py", 'if planned.targets("error"):', "if False:"),
    Mutation("let one failed branch fail all", "failures.py", 'container.on_failure == "fail_fast"', "True"),
    Mutation(
        "keep waiting points of a failed scope",
        "failures.py",
        "    cancel_points(context, path)\n    context.emit(ev.ScopeClosed(node=scope.node",
        "    context.emit(ev.ScopeClosed(node=scope.node",
    ),
    Mutation(
        "write a branch's variables through", "apply_nodes.py", '.node.type == "parallel"', '.node.type == "none"'
    ),
    Mutation("recover without a bound", "recovery.py", "if lost and node.recoveries >= ", "if False and "),
    Mutation("decide against a deadline", "points.py", 'on_deadline == "approve"', 'on_deadline != "approve"'),
    Mutation(
        "wake behind the gate", "timing.py", 'if state.facts.gate != "open":\n        due', "if False:\n        due"
    ),
    Mutation("accept what a closed execution is told", "decide.py", "not state.facts.closed or", "True or"),
    Mutation("let anybody answer", "answers.py", "if isinstance(found, DecisionRefused):", "if False:"),
    Mutation("take any answer to a form", "answers.py", "if errors else None", "if False else None"),
    Mutation("not undo a decision", "tables.py", "while self._undo:", "while False:"),
    Mutation("reserve an answer for ever", "answers.py", 'point.kind != "approval" or outcome(', "True or outcome("),
    Mutation("take any answer to a function", "answers.py", 'return point.details.get("schema")', "return None"),
    Mutation("pause before the children have", "gate.py", ' and not counts["children"]', ""),
    Mutation("leave children at work", "rewind.py", "reason=reason, child=point.child", "reason=reason"),
    Mutation("leave late children at work", "points.py", "point=point.id, child=point.child", "point=point.id"),
    Mutation("keep children held", "apply_execution.py", "    release_children(state)\n", ""),
    Mutation(
        "tell a parent that does not wait", "effects.py", "if parent is None or point is None", "if parent is None"
    ),
    Mutation("lose the fate of what failed", "apply_nodes.py", "            _keep_fates(state, path)\n", ""),
    Mutation("forget who waits for a place", "node_transitions.py", '"queued": "queued"', '"queued": "answers"'),
    Mutation(
        "end a pause by an earlier one", "points.py", "return order == (facts.pauses", "return order <= (facts.pauses"
    ),
    Mutation("take word of another pause", "points.py", 'if facts.gate != "open" else 0)', "if order else 0)"),
    Mutation(
        "answer no pause but the first",
        "gate.py",
        "if command.order not in (0, facts",
        "if command.order in (0, facts",
    ),
    Mutation(
        "keep children held by another pause",
        "apply_execution.py",
        "    release_children(state)  # an earlier",
        "    # an earlier",
    ),
    Mutation(
        "leave what had ended as it was", "decide.py", "if was_closed and not context.state.facts.closed:", "if False:"
    ),
    Mutation("start what is held", "starting.py", "or facts.hold ", ""),
    Mutation("start before its moment", "starting.py", "facts.start_at <= context.now", "True"),
    Mutation("admit again and again", "starting.py", "if context.state.facts.hold:", "if True:"),
    Mutation(
        "lose what a resume brought early", "apply_execution.py", "carried_sets), facts.early):", "carried_sets),):"
    ),
    Mutation("call again who has replied", "recovery.py", 'point.status == "answered"', "False"),
    Mutation("open another point for a lost call", "activate.py", " and not context.state.node(name).point", ""),
    Mutation(
        "leave a call out whose result is not awaited",
        "rewind.py",
        "return point.node if calling",
        'return "" if calling',
    ),
    Mutation("fail although the reply is there", "calls.py", 'if point.status == "answered":', "if False:"),
    Mutation(
        "write every beat", "points.py", "_MOST_BEATS * (beat_by - point.beat_by) >= length", "beat_by > point.beat_by"
    ),
    Mutation("never miss a heartbeat", "apply_points.py", "point.beat_by, point.deadline)", "point.deadline)"),
    Mutation("let a token into a text", "scope_lookup.py", '{"$token": "url"}', '"url"'),
    Mutation("call again what is in doubt", "in_doubt.py", 'if _on_crash(context.state, name) == "rerun"', "if True"),
    Mutation(
        "call instead of looking", "effects.py", 'purpose_of(state, event.node) if node.doubt else "work"', '"work"'
    ),
    Mutation("undo with another input", "activate.py", "if node.doubt and node.input is not None", "if False"),
    Mutation(
        "forget what is to be undone", "node_transitions.py", "input=node.input if node.doubt else None", "input=None"
    ),
    Mutation("find records of what was undone", "apply_nodes.py", "checkpoint=None, journal={}", "checkpoint=None"),
    Mutation(
        "ask instead of undoing", "in_doubt.py", "return node.doubt and not node.undo and", "return node.doubt and"
    ),
    Mutation("undo once too often", "apply_nodes.py", "undo_failures=node.undo_failures + 1", "undo_failures=0"),
    Mutation(
        "know a failed call to have failed", "points.py", "context.emit(ev.NodeInDoubt(node=name, attempt=number))", ""
    ),
    Mutation("fail what is to be undone", "run_now.py", 'purpose_of(state, name) == "undo"', "False"),
    Mutation("count a recovery twice", "apply_nodes.py", ' and node.status != "ready"', ""),
    Mutation("take any answer to a doubt", "answers.py", "return answer_schema(point.details)", "return None"),
    Mutation("forget a doubt at a retry", "node_transitions.py", "        doubt=node.doubt,\n", ""),
    Mutation("forget the journal at a retry", "node_transitions.py", "        journal=node.journal,\n", ""),
    Mutation("return to who settled a doubt", "apply_points.py", "point.key or point.doubt  #", "point.key  #"),
    Mutation("number messages anew", "effects.py", 'state.counts.rows["seq"] - len(events)', "0"),
    Mutation(
        "forget what was done in a failed scope", "apply_nodes.py", "halt_scope(state, path)", "drop_scope(state, path)"
    ),
    Mutation("begin a failed container anew", "halting.py", "return bool(node.next_round) and", "return False and"),
    Mutation("forget a halted call that matters", "halting.py", "node.doubt or lost", "node.doubt"),
    Mutation(
        "take up all branches at once", "containers.py", ").due_scopes and row.open_scopes < most", ").due_scopes"
    ),
    Mutation("keep what a container went on without", "halting.py", 'container.on_failure == "continue"', "False"),
    Mutation(
        "lose when a signal came", "signals.py", "context.now if command.at is None else command.at", "context.now"
    ),
]


def find(mutation: Mutation, sources: Path) -> Path:
    """Return the file that a mutation changes, with its text in it."""
    path = sources / ENGINE / mutation.file
    if mutation.old not in path.read_text("utf-8"):
        raise SystemExit(f"{mutation.what}: {mutation.file} has no longer {mutation.old!r}")
    return path


def survives(mutation: Mutation | None, tests: Path = TESTS) -> bool:
    """Return whether all tests pass, although the engine is broken or, without a mutation, as it is."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src" / "layover", Path(folder) / "layover")
        if mutation is not None:
            path = find(mutation, Path(folder))
            text = path.read_text("utf-8")
            path.write_text(text.replace(mutation.old, mutation.new, 1), "utf-8")
        try:
            done = subprocess.run(  # noqa: S603 - our own tests
                [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(tests)],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": folder},
                capture_output=True,
                check=False,
                timeout=_LONGEST,
            )
        except subprocess.TimeoutExpired:
            return False  # an engine that never ends is noticed too
        return done.returncode == 0


def main() -> int:
    """Try every mutation and say which survive."""
    for mutation in MUTATIONS:
        find(mutation, ROOT / "src")
    if "--small" in sys.argv[1:]:
        return 1 if survives(MUTATIONS[0], TESTS / "test_pauses.py") else 0
    if not survives(None):
        raise SystemExit("The tests fail without any mutation: mend that first.")
    alive = 0
    for mutation in MUTATIONS:
        survived = survives(mutation)
        alive += survived
        print(f"{'SURVIVED' if survived else 'noticed '}  {mutation.what}", flush=True)
    print(f"{len(MUTATIONS) - alive} of {len(MUTATIONS)} noticed")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
