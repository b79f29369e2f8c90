"""One builder per node type: the fields that it needs, and some of those that it may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

from .parts import durations, headers, people, retries, schemas, spellings
from .places import Place, conditions, expressions, lists, mappings, selected, templates, values

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

Fields = dict[str, Any]
Options = dict[str, "SearchStrategy[Any]"]


class Built(NamedTuple):
    """What a builder is given: where the node stands, which nodes lead to it, and a way to fill a body."""

    place: Place
    sources: tuple[str, ...]
    body: Callable[[Place], Fields]


Builder = Callable[["DrawFn", Built], Fields]


def ports_of(node: Fields) -> tuple[str, ...]:
    """Return the ports that edges may leave a node by."""
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


def _some(draw: DrawFn, options: Options) -> Fields:
    chosen = draw(st.integers(0, 2 ** len(options) - 1))
    return {name: draw(field) for bit, (name, field) in enumerate(options.items()) if chosen >> bit & 1}


def _spans(place: Place) -> SearchStrategy[str]:
    return st.one_of(durations(), durations(), expressions(place).map(lambda text: f"${{{text}}}"))


def _deadline(draw: DrawFn, place: Place, *outcomes: str) -> Fields:
    if draw(st.booleans()):
        return {}
    return {"deadline": draw(_spans(place)), "on_deadline": draw(st.sampled_from(outcomes))}


def _work(place: Place) -> Options:
    return {"retry": retries(), "timeout": _spans(place)}


def _with_secrets(place: Place) -> Place:
    return place.plus([("secrets.TOKEN", "text"), ("secrets['a b']", "text")])


def _condition(draw: DrawFn, built: Built) -> Fields:
    return {"if": draw(conditions(built.place))}


def _switch(draw: DrawFn, built: Built) -> Fields:
    fields = _some(draw, {"value": expressions(built.place)})
    cases = []
    for _ in range(draw(st.integers(1, 3))):
        case: Fields = {"port": draw(st.sampled_from(["a", "express", "default", "no", "x-1"]))}
        if "value" in fields and draw(st.booleans()):
            case["equals"] = draw(values(built.place))
        else:
            case["if"] = draw(conditions(built.place))
        cases.append(case)
    return {**fields, "cases": cases}


def _set(draw: DrawFn, built: Built) -> Fields:
    names = draw(st.lists(st.sampled_from(["paid", "_x", "true", "B2"]), max_size=3, unique=True))
    return {"values": {name: draw(values(built.place)) for name in names}}


def _compute(draw: DrawFn, built: Built) -> Fields:
    return {"output": draw(values(built.place))}


def _merge(draw: DrawFn, built: Built) -> Fields:
    fields: Fields = {}
    if built.sources and draw(st.booleans()):
        fields["branches"] = draw(st.lists(st.sampled_from(built.sources), unique=True))
    strategy = draw(st.sampled_from([None, "all", "first", "last", "custom"]))
    if strategy is not None:
        fields["strategy"] = strategy
    if strategy == "custom":
        fields["output"] = draw(values(built.place))
    return fields


def _end(draw: DrawFn, built: Built) -> Fields:
    outcome = st.sampled_from(["executed", "blocked", "${not a template}", "é\n"])
    return _some(draw, {"outcome": outcome, "reason": templates(built.place), "output": values(built.place)})


def _names(draw: DrawFn, built: Built, *, items: bool) -> tuple[Fields, str, str]:
    """Draw what a container calls an item and its index: names that hide no others."""
    level = built.place.level
    fields = _some(draw, {"as": st.just(f"line{level}"), "index_as": st.just(f"_i{level}")})
    as_ = str(fields.get("as", "item"))
    if as_ == "item" and items and level == 0 and draw(st.booleans()):
        fields["as"] = "item"
    return fields, as_, str(fields.get("index_as", "index"))


def _loop(draw: DrawFn, built: Built) -> Fields:
    place = built.place
    kind = draw(st.sampled_from(["for_each", "while", "times"]))
    named, as_, index = _names(draw, built, items=kind == "for_each")
    inside = place.plus([(index, "number")])
    fields: Fields = {}
    match kind:
        case "for_each":
            fields["for_each"], element = draw(lists(place))
            inside = inside.plus([(as_, element)])
        case "while":
            fields["while"] = draw(conditions(place.plus([(index, "any")])))
            fields["max_iterations"] = draw(st.integers(1, 1_000_000_000))
        case _:
            fields["times"] = draw(st.integers(0, 1_000_000) | expressions(place).map(lambda text: f"${{{text}}}"))
    body = built.body(_inside(inside, kind == "for_each", as_, index))
    after = inside.plus((selected("nodes", node["id"]), "opaque") for node in body["nodes"])
    options: Options = {
        "break_if": conditions(after),
        "skip_if": conditions(inside),
        "collect": values(after),
        "max_iterations": st.integers(1, 1_000_000_000),
    }
    return {**_some(draw, options), **fields, **named, "body": body}


def _inside(place: Place, has_items: bool, as_: str, index: str) -> Place:
    """Forget what the names of a container now hide."""
    hidden = {index, as_} if has_items else {index}
    kept = [term for place_ in (place,) for term in _latest(place_.terms, hidden)]
    return place._replace(terms=tuple(kept))


def _latest(terms: tuple[tuple[str, str], ...], hidden: set[str]) -> list[tuple[str, str]]:
    last = {text: position for position, (text, _) in enumerate(terms) if text in hidden}
    return [term for position, term in enumerate(terms) if last.get(term[0], position) == position]


def _parallel(draw: DrawFn, built: Built) -> Fields:
    options: Options = {
        "concurrency": st.integers(1, 1_000_000_000),
        "on_failure": st.sampled_from(["fail_fast", "wait", "continue"]),
    }
    fields = _some(draw, options)
    if draw(st.booleans()):
        names = draw(st.lists(st.sampled_from(["a", "b-1", "null", "Z"]), min_size=1, max_size=3, unique=True))
        branches = [{"id": name, "body": built.body(built.place)} for name in names]
        return {**fields, "branches": branches}
    items, element = draw(lists(built.place))
    named, as_, index = _names(draw, built, items=True)
    inside = built.place.plus([(index, "number"), (as_, element)])
    body = built.body(_inside(inside, True, as_, index))
    after = inside.plus((selected("nodes", node["id"]), "opaque") for node in body["nodes"])
    return {**fields, **_some(draw, {"collect": values(after)}), "for_each": items, **named, "body": body}


def _delay(draw: DrawFn, built: Built) -> Fields:
    if draw(st.booleans()):
        return {"duration": draw(_spans(built.place))}
    return {"until": draw(templates(built.place) | st.just("2030-01-01T00:00:00Z"))}


def _asking(place: Place) -> Options:
    return {
        "title": templates(place),
        "shown": values(place),
        "response": values(place),
        "remind": st.lists(durations(), max_size=2),
        "escalate": st.fixed_dictionaries({"after": durations(), "to": people(place)}),
    }


def _approval(draw: DrawFn, built: Built) -> Fields:
    place = built.place
    options: Options = {
        **_asking(place),
        "exclude_requester": st.booleans(),
        "comment": st.sampled_from(["optional", "required"]),
        "schema": schemas(),
    }
    fields = _some(draw, options) | _deadline(draw, place, "approve", "reject", "expired", "fail")
    needs: Options = {"need": st.integers(1, 1_000_000_000), "reject_need": st.integers(1, 1_000_000_000)}
    match draw(st.integers(0, 2)):
        case 0:
            return fields | _some(draw, needs)
        case 1:
            roles = {"roles": draw(st.lists(templates(place), min_size=1, max_size=2))}
            return fields | {"approvers": draw(people(place)) | roles} | _some(draw, needs)
        case _:
            users = draw(st.lists(st.sampled_from(["ann", "bob", "c d", "y"]), min_size=1, unique=True))
            needs = dict.fromkeys(needs, st.integers(1, len(users)))
            order = _some(draw, {"order": st.sampled_from(["any", "sequence"])})
            return fields | {"approvers": {"users": users}} | order | _some(draw, needs)


def _form(draw: DrawFn, built: Built) -> Fields:
    options: Options = {**_asking(built.place), "schema": schemas(), "approvers": people(built.place)}
    return _some(draw, options) | _deadline(draw, built.place, "continue", "partial", "expired", "fail")


def _wait_signal(draw: DrawFn, built: Built) -> Fields:
    place = built.place
    fields = _some(draw, {"lookback": durations(), "response": values(place)})
    fields |= _deadline(draw, place, "continue", "partial", "expired", "fail")
    matched: Options = {
        "key": templates(place),
        "filter": conditions(place.plus([("signal.data.id", "any"), ("signal.key", "text")])),
    }
    if draw(st.booleans()):
        fields |= {"signal": draw(templates(place)), **_some(draw, matched)}
        return fields | _some(draw, {"need": st.sampled_from(["all", "any", 1])})
    aliases = draw(st.lists(st.sampled_from(["paid", "_s", "no", "B"]), min_size=1, unique=True))
    matched["required"] = st.booleans()
    fields["signals"] = [
        {"alias": alias, "signal": draw(templates(place)), **_some(draw, matched)} for alias in aliases
    ]
    return fields | _some(draw, {"need": st.sampled_from(["all", "any", *range(1, len(aliases) + 1)])})


def _callback(draw: DrawFn, built: Built) -> Fields:
    place = _with_secrets(built.place).plus([("callback.url", "text"), ("callback.token", "text")])
    options: Options = {
        **_work(place),
        "call": st.sampled_from(["start_picking", "Fetch-2", "http"]),
        "input": values(place),
        "heartbeat": durations(),
        "response": values(place),
    }
    return _some(draw, options) | _deadline(draw, place, "continue", "partial", "expired", "fail")


def _workflow(draw: DrawFn, built: Built) -> Fields:
    place = _with_secrets(built.place)
    options: Options = {
        **_work(place),
        "version": st.integers(1, 1_000_000_000),
        "input": values(place),
        "detached": st.booleans(),
    }
    return {"workflow": draw(st.sampled_from(["shipping", "a.b-c_1"])), **_some(draw, options)}


def _http(draw: DrawFn, built: Built) -> Fields:
    place = _with_secrets(built.place)
    options: Options = {
        **_work(place),
        "method": st.sampled_from(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]),
        "headers": headers(place),
        "query": headers(place),
        "body": values(place),
        "auth": values(place),
    }
    url = draw(st.sampled_from(["https://api.example/x?y=1#z", "HTTP://h", "${input}/a", "http://h/${secrets.A}"]))
    return {"url": url, **_some(draw, options)}


def _call(draw: DrawFn, built: Built) -> Fields:
    place = _with_secrets(built.place)
    options: Options = {
        **_work(place),
        "input": values(place) | mappings(place),
        "heartbeat": durations(),
        "on_crash": st.sampled_from(["rerun", "probe", "pause"]),
    }
    return _some(draw, options)


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
    "charge_card": _call,
    "Notify-2": _call,
}
