"""One builder per node type: its required fields, and some of the optional ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .parts import SCHEMAS, duration, people, retry
from .places import Place, condition, expression, mapping, selected, some_list, template, value, whole

if TYPE_CHECKING:
    from .dice import Dice

Fields = dict[str, Any]
Options = dict[str, Callable[[], object]]

_MOST = 1_000_000_000


class Site(NamedTuple):
    """The input of a builder: the position of the node, the nodes that lead to it, and a way to fill a body."""

    place: Place
    sources: tuple[str, ...]
    body: Callable[[Place], Fields]


Builder: TypeAlias = "Callable[[Dice, Site], Fields]"


def ports_of(node: Fields) -> tuple[str, ...]:
    """Return the ports that edges may leave a node by, the default one first."""
    match node["type"]:
        case "condition":
            return ("true", "false", "error")
        case "switch":
            return (*dict.fromkeys(("default", *(case["port"] for case in node["cases"]))), "error")
        case "approval":
            return ("approved", "rejected", "expired", "error")
        case "form" | "wait_signal" | "callback":
            return ("done", "expired", "error")
        case "end":
            return ()
        case _:
            return ("done", "error")


def _span(dice: Dice, place: Place) -> str:
    return whole(dice, place) if dice.chance(3) else duration(dice)


def _deadline(dice: Dice, place: Place, *outcomes: str) -> Fields:
    return {"deadline": _span(dice, place), "on_deadline": dice.pick(outcomes)} if dice.chance() else {}


def _work(dice: Dice, place: Place) -> Options:
    return {"retry": lambda: retry(dice), "timeout": lambda: _span(dice, place)}


def _condition(dice: Dice, site: Site) -> Fields:
    return {"if": condition(dice, site.place)}


def _switch(dice: Dice, site: Site) -> Fields:
    fields = dice.some({"value": lambda: expression(dice, site.place)})
    cases = []
    for _ in range(dice.integer(1, 3)):
        case: Fields = {"port": dice.pick(("a", "express", "default", "no", "x-1"))}
        if "value" in fields and dice.chance():
            case["equals"] = value(dice, site.place)
        else:
            case["if"] = condition(dice, site.place)
        cases.append(case)
    return {**fields, "cases": cases}


def _set(dice: Dice, site: Site) -> Fields:
    return {"values": {name: value(dice, site.place) for name in dice.several(("paid", "_x", "true", "B2"))}}


def _compute(dice: Dice, site: Site) -> Fields:
    return {"output": value(dice, site.place)}


def _merge(dice: Dice, site: Site) -> Fields:
    fields: Fields = dice.some(
        {
            "branches": lambda: dice.several(site.sources),
            "strategy": lambda: dice.pick(("all", "first", "last", "custom")),
        }
    )
    if fields.get("strategy") == "custom":
        fields["output"] = value(dice, site.place)
    return fields


def _end(dice: Dice, site: Site) -> Fields:
    return dice.some(
        {
            "outcome": lambda: dice.pick(("executed", "blocked", "${not a template}", "é\n")),
            "reason": lambda: template(dice, site.place),
            "output": lambda: value(dice, site.place),
        }
    )


class _Names(NamedTuple):
    """The names of an item and its index in a container, and the fields that set them."""

    fields: Fields
    item: str
    number: str


def _names(dice: Dice, level: int) -> _Names:
    """Choose names that hide no others; only `item` and `index` may hide themselves."""
    fields: Fields = dice.some(
        {
            "as": lambda: dice.pick((f"line{level}", "item")),
            "index_as": lambda: dice.pick((f"_i{level}", "index")),
        }
    )
    return _Names(fields, str(fields.get("as", "item")), str(fields.get("index_as", "index")))


def _after(body: Fields, place: Place) -> Place:
    return place.plus(*((selected("nodes", node["id"]), "opaque") for node in body["nodes"]))


def _loop(dice: Dice, site: Site) -> Fields:
    place, names = site.place, _names(dice, site.place.level)
    inside = place.plus((names.number, "number"))
    fields: Fields = {}
    match dice.integer(0, 2):
        case 0:
            fields["for_each"], element = some_list(dice, place)
            inside = inside.plus((names.item, element))
        case 1:
            fields["while"] = condition(dice, place.plus((names.number, "any")))
            fields["max_iterations"] = dice.integer(1, _MOST)
        case _:
            fields["times"] = dice.integer(0, 1_000_000) if dice.chance() else whole(dice, place)
    body = site.body(inside)
    options: Options = {
        "break_if": lambda: condition(dice, _after(body, inside)),
        "skip_if": lambda: condition(dice, inside),
        "collect": lambda: value(dice, _after(body, inside)),
        "max_iterations": lambda: dice.integer(1, _MOST),
    }
    return {**dice.some(options), **fields, **names.fields, "body": body}


def _parallel(dice: Dice, site: Site) -> Fields:
    fields: Fields = dice.some(
        {
            "concurrency": lambda: dice.integer(1, _MOST),
            "on_failure": lambda: dice.pick(("fail_fast", "wait", "continue")),
        }
    )
    if dice.chance():
        ids = dice.several(("a", "b-1", "null", "Z"), 1)
        return {**fields, "branches": [{"id": id_, "body": site.body(site.place)} for id_ in ids]}
    items, element = some_list(dice, site.place)
    names = _names(dice, site.place.level)
    inside = site.place.plus((names.number, "number"), (names.item, element))
    body = site.body(inside)
    options: Options = {
        "collect": lambda: value(dice, _after(body, inside)),
        "max_iterations": lambda: dice.integer(1, _MOST),
    }
    return {**fields, **dice.some(options), "for_each": items, **names.fields, "body": body}


def _delay(dice: Dice, site: Site) -> Fields:
    if dice.chance():
        return {"until": template(dice, site.place) or "2030-01-01"}
    return {"duration": _span(dice, site.place)}


def _asking(dice: Dice, place: Place) -> Options:
    return {
        "title": lambda: template(dice, place),
        "shown": lambda: value(dice, place),
        "response": lambda: value(dice, place),
        "remind": lambda: [duration(dice) for _ in range(dice.integer(0, 2))],
        "escalate": lambda: {"after": duration(dice), "to": people(dice, place)},
        "schema": lambda: dice.pick(SCHEMAS),
    }


def _asked_until(dice: Dice, place: Place, options: Options, *outcomes: str) -> Fields:
    """Return what asks somebody, perhaps until a deadline: only then a reminder may come some time before it."""
    fields: Fields = dice.some(options) | _deadline(dice, place, *outcomes)
    if "deadline" in fields and dice.chance():
        fields["remind"] = [*fields.get("remind", []), {"before": duration(dice)}]
    return fields


def _consequences(dice: Dice, place: Place, *ports: str) -> Fields:
    return dice.some({port: lambda: template(dice, place) for port in ports})


def _approval(dice: Dice, site: Site) -> Fields:
    place = site.place
    options: Options = {
        **_asking(dice, place),
        "leads_to": lambda: _consequences(dice, place, "approved", "rejected", "expired"),
        "undo": lambda: duration(dice),
        "exclude_requester": dice.chance,
        "comment": lambda: dice.pick(("optional", "required")),
    }
    fields = _asked_until(dice, place, options, "approve", "reject", "expired", "fail")
    most = _MOST
    match dice.integer(0, 2):
        case 1:
            fields["approvers"] = {**people(dice, place), "roles": [template(dice, place)]}
        case 2:
            users = dice.several(("ann", "bob", "c d", "y"), 1)
            fields |= {
                "approvers": {"users": users},
                **dice.some({"order": lambda: dice.pick(("sequence", "any", "sequence"))}),
            }
            most = len(users)
    needs: Options = {"need": lambda: dice.integer(1, most), "reject_need": lambda: dice.integer(1, most)}
    return fields | dice.some(needs)


def _form(dice: Dice, site: Site) -> Fields:
    options: Options = {
        **_asking(dice, site.place),
        "approvers": lambda: people(dice, site.place),
        "leads_to": lambda: _consequences(dice, site.place, "done", "expired"),
        "undo": lambda: duration(dice),
    }
    return _asked_until(dice, site.place, options, "continue", "partial", "expired", "fail")


def _wait_signal(dice: Dice, site: Site) -> Fields:
    place = site.place
    arrived = place.plus(("signal.data.id", "any"), ("signal.key", "text"))
    fields: Fields = dice.some({"lookback": lambda: duration(dice), "response": lambda: value(dice, place)})
    fields |= _deadline(dice, place, "continue", "partial", "expired", "fail")
    matched: Options = {"key": lambda: template(dice, place), "filter": lambda: condition(dice, arrived)}
    if dice.chance():
        fields |= {"signal": template(dice, place) or "s", **dice.some(matched)}
        return fields | dice.some({"need": lambda: dice.pick(("all", "any", 1))})
    matched["required"] = dice.chance
    aliases = dice.several(("paid", "_s", "no", "B"), 1)
    fields["signals"] = [{"alias": name, "signal": template(dice, place), **dice.some(matched)} for name in aliases]
    return fields | dice.some({"need": lambda: dice.pick(("all", "any", *range(1, len(aliases) + 1)))})


def _callback(dice: Dice, site: Site) -> Fields:
    place = site.place.plus(("callback.url", "text"), ("callback.token", "text"))
    options: Options = {
        **_work(dice, place),
        "call": lambda: dice.pick(("start_picking", "Fetch-2", "http")),
        "input": lambda: value(dice, place),
        "heartbeat": lambda: duration(dice),
        "response": lambda: value(dice, place),
    }
    return dice.some(options) | _deadline(dice, place, "continue", "partial", "expired", "fail")


def _workflow(dice: Dice, site: Site) -> Fields:
    place = site.place
    options: Options = {
        **_work(dice, place),
        "version": lambda: dice.integer(1, _MOST),
        "input": lambda: value(dice, place),
        "detached": dice.chance,
    }
    return {"workflow": dice.pick(("shipping", "a.b-c_1")), **dice.some(options)}


def _http(dice: Dice, site: Site) -> Fields:
    place = site.place
    options: Options = {
        **_work(dice, place),
        "method": lambda: dice.pick(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")),
        "headers": lambda: mapping(dice, place, 0),
        "query": lambda: mapping(dice, place, 1),
        "body": lambda: value(dice, place),
        "auth": lambda: value(dice, place),
    }
    url = dice.pick(("https://api.example/x?y=1#z", "HTTP://h", "${trigger}/a"))
    return {"url": url, **dice.some(options)}


def _send(dice: Dice, site: Site) -> Fields:
    place = site.place
    to = ("ann@example.org", "user:ann", "role:lead", "requester", "${trigger.mail}")
    wait = dice.some({"wait": lambda: True, **_work(dice, place)}) if dice.chance() else {"wait": False}
    options: Options = {
        "to": lambda: dice.several(to, 0, 2),
        "subject": lambda: template(dice, place),
        "data": lambda: value(dice, place),
    }
    via = dice.pick(("ops-chat", {"webhook": "https://erp.example/hook"}))
    return {"via": via, "text": template(dice, place) or "x", **dice.some(options), **wait}


def _call(dice: Dice, site: Site) -> Fields:
    place = site.place
    options: Options = {
        **_work(dice, place),
        "input": lambda: value(dice, place),
        "heartbeat": lambda: duration(dice),
        "on_crash": lambda: dice.pick(("rerun", "probe", "undo", "pause")),
    }
    return dice.some(options)


NODES: dict[str, Builder] = {
    "condition": _condition,
    "switch": _switch,
    "set": _set,
    "compute": _compute,
    "merge": _merge,
    "end": _end,
    "loop": _loop,
    "parallel": _parallel,
    "delay": _delay,
    "approval": _approval,
    "form": _form,
    "wait_signal": _wait_signal,
    "callback": _callback,
    "workflow": _workflow,
    "http": _http,
    "send": _send,
    "charge_card": _call,
    "Notify-2": _call,
}
