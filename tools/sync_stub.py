"""Write src/layover/sync/__init__.pyi from the signatures of the async classes: tools/sync_stub.py [--check]."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[1] / "src" / "layover"
STUB = SOURCE / "sync" / "__init__.pyi"


class Twin(NamedTuple):
    """An async class, where it is, and how its blocking twin begins."""

    file: str
    of: str
    header: str
    parts: tuple[tuple[str, str], ...] = ()  # the classes that it inherits methods from, each behind its file


TWINS = (
    Twin("interface/listing.py", "Listing", "class SyncListing(Generic[_T])"),
    Twin("interface/execution_handle.py", "ExecutionHandle", "class SyncExecutionHandle"),
    Twin("interface/pause_point_handle.py", "PausePointHandle", "class SyncPausePointHandle"),
    Twin("interface/workflow_handle.py", "WorkflowHandle", "class SyncWorkflowHandle"),
    Twin("interface/trigger_handle.py", "TriggerHandle", "class SyncTriggerHandle"),
    Twin("interface/batch_handle.py", "BatchHandle", "class SyncBatchHandle"),
    Twin("interface/delivery_handle.py", "DeliveryHandle", "class SyncDeliveryHandle"),
    Twin("interface/destination_handle.py", "DestinationHandle", "class SyncDestinationHandle"),
    Twin("interface/callback_handle.py", "CallbackHandle", "class SyncCallbackHandle"),
    Twin(
        "interface/door.py",
        "Door",
        "class SyncDoor",
        (
            ("interface/deliveries_door.py", "DeliveriesDoor"),
            ("interface/batches_door.py", "BatchesDoor"),
            ("interface/nodes_door.py", "NodesDoor"),
            ("interface/monitoring_door.py", "MonitoringDoor"),
            ("interface/views_door.py", "ViewsDoor"),
        ),
    ),
    Twin("engine.py", "Engine", "class SyncEngine(SyncDoor)"),
    Twin("client/client.py", "Client", "class SyncClient(SyncDoor)"),
)
_DOORS = ("Engine", "Client")
_NAMES = {twin.of: f"Sync{twin.of}" for twin in TWINS}
_NAMES |= {"AsyncIterator": "Iterator", "__aiter__": "__iter__", "T": "_T"}
_OWN = """
    def close(self, grace: Duration | None = None) -> None: ...
    def open(self) -> Self: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
"""
_NOTE = "# Written by tools/sync_stub.py from the signatures of the async classes: change those.\n"
_PUBLIC = sorted(f"Sync{twin.of}" for twin in TWINS)


class _Renamed(ast.NodeTransformer):
    """The names of the blocking twins in the place of the async ones."""

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(_NAMES.get(node.id, node.id))


def stub() -> str:
    """Return what is in the file."""
    imports: dict[str, str] = {
        "Generic": "from typing import Generic",
        "TypeVar": "from typing import TypeVar",
        "Iterator": "from collections.abc import Iterator",
        "Self": "from typing import Self",
        "TracebackType": "from types import TracebackType",
    }
    classes = []
    for twin in TWINS:
        module = ast.parse((SOURCE / twin.file).read_text(encoding="utf-8"))
        imports |= _imports(module)
        body = _body(_class(module, twin.of)) + (_OWN if twin.of == "Door" else "")
        for file, name in twin.parts:
            part = ast.parse((SOURCE / file).read_text(encoding="utf-8"))
            imports |= _imports(part)
            body += _body(_class(part, name))
        classes.append(f"{twin.header}:\n{body}")
    body = '_T = TypeVar("_T")\n\n' + "\n\n".join(classes)
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    lines = sorted({line for name, line in imports.items() if name in used})
    public = f"__all__ = {_PUBLIC!r}\n\n"
    return _formatted(_NOTE + "\n".join(lines) + "\n\n" + public + body)


def _imports(module: ast.Module) -> dict[str, str]:
    """Return the line that imports each name, at the top or for types only."""
    found = {}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found[alias.asname or alias.name] = ast.unparse(ast.ImportFrom(node.module, [alias], 0))
    return {name: line for name, line in found.items() if name not in _NAMES}


def _class(module: ast.Module, name: str) -> ast.ClassDef:
    return next(node for node in module.body if isinstance(node, ast.ClassDef) and node.name == name)


def _body(class_: ast.ClassDef) -> str:
    lines, overloaded = list[str](), set[str]()
    for node in class_.body:
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=fields):
                lines += [ast.unparse(_Renamed().visit(field)) for field in fields]
                lines += [f"info: {info}" for info in _info(class_)]
            case ast.FunctionDef(name="__init__") if class_.name in _DOORS:
                lines.append(_signature(node))
            case ast.FunctionDef(name=name, decorator_list=[ast.Name(id="overload")]):
                lines += ["@overload", _signature(node)]
                overloaded.add(name)
            case ast.FunctionDef(name=name) if name in overloaded:
                pass  # a stub has only what can be told of it
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if not name.startswith("_"):
                lines.append(_signature(node))
            case ast.AsyncFunctionDef(name="__aiter__"):
                lines.append(_signature(node))
    return "".join(f"    {line}\n" for text in lines for line in text.splitlines())


def _info(class_: ast.ClassDef) -> list[str]:
    """Return the type of what a handle has read: the parameter of its base."""
    bases = [base for base in class_.bases if isinstance(base, ast.Subscript)]
    return [ast.unparse(base.slice) for base in bases if ast.unparse(base.value) == "Handle"]


def _signature(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    name = _NAMES.get(function.name, function.name)
    args, returns = _Renamed().visit(function.args), _Renamed().visit(function.returns or ast.Constant(None))
    args.kw_defaults = [_simple(default) for default in args.kw_defaults]
    args.defaults = [_simple(default) for default in args.defaults]
    return f"def {name}({ast.unparse(args)}) -> {ast.unparse(returns)}: ..."


def _simple(default: ast.expr | None) -> ast.expr | None:
    """Return a default as a stub has it: one that is the name of something is not told."""
    return ast.Constant(...) if isinstance(default, ast.Name) else default


def _formatted(text: str) -> str:
    for words in (["check", "--quiet", "--select=I", "--fix"], ["format", "--quiet"]):
        command = [sys.executable, "-m", "ruff", *words, f"--stdin-filename={STUB}", "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout  # noqa: S603 - ours
    return text


if __name__ == "__main__":
    from written import write  # beside this file, which is only on the path of a script

    write({STUB: stub()})
