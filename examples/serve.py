"""A server with a few workflows, one of which waits for your approval: `make run`, or `python examples/serve.py`.

Everything is kept in the folder `.run`, so what was not answered still waits the next time. The key that the printed
commands use is made for this example and kept beside the database; a server of yours gets it by LAYOVER_ADMIN_KEY, or
makes one at its first start and shows it once.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from layover import Engine, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
WORKFLOWS = [HERE / "server", HERE / "order.yaml"]

sys.path.insert(0, str(HERE / "server"))
import nodes  # noqa: E402 - from the folder that was just named


def admin_key(folder: Path) -> str:
    """Return the key of this example, made at its first run; only who owns the folder can read it."""
    file = folder / "admin-key"
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(32))
    return file.read_text()


FUNCTIONS: list[Callable[..., object]] = [nodes.find_payment, nodes.pay_back, nodes.charge_card, nodes.start_picking]


STOPS = ["harbour", "market", "station", "museum", "park", "school", "mill", "library"]
UNDER_WAY = ["pending", "running", "waiting"]


async def waiting(database: str, url: str) -> tuple[str, str, str, str]:
    """Return an approval that is waited for, its execution, a link to its page, and one that signs a browser in.

    A refund is started if none waits, and an order at the first run: its graph has loops, branches and a form. A van
    sets out if none is on its way: a graph that moves.
    """
    settings = Settings(public_url=url)
    workflows = [HERE / "server" / "refund.yaml", HERE / "server" / "deliveries.yaml", HERE / "order.yaml"]
    async with Engine(database, nodes=FUNCTIONS, workflows=workflows, settings=settings) as engine:
        if not (await engine.executions(workflow="order").page(limit=1)).items:
            lines = [{"sku": "lamp"}, {"sku": "desk"}, {"sku": "chair"}]
            order = {"id": "A-18", "total": 480, "tier": "gold", "lines": lines}
            await engine.start("order", order, correlation_id="A-18", until="people")
        if not (await engine.executions(workflow="deliveries", status=UNDER_WAY).page(limit=1)).items:
            await engine.start("deliveries", {"stops": STOPS}, correlation_id="now")
        found = await engine.points(workflow="refund").page(limit=1)
        if not found.items:
            await engine.start("refund", {"order": "A-17", "amount": 250}, until="people")
            found = await engine.points(workflow="refund").page(limit=1)
        (point,) = found.items
        link = await point.create_link("you", expires_in="1d")
        sign_in = await engine.create_sign_in_link("admin", roles=["admin"], expires_in="1h")
        return point.id, point.execution_id, link.url or "", sign_in.url or ""


def main() -> NoReturn:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--folder", type=Path, default=HERE.parent / ".run")
    given = parser.parse_args()
    port, folder = given.port, given.folder
    folder.mkdir(mode=0o700, exist_ok=True)
    database, url = f"sqlite:///{folder / 'layover.db'}", f"http://127.0.0.1:{port}"
    point, execution, page, sign_in = asyncio.run(waiting(database, url))
    key = os.environ.setdefault("LAYOVER_ADMIN_KEY", admin_key(folder))
    os.environ.setdefault("LAYOVER_LINK_IDENTITY", "link")  # who has the link decides: here, that is you alone

    who = f"-H 'Authorization: Bearer {key}'"
    print("Open the console. This link signs one browser in, once, within an hour:\n")
    print(f"  {sign_in}\n")
    print(f"Later, {url}/console takes this key:\n")
    print(f"  {key}\n")
    print("A refund waits for an approval. This page shows what is asked; decide on it:\n")
    print(f"  {page}\n")
    print("Or, in another terminal, list what waits, watch it, and approve it:\n")
    print(f"  curl -s {url}/api/v1/approvals {who}\n")
    print(f"  curl -sN {url}/api/v1/executions/{execution}/stream {who}\n")
    print(f"  curl -s -X POST {url}/api/v1/approvals/{point}/approve {who}\n")
    print("A van is on its way. Watch its graph; another one sets out every five minutes:\n")
    print(f"  {url}/console/executions?q=workflow:deliveries\n")
    print("The workflow `hello` starts every minute, and by its webhook:\n")
    print(f"  curl -s {url}/hooks/hello/called -H 'Content-Type: application/json' -d '{{\"by\": \"you\"}}'\n")
    print(f"  curl -s '{url}/api/v1/triggers?workflow=hello' {who}\n", flush=True)

    workflows = [word for path in WORKFLOWS for word in ("--workflows", str(path))]
    functions = ["--nodes", str(HERE / "server" / "nodes.py")]
    command = str(Path(sys.executable).with_name("layover"))
    words = [command, "serve", "--db", database, "--port", str(port), *workflows, *functions]
    os.execv(command, words)  # noqa: S606 - this process becomes the server


if __name__ == "__main__":
    main()
