"""The workflow of `order.yaml`, written in Python: the same nodes, the same edges, the same hash.

Run it to see it as YAML.
"""

from __future__ import annotations

from layover import Retry, Workflow, node


@node
async def charge_card(order: str, amount: float) -> str:
    """Charge the card of the customer; the result is the receipt."""
    return f"receipt for {order}: {amount}"


@node
async def start_picking(reply_to: str) -> None:
    """Ask the warehouse to pick the goods, and to call back when it has."""


flow = Workflow(
    "order",
    input={"type": "object", "required": ["id", "total", "tier", "lines"]},
    variables={"paid": False},
    max_pause="14d",
)

big = flow.condition("big", "input.total > 1000")
review = flow.approval(
    "review",
    title="Order ${input.id} costs ${input.total}",
    roles=["manager"],
    need=2,
    deadline="2d",
    on_deadline="reject",
    response={"message": "Order ${input.id} is under review"},
)
refused = flow.end("refused", outcome="blocked", reason="${nodes.review.comment}")
route = flow.switch("route", "input.tier").case("gold", port="express").when("input.total < 50", port="slow")
cool_off = flow.delay("cool_off", "1h30m")

lines = flow.loop(
    "lines",
    for_each="input.lines",
    as_="line",
    max_iterations=500,
    break_if="nodes.count.stop",
    collect="${nodes.count.quantity}",
)
lines.body.form(
    "count",
    title="Count ${line.sku}",
    deadline="8h",
    on_deadline="fail",
    schema={"type": "object", "required": ["quantity", "stop"]},
)

checks = flow.parallel("checks", on_failure="wait")
payment = checks.branch("payment")
charge = payment.call(
    "charge",
    charge_card,
    input={"order": "${input.id}", "amount": "${input.total}"},
    timeout="30s",
    retry=Retry(5, delay="1s", max_delay="1m", retry_on=["5xx", "429"], ignore=["CardRefused"]),
)
settled = payment.wait_signal(
    "settled", "payment.settled", key="${input.id}", lookback="1h", deadline="3d", on_deadline="fail"
)
by_hand = payment.form("by_hand", title="Charge by hand: ${errors.charge.message}", schema={"type": "object"})
charge >> settled
charge.error >> by_hand

goods = checks.branch("goods")
pick = goods.callback("pick", start_picking, input={"reply_to": "${callback.url}"}, deadline="1d", on_deadline="fail")
pick >> goods.workflow("ship", "shipping", input={"pallet": "${nodes.pick.pallet}"})

mark = flow.set("mark", paid=True)
finish = flow.end(
    "finish", output={"paid": "${vars.paid}", "counts": "${nodes.lines}", "goods": "${nodes.checks.goods}"}
)
broken = flow.end("broken", outcome="failed_checks", reason="${errors.checks.message}")

big.true >> review >> route  # a bare node stands for its default port
big.false >> route
review.rejected >> refused
route["slow"] >> cool_off >> lines
route["express"] >> lines
route["default"] >> lines >> checks >> mark >> finish
checks.error >> broken


if __name__ == "__main__":
    print(flow.to_yaml(), end="")
