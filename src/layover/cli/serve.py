"""`layover serve`: the HTTP surface and a worker in one process, or in several, until told to stop."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from logging import WARNING, getLogger
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter
from msgspec.structs import replace

from layover.admin import OperatorEngine, address_of, without_password
from layover.cli.definitions import File  # noqa: TC001 - cyclopts reads the annotations
from layover.cli.exits import BAD_INPUT, DONE, Stop
from layover.cli.hook_addresses import print_addresses
from layover.cli.listening import check_can_serve, hosts_of, listen_at, url_of
from layover.cli.loading import load_definitions
from layover.cli.log_options import AS_USUAL, SERVING, Logging
from layover.cli.options import Nodes  # noqa: TC001 - as above
from layover.cli.processes import inherited, metrics_slot, stop_with_supervisor, supervise
from layover.cli.screen import note, plural, say
from layover.cli.setting_flags import NO_SERVE_FLAGS, ServeFlags
from layover.interface.durations import seconds_of
from layover.tracing.export import set_up_export

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Coroutine, Sequence

    from starlette.applications import Starlette

    from layover import Settings
    from layover.asgi import AccessSettings, ApiSettings
    from layover.cli.loading import LoadedWorkflow
    from layover.config.configuration import Configuration
    from layover.nodes.registry import AnyFunction

_MOST_NAMED = 8
_STOPPING = (signal.SIGINT, signal.SIGTERM)

Workflows = Annotated[
    tuple[str, ...],
    Parameter(
        name="--workflows",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="A folder of definitions in YAML or JSON, or one definition; may be given several times.",
    ),
]


class ServeOptions(NamedTuple):
    """What is served, and how."""

    db: str
    workflows: Sequence[LoadedWorkflow]
    functions: Sequence[AnyFunction]
    host: str
    url: str
    settings: Settings
    api: ApiSettings
    access: AccessSettings


def serve(
    *files: File,
    workflows: Workflows = (),
    nodes: Nodes = (),
    flags: ServeFlags = NO_SERVE_FLAGS,
    logging: Logging = AS_USUAL,
) -> int:
    """Answer requests and drive executions until told to stop (Ctrl-C, SIGTERM); told again, leave what is running.

    On first start it makes a key for an administrator and prints it, this once; with LAYOVER_ADMIN_KEY that one is the
    administrator's. With `--no-worker` it answers requests and drives nothing. Every flag below can stand in
    layover.toml and in the environment as well: `layover settings`.
    """
    check_can_serve("layover serve")
    configuration = flags.configuration
    command = configuration.command
    public_url = "" if configuration.origin("public_url") == "default" else configuration.engine.public_url
    loaded = load_definitions((*files, *workflows), nodes)
    listening = inherited() or listen_at(command.host, command.port, "--port 8081, or --port 0 for any that is free")
    url = url_of(listening)
    api = configuration.api
    api = replace(api, hosts=hosts_of(command.host, url, public_url, *(api.hosts or ())))
    logging.configure(configuration, SERVING)
    getLogger("uvicorn.error").setLevel(WARNING)
    wanted = ServeOptions(
        db=address_of(command.db),
        workflows=loaded.workflows,
        functions=loaded.functions,
        host=command.host,
        url=url,
        settings=_engine_settings(configuration, public_url or url),
        api=api,
        access=configuration.access,
    )
    with listening:
        if inherited() is not None:
            return _run_traced(lambda: _serve(wanted, listening), wanted.settings)
        if command.processes == 1:
            return _run_traced(lambda: _serve(wanted, listening, first=True), wanted.settings)
        _run(lambda: _prepare_alone(wanted))
        return supervise(command.processes, listening)


def _engine_settings(configuration: Configuration, url: str) -> Settings:
    """Return the settings of the engine; with the worker off it drives nothing."""
    settings = replace(configuration.engine, public_url=url)
    return settings if configuration.command.worker else replace(settings, executions=0)


def warn_without_tls(host: str, public_url: str) -> None:
    """Warn that what is sent is not encrypted, unless the public address says that a proxy does."""
    from layover.asgi import is_loopback  # noqa: PLC0415 - only there with the extra

    if not is_loopback(host) and not public_url.startswith("https:"):
        note(f"Warning: it listens at {host} without TLS, so keys and data cross the network in the clear.", "yellow")
        note("Put a proxy with TLS in front, and say where that is: --public-url https://…", "yellow")


def _run(work: Callable[[], Coroutine[object, object, int]]) -> int:
    import uvloop  # noqa: PLC0415 - only there with the extra

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work())


def _run_traced(work: Callable[[], Coroutine[object, object, int]], settings: Settings) -> int:
    """Run what drives executions, and export its spans if the environment says where to."""
    export = set_up_export(os.environ)
    try:
        return _run(work)
    finally:
        export.stop(seconds_of("grace", settings.grace))


async def _prepare_alone(wanted: ServeOptions) -> int:
    """Make the database ready before any of the processes uses it; nothing is driven here."""
    settings = replace(wanted.settings, executions=0)
    async with OperatorEngine(wanted.db, nodes=wanted.functions, settings=settings, drive=True) as engine:
        await _prepare(engine, wanted)
    return DONE


async def _prepare(engine: OperatorEngine, wanted: ServeOptions) -> None:
    """Register the workflows, create the first key if there is none, and say where the server is."""
    from layover.asgi import create_first_key, is_loopback  # noqa: PLC0415 - only there with the extra

    has_keys = bool((await engine.api_keys().page(1)).items)
    known = (
        wanted.access.admin_key is not None
        or wanted.access.jwt is not None
        or wanted.access.oidc is not None
        or has_keys
    )
    if not known and not is_loopback(wanted.host):
        hint = "Set LAYOVER_ADMIN_KEY; or start once without --host, which makes a key."
        raise Stop(f"Without any key it is served on this machine only, not at {wanted.host}.", BAD_INPUT, hint=hint)
    for one in wanted.workflows:
        print_addresses(await engine.register(one.definition), wanted.settings.public_url)
    made = None if known else await create_first_key(engine)
    warn_without_tls(wanted.host, wanted.settings.public_url)
    say(f"Layover serves {without_password(wanted.db)}", "bold")
    say(f"  listening at  {wanted.url}")
    say(f"  documented at {wanted.url}/docs")
    if wanted.workflows:
        names = [one.plan.definition.name for one in wanted.workflows]
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        say(f"  {plural(len(names), 'workflow')}: {', '.join(names[:_MOST_NAMED])}{more}")
    if made is not None:
        say(f"  admin key, shown this once: {made}")
    if sys.stdout.isatty():  # elsewhere it would stand in a log, where others may find it in time
        link = await engine.create_sign_in_link("admin", roles=["admin"])
        say("  to sign in with a browser as admin, open this link once, within 10 minutes:")
        say(f"  {link.url}")
    if not wanted.settings.executions:
        say("  it drives no executions: a worker has to (layover worker)")
    say("  Ctrl-C stops it: what is being answered is answered, the rest continues at the next start")
    sys.stdout.flush()


async def _serve(wanted: ServeOptions, listening: socket.socket, *, first: bool = False) -> int:
    from layover.asgi import application, share_metrics  # noqa: PLC0415 - only there with the extra
    from layover.asgi import serve as serve_on  # noqa: PLC0415 - as above

    async with OperatorEngine(wanted.db, nodes=wanted.functions, settings=wanted.settings, drive=True) as engine:
        if first:
            await _prepare(engine, wanted)
        app = application(engine, access=wanted.access, settings=wanted.api)
        slot = metrics_slot()  # only where several processes serve the same port
        sharing = share_metrics(app, slot) if slot is not None else None
        serving = asyncio.get_running_loop().create_task(serve_on(app, [listening]))
        with _stopped_by_signals(app, engine, serving):
            stop_with_supervisor(asyncio.get_running_loop())
            try:
                await serving
            except asyncio.CancelledError:
                say("Left what was being answered.")
            if sharing is not None:
                sharing.cancel()
                await asyncio.wait([sharing])
            await engine.close()
    if first:
        say("Stopped.")
    return DONE


class _stopped_by_signals:  # noqa: N801 - it reads as what it does
    """Stop at the first signal what can be stopped in order, and the rest at the second."""

    def __init__(self, app: Starlette, engine: OperatorEngine, serving: asyncio.Task[None]) -> None:
        self._app = app
        self._serving = serving
        self._loop = asyncio.get_running_loop()
        self._engine = engine

    def __enter__(self) -> None:
        for number in _STOPPING:
            self._loop.add_signal_handler(number, self._stop)

    def __exit__(self, *error: object) -> None:
        for number in _STOPPING:
            self._loop.remove_signal_handler(number)

    def _stop(self) -> None:
        stopping = self._app.state.services.stopping
        if stopping.is_set():
            self._serving.cancel()
            self._engine.hurry()
        stopping.set()
