"""A report that a language model writes, section by section, with live progress and a budget.

    python examples/model_budget/report.py

Each section is recorded when it is there, so nothing is paid for twice: not after a crash, and not after a question.
When the budget does not suffice for the next section, a person is asked "Spend more?". Until there is an answer,
the report costs nothing, however long that takes.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from urllib.request import Request, urlopen

from model_server import TOKENS_OF_A_WORD, WORDS, model_server

from layover import Engine, Progress, SyncNodeContext, Workflow, node

A_SECTION = WORDS * TOKENS_OF_A_WORD  # what a section is expected to cost
REFUSED = 0


@node
def write_report(topics: list[str], budget: int, model: str, context: SyncNodeContext) -> dict[str, object]:
    """Write a section about each topic, for as long as the budget lasts; it runs in a thread."""
    spent, sections = 0, []
    for number, topic in enumerate(topics):
        if spent + A_SECTION > budget:
            title = f"Spend more? {spent} of {budget} tokens are used for {number} of {len(topics)} sections"
            more: int = context.ask(f"more for section {number}", int, title=title)
            if more <= REFUSED:
                break
            budget += more
        section = context.once(f"section {number}", write_section, model, topic, spent, budget, context)
        sections.append(section["text"])
        spent += section["tokens"]
    return {"sections": sections, "tokens": spent}


def write_section(model: str, topic: str, spent: int, budget: int, context: SyncNodeContext) -> dict[str, object]:
    """Ask the model, and report every word: what is spent, of how much, and the text so far."""
    text, tokens = "", 0
    asked = Request(model, json.dumps({"prompt": f"Write about {topic}"}).encode())  # noqa: S310 - our own server
    with urlopen(asked, timeout=60) as answer:  # noqa: S310 - as above
        for line in answer:
            piece = json.loads(line)
            text, tokens = text + piece["text"], tokens + piece["tokens"]
            context.progress(spent + tokens, budget, text[-60:])
    return {"text": text, "tokens": tokens}


def report(model: str) -> Workflow:
    """Return the workflow, for a model at an address."""
    flow = Workflow("report")
    flow.call(
        "write",
        write_report,
        input={"topics": "${input.topics}", "budget": "${input.budget}", "model": model},
        heartbeat="1m",
    )
    return flow


async def show(engine: Engine, execution_id: str) -> None:
    """Print the progress of an execution as it comes."""
    execution = await engine.execution(execution_id)
    async for one in execution.watch():
        if isinstance(one, Progress):
            print(f"  {one.done:.0f} of {one.total:.0f} tokens: …{one.text}")


async def main(database: Path) -> None:
    """Write a report with too small a budget, and spend more when asked."""
    with model_server(thinks=0.04) as (model, prompts):
        async with Engine(f"sqlite:///{database}", workflows=[report(model)]) as engine:
            given = {"topics": ["trains", "harbours", "bridges"], "budget": A_SECTION + 100}
            execution = await engine.start("report", given)
            watching = asyncio.create_task(show(engine, execution.id))
            await execution.wait("people")
            (point,) = await execution.points().all()
            print(point.title)
            await point.answer(2 * A_SECTION)
            result = await execution.result()
            await watching
            print(f"{len(result['sections'])} sections, {result['tokens']} tokens, {len(prompts)} calls of the model")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "report.db")))
