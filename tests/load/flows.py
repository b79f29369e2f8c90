"""What the clients start: one workflow for each way in which an execution can wait for somebody."""

from __future__ import annotations

from typing import Final

FLOWS: Final[dict[str, str]] = {
    "straight": """
name: straight
nodes:
  - {id: add, type: compute, output: {sum: "${input.n + 1}"}, next: keep}
  - {id: keep, type: set, values: {kept: "${nodes.add.sum}"}, next: done}
  - {id: done, type: end, output: {sum: "${vars.kept}"}}
variables: {kept: 0}
""",
    "asking": """
name: asking
nodes:
  - id: ask
    type: form
    schema: {type: object, required: [size], properties: {size: {type: integer}}}
    response: {message: "asked for ${input.n}"}
    next: done
  - {id: done, type: end, output: "${nodes.ask}"}
""",
    "review": """
name: review
nodes:
  - {id: decide, type: approval, approvers: {roles: [approver]}, next: {approved: yes_, rejected: no_}}
  - {id: yes_, type: end, outcome: granted, output: {by: "${nodes.decide.by}"}}
  - {id: no_, type: end, outcome: denied, output: {by: "${nodes.decide.by}"}}
""",
    "beside": """
name: beside
nodes:
  - id: each
    type: parallel
    for_each: input.items
    body: [{id: ask, type: form, schema: {type: object, required: [size]}}]
    next: done
  - {id: done, type: end, output: "${nodes.each}"}
""",
    "told": """
name: told
nodes:
  - {id: wait, type: wait_signal, signal: load.told, key: "${input.order}", next: done}
  - {id: done, type: end, output: "${nodes.wait.data}"}
""",
}
