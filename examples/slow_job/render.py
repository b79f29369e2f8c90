"""A job that another system does, however long it takes: it is asked over HTTP and reports by webhook.

    python examples/slow_job/render.py

While the farm renders, the execution rests: it has no task and no connection. Heartbeats of the farm show that it still
works; if they fail to come, or the farm reports a failure, the job is given to it once more.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import uvicorn
from render_farm import render_farm

from layover import Engine, Retry, Settings, Workflow, node
from layover.asgi import AccessSettings, application


@node
def order_film(farm: str, film: str, report_to: str) -> None:
    """Give a job to the farm, with the address to report to; an ordinary function runs in a thread."""
    job = json.dumps({"film": film, "report_to": report_to}).encode()
    urlopen(Request(farm, job), timeout=30).close()  # noqa: S310 - the farm of this example


def render(farm: str) -> Workflow:
    """Return the workflow, for a farm at an address."""
    flow = Workflow("render")
    flow.callback(
        "film",
        order_film,
        input={"farm": farm, "film": "${input.film}", "report_to": "${callback.url}"},
        timeout="30s",
        heartbeat="10m",
        retry=Retry(max_attempts=3),
        deadline="2d",
        on_deadline="fail",
    )
    return flow


def free_port() -> int:
    """Return a port that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


async def main(database: Path) -> None:
    """Have two films rendered."""
    url = f"http://127.0.0.1:{free_port()}"
    with render_farm() as farm:
        engine = Engine(f"sqlite:///{database}", workflows=[render(farm.address)], settings=Settings(public_url=url))
        async with engine:
            api = application(engine, access=AccessSettings(admin_key="a-key-of-your-own"))
            config = uvicorn.Config(api, port=int(url.rpartition(":")[2]), log_level="warning", lifespan="off")
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server.serve())
            films = [await engine.start("render", {"film": name}, until="rest") for name in ("harbour", "bridge")]
            for film in films:
                print(f"{film.id} is {film.status}: {(await film.why()).summary}")
            for film in films:
                print(await film.result())
            server.should_exit = True
            await serving


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "render.db")))
