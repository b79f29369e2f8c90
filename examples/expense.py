"""An expense that a person has to approve, written in Python and run from the command line.

    layover check expense.py
    layover graph expense.py -o expense.svg
    layover graph expense:flow --format mermaid
    layover run expense:flow --input '{"who": "Ada", "amount": 40}' --no-watch
    layover run expense:flow --input '{"who": "Ada", "amount": 400}' --key lamp --no-watch
    layover inbox

`layover worker expense:flow` drives executions until it is told to stop, and `layover serve expense:flow` answers
requests as well. An import only makes the workflow: nothing runs before a command says so.
"""

from __future__ import annotations

from layover import Workflow, node


@node
def transfer(who: str, amount: float) -> str:
    """Transfer the money."""
    return f"{amount:.2f} to {who}"


@node
def tell(who: str, text: str) -> str:
    """Tell the user what became of their expense."""
    return f"{who}: {text}"


flow = Workflow("expense", input={"type": "object", "required": ["who", "amount"]})

large = flow.condition("large", "input.amount > 100")
review = flow.approval(
    "review", title="${input.amount} for ${input.who}?", roles=["manager"], deadline="3d", on_deadline="reject"
)
pay = flow.call("pay", transfer, input={"who": "${input.who}", "amount": "${input.amount}"})
refuse = flow.call("refuse", tell, input={"who": "${input.who}", "text": "no: ${nodes.review.comment}"})
done = flow.end("done", output="${nodes.pay}")
refused = flow.end("refused", outcome="refused")

large.true >> review >> pay >> done
large.false >> pay
review.rejected >> refuse >> refused
