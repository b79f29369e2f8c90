"""The engine: workflows in this process, on a database at an address."""

from __future__ import annotations

from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Self, overload

from msgspec.structs import replace

from layover.authoring.workflow import Workflow
from layover.bootstrap import DEFAULT, inspectable_store, open_store
from layover.errors import BadUse
from layover.interface.door import Door
from layover.interface.durations import Duration, seconds_of
from layover.interface.sources import Definition, source_of
from layover.nodes.notifier import notifier
from layover.nodes.registry import Registry
from layover.runtime.passive import PassiveRuntime
from layover.runtime.runtime import Runtime
from layover.secret_providers import built_in_providers
from layover.service.actor import Actor
from layover.service.batch_acts import UserBatchActs
from layover.service.permissions import PROGRAM, caller_of
from layover.service.service import UserService
from layover.settings import directory_of, runtime_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType

    from layover.model.access import Caller
    from layover.nodes.notifier import NotifierFunction, P, R
    from layover.nodes.registry import AnyFunction
    from layover.ports.directory import Directory
    from layover.ports.secrets import Secrets
    from layover.settings import Settings

CREDENTIAL = "embedded"


class Engine(Door):
    """A durable workflow engine in this process, open for the length of an `async with`.

    With `drive=False` it starts, answers and reads, and runs nothing: engines elsewhere do. With `user` and `roles` it
    acts as that user: every operation is checked and audited. Without, it is the program's own, which may do all.
    `secrets` are providers that are asked for secrets after the environment and the files of the settings; `directory`
    knows people, in the place of that of the settings.
    """

    def __init__(  # noqa: PLR0913 - each is named where it is given
        self,
        db: str = DEFAULT,
        *,
        nodes: Iterable[AnyFunction] = (),
        workflows: Iterable[Definition] = (),
        probes: Mapping[str, AnyFunction] | None = None,
        undos: Mapping[str, AnyFunction] | None = None,
        secrets: Iterable[Secrets] = (),
        directory: Directory | None = None,
        settings: Settings | None = None,
        user: str | None = None,
        roles: Sequence[str] = (),
        drive: bool = True,
    ) -> None:
        self._workflows = tuple(workflows)
        self._hook_addresses: dict[str, str] = {}
        functions = _with_functions(nodes, self._workflows)
        self._runtime: Runtime | PassiveRuntime
        chosen = runtime_settings(settings)
        if directory is not None:
            chosen = replace(chosen, directory=directory_of(directory))
        providers = (*built_in_providers(chosen.secrets_file, chosen.secrets_dir), *_providers(secrets))
        if drive:
            store = open_store(db)
            self._runtime = Runtime(
                store,
                nodes=functions,
                probes=probes,
                undos=undos,
                settings=chosen,
                secrets=providers,
                batch_acts=UserBatchActs,
            )
        else:
            registry = _registry(functions, probes, undos)
            self._runtime = PassiveRuntime(inspectable_store(db), registry, settings=chosen, secrets=providers)
        self._act_as(_caller(user, roles))

    def as_user(self, user: str, roles: Sequence[str] = ()) -> Self:
        """Return this engine as a user: what is done through it is checked and audited as theirs."""
        view = object.__new__(type(self))
        view._workflows, view._runtime, view._hook_addresses = self._workflows, self._runtime, {}
        view._act_as(_caller(user, roles))
        return view

    @overload
    def notifier(self, function: Callable[P, R], /) -> NotifierFunction[P, R]: ...

    @overload
    def notifier(
        self, /, *, name: str | None = None, on: Sequence[str] = ()
    ) -> Callable[[Callable[P, R]], NotifierFunction[P, R]]: ...

    def notifier(
        self, function: Callable[..., Any] | None = None, /, *, name: str | None = None, on: Sequence[str] = ()
    ) -> Any:
        """Make a function a destination of this engine, before it is opened; with `on`, it is told of such occasions.

        It gets a `Notification`, at least once, and always under the same id.
        """

        def add(function: Callable[..., Any]) -> NotifierFunction[..., Any]:
            made = notifier(name=name, on=on)(function)
            self._runtime.add_notifier(made)
            return made

        return add if function is None else add(function)

    async def __aenter__(self) -> Self:
        await self._runtime.__aenter__()
        try:
            program = UserService(Actor(self._runtime))  # registering is the program's act, not the user's
            for workflow in self._workflows:
                made = await program.workflows.register(source_of(workflow), allow_unknown=False)
                self._hook_addresses |= {f"{made.name}/{name}": one for name, one in made.addresses.items()}
        except BaseException:
            await self._runtime.stop(0)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self, grace: Duration | None = None) -> None:
        """Stop claiming, let running calls end for a while, and give back the rest; `async with` does it at its end."""
        await self._runtime.stop(seconds_of("grace", grace))

    def hook_addresses(self) -> dict[str, str]:
        """Return the addresses with tokens that were made when this engine registered its `workflows`.

        They are by WORKFLOW/NAME. An engine that finds the webhooks registered has none: `rotate_token` makes another.
        """
        return dict(self._hook_addresses)

    async def serve(self) -> None:
        """Work until the process is told to stop (SIGINT, SIGTERM); told again, leave at once what is still running."""
        await runtime_of(self).serve()

    def _act_as(self, caller: Caller) -> None:
        self._backend = UserService(Actor(self._runtime, caller))


def runtime_of(engine: Engine) -> Runtime:
    """Return the runtime of an engine that drives executions: what serves it needs more than the door."""
    runtime = engine._runtime  # noqa: SLF001 - it is no part of the interface
    if isinstance(runtime, PassiveRuntime):
        raise BadUse("An engine with `drive=False` runs nothing: there is nothing to serve.")
    return runtime


def _providers(given: Iterable[Secrets]) -> tuple[Secrets, ...]:
    providers = tuple(given)
    for one in providers:
        if not iscoroutinefunction(getattr(one, "get", None)):  # Python passes whatever it is given; a dict has `get`
            raise BadUse(f"`secrets` are objects with `async def get(name)`: {type(one).__name__} has none.")
    return providers


def _caller(user: str | None, roles: Sequence[str]) -> Caller:
    if user is None:
        if roles:
            raise BadUse("`roles` are those of a user: give `user` as well.")
        return PROGRAM
    return caller_of(user, tuple(roles), CREDENTIAL)


def _with_functions(nodes: Iterable[AnyFunction], workflows: Iterable[Definition]) -> list[AnyFunction]:
    """Return functions, with those that workflows built in Python call."""
    built = (one for workflow in workflows if isinstance(workflow, Workflow) for one in workflow.functions)
    return list(dict.fromkeys([*nodes, *built]))


def _registry(
    functions: Iterable[AnyFunction],
    probes: Mapping[str, AnyFunction] | None,
    undos: Mapping[str, AnyFunction] | None,
) -> Registry:
    registry = Registry()
    for function in functions:
        registry.add(function)
    for name, probe in (probes or {}).items():
        registry.add_probe(name, probe)
    for name, undo in (undos or {}).items():
        registry.add_undo(name, undo)
    return registry
