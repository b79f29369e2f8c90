"""`layover serve`: the HTTP surface and a worker in one process, or in several, until told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.parse import urlsplit

from cyclopts import Parameter
from msgspec.structs import replace

from layover.bootstrap import Engine, address_of
from layover.cli.definitions import File  # noqa: TC001 - cyclopts reads the annotations
from layover.cli.exits import BAD_INPUT, DONE, FAILED, Stop
from layover.cli.loading import load_definitions
from layover.cli.options import DEFAULT_DB, Db, HttpPrivate, Nodes
from layover.cli.processes import inherited, supervise
from layover.cli.screen import note, plural, say, without_password
from layover.runtime.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from starlette.applications import Starlette

    from layover.api.access.config import AccessSettings
    from layover.core.plan import Plan
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
Host = Annotated[str, Parameter(name="--host", help="The address to listen at.")]
Port = Annotated[int, Parameter(name="--port", help="The port to listen at; 0 takes one that is free.")]
Processes = Annotated[int, Parameter(name="--processes", help="How many processes share the work.")]
PublicUrl = Annotated[
    str,
    Parameter(
        name="--public-url",
        env_var="LAYOVER_PUBLIC_URL",
        show_default=False,
        help="Where others reach this server, for addresses to call back; by default where it listens.",
    ),
]


class Wanted(NamedTuple):
    """What is served, and how."""

    db: str
    plans: list[Plan]
    functions: Sequence[AnyFunction]
    host: str
    url: str
    settings: Settings
    access: AccessSettings


def serve(  # noqa: PLR0913 - each is an option
    *files: File,
    workflows: Workflows = (),
    nodes: Nodes = (),
    host: Host = "127.0.0.1",
    port: Port = 8080,
    processes: Processes = 1,
    public_url: PublicUrl = "",
    http_private: HttpPrivate = False,
    db: Db = DEFAULT_DB,
) -> int:
    """Answer requests and drive executions until told to stop (Ctrl-C, SIGTERM); told again, leave what is running.

    On first start it makes a key for an administrator and prints it, this once; with LAYOVER_ADMIN_KEY that one is the
    administrator's. Other settings: LAYOVER_RATE_LIMIT, LAYOVER_GUESS_LIMIT, LAYOVER_BODY_LIMIT, LAYOVER_CONNECTIONS,
    LAYOVER_TRUSTED_PROXIES, LAYOVER_HOSTS, LAYOVER_JWT_SECRET, LAYOVER_JWT_JWKS_URL, LAYOVER_JWT_ISSUER,
    LAYOVER_JWT_AUDIENCE.
    """
    if find_spec("uvicorn") is None or find_spec("starlette") is None:
        raise Stop('To serve, more is needed: pip install "layover[server]"')
    if not 0 < processes <= 64:
        raise Stop(f"--processes: from 1 to 64, not {processes}.")
    from layover.api.access.config import access_settings  # noqa: PLC0415 - only there with the extra

    loaded = load_definitions((*files, *workflows), nodes)
    listening = inherited() or _listen(host, port)
    url = _url_of(listening)
    access = access_settings(os.environ)
    access = replace(access, hosts=_hosts_of(host, url, public_url, *(access.hosts or ())))
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    wanted = Wanted(
        db=address_of(db),
        plans=loaded.plans,
        functions=loaded.functions,
        host=host,
        url=url,
        settings=Settings(public_url=public_url or url, http_private=http_private),
        access=access,
    )
    with listening:
        if inherited() is not None:
            return _run(lambda: _serve(wanted, listening))
        if processes == 1:
            return _run(lambda: _serve(wanted, listening, first=True))
        _run(lambda: _prepare_alone(wanted))
        return supervise(processes, listening)


def _listen(host: str, port: int) -> socket.socket:
    from layover.api.server import listen  # noqa: PLC0415 - only there with the extra

    try:
        return listen(host, port)
    except (OSError, OverflowError) as error:
        hint = "Another port: --port 8081, or --port 0 for any that is free."
        reason = getattr(error, "strerror", None) or error
        raise Stop(f"Cannot listen at {host}, port {port}: {reason}.", FAILED, hint=hint) from error


def _url_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - it is told where to reach what listens everywhere
        host = socket.gethostname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _hosts_of(host: str, url: str, public_url: str, *given: str) -> tuple[str, ...]:
    """Return what the server is called: what is set, where it listens, and where others reach it."""
    reached = urlsplit(public_url).hostname if public_url else None
    return tuple(filter(None, (*given, host, urlsplit(url).hostname, reached)))


def warn_without_tls(host: str, public_url: str) -> None:
    """Say that nobody encrypts what is sent, unless the public address says that a proxy does."""
    from layover.api.access.listen_address import is_loopback  # noqa: PLC0415 - only there with the extra

    if not is_loopback(host) and not public_url.startswith("https:"):
        note(f"Warning: it listens at {host} without TLS, so keys and data cross the network in the clear.", "yellow")
        note("Put a proxy with TLS in front, and say where that is: --public-url https://…", "yellow")


def _run(work: Callable[[], Coroutine[object, object, int]]) -> int:
    import uvloop  # noqa: PLC0415 - only there with the extra

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work())


async def _prepare_alone(wanted: Wanted) -> int:
    """Make the database ready before any of the processes uses it; nothing is driven here."""
    settings = Settings(executions=0)
    async with Engine(wanted.db, nodes=wanted.functions, settings=settings) as engine:
        await _prepare(engine, wanted)
    return DONE


async def _prepare(engine: Engine, wanted: Wanted) -> None:
    """Keep the workflows, see to it that there is a key, and say where the server is."""
    from layover.api.access.first_key import first_key, has_keys  # noqa: PLC0415 - only there with the extra
    from layover.api.access.listen_address import may_listen  # noqa: PLC0415 - as above

    store, now = engine.instance.store, engine.instance.clock.now()
    known = wanted.access.admin_key is not None or wanted.access.jwt is not None or await has_keys(store)
    if not may_listen(wanted.host, has_keys=known):
        hint = "Set LAYOVER_ADMIN_KEY; or start once without --host, which makes a key."
        raise Stop(f"Without any key it is served on this machine only, not at {wanted.host}.", BAD_INPUT, hint=hint)
    for plan in wanted.plans:
        await engine.register(plan)
    made = None if known else await first_key(store, now)
    warn_without_tls(wanted.host, wanted.settings.public_url)
    say(f"Layover serves {without_password(wanted.db)}", "bold")
    say(f"  listening at  {wanted.url}")
    say(f"  documented at {wanted.url}/docs")
    if wanted.plans:
        names = [plan.definition.name for plan in wanted.plans]
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        say(f"  {plural(len(names), 'workflow')}: {', '.join(names[:_MOST_NAMED])}{more}")
    if made is not None:
        say(f"  admin key, shown this once: {made}")
    say("  Ctrl-C stops it: what is being answered is answered, the rest waits for the next start")
    sys.stdout.flush()


async def _serve(wanted: Wanted, listening: socket.socket, *, first: bool = False) -> int:
    from layover.api.application import application  # noqa: PLC0415 - only there with the extra
    from layover.api.server import serve as serve_on  # noqa: PLC0415 - as above

    async with Engine(wanted.db, nodes=wanted.functions, settings=wanted.settings) as engine:
        if first:
            await _prepare(engine, wanted)
        app = application(engine, access=wanted.access)
        serving = asyncio.get_running_loop().create_task(serve_on(app, [listening]))
        with _stopped_by_signals(app, engine, serving):
            try:
                await serving
            except asyncio.CancelledError:
                say("Left what was being answered.")
            await engine.stop()
    if first:
        say("Stopped.")
    return DONE


class _stopped_by_signals:  # noqa: N801 - it reads as what it does
    """Stop at the first signal what can be stopped in order, and the rest at the second."""

    def __init__(self, app: Starlette, engine: Engine, serving: asyncio.Task[None]) -> None:
        self._app = app
        self._engine = engine
        self._serving = serving
        self._loop = asyncio.get_running_loop()
        self._caller = engine.instance.node_runner

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
            self._caller.hurry()
        stopping.set()
