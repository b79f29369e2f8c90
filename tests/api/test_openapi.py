"""The document says what the routes do, all of it and nothing else; the page that shows it needs nobody else."""

from __future__ import annotations

import re
import shlex
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import jsonschema
import jsonschema_rs
import msgspec
import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31

from layover.api.answering import SECURITY_HEADERS
from layover.api.openapi import document_of
from layover.api.openapi_examples import DEFINITION, EXAMPLES, examples_of
from layover.api.problems import STATUS
from layover.api.routes import FAMILIES, ROUTES
from layover.core.definitions import check
from layover.model.executions import Execution, StartBody
from layover.model.shared import Body, Page
from tests.api.contract import route_of
from tests.api.harness import Answered, Api, served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.api.routing import Route

DOCUMENT: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document_of(FAMILIES)))
BY_NAME = pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")


def path_of(route: Route) -> str:
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", route.path)


def operation_of(route: Route) -> dict[str, Any]:
    found: dict[str, Any] = DOCUMENT["paths"][path_of(route)][route.method.lower()]
    return found


def resolved(value: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in value:
        return value
    found: Any = DOCUMENT
    for step in value["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return found  # type: ignore[no-any-return]  # a part of the document


def parts(value: object) -> Iterator[dict[str, Any]]:
    """Go through all objects in a part of the document."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    for one in value if isinstance(value, list) else ():
        yield from parts(one)


# The document


def test_it_is_an_openapi_document() -> None:
    jsonschema.Draft202012Validator(OPENAPI_31).validate(DOCUMENT)
    for name, schema in DOCUMENT["components"]["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["title"] == name


def test_every_reference_leads_somewhere() -> None:
    found = [part["$ref"] for part in parts(DOCUMENT) if isinstance(part.get("$ref"), str)]
    assert found
    for reference in found:
        assert resolved({"$ref": reference}), reference


def test_every_route_is_in_it_and_nothing_else() -> None:
    documented = {(method, path) for path, methods in DOCUMENT["paths"].items() for method in methods}
    assert documented == {(route.method.lower(), path_of(route)) for route in ROUTES}


def test_every_operation_has_a_name_of_its_own() -> None:
    names = [operation_of(route)["operationId"] for route in ROUTES]
    assert sorted(names) == sorted(set(names))


@BY_NAME
def test_every_operation_and_parameter_has_a_description(route: Route) -> None:
    operation = operation_of(route)
    assert re.fullmatch(r"[A-Z][^\n]{8,}[.]", operation["summary"]), "a sentence"
    assert all(resolved(one)["description"].endswith(".") for one in operation["parameters"])


def test_every_family_has_one_tag() -> None:
    names = [tag["name"] for tag in DOCUMENT["tags"]]
    assert names == list(dict.fromkeys(route.family for route in ROUTES))


def test_everything_that_is_kept_for_several_is_used() -> None:
    used = {part["$ref"] for part in parts(DOCUMENT) if isinstance(part.get("$ref"), str)}
    kept = {
        f"#/components/{kind}/{name}"
        for kind in ("schemas", "responses", "parameters", "headers")
        for name in DOCUMENT["components"][kind]
    }
    assert kept - used == set()


@BY_NAME
def test_an_operation_says_what_its_route_declares(route: Route) -> None:
    operation = operation_of(route)
    assert operation["tags"] == [route.family]
    assert operation.get("x-permissions", []) == list(route.needs)
    assert (operation["security"] == []) == route.is_open
    assert ({} in operation["security"]) == (route.open == "loopback")
    parameters = [resolved(one) for one in operation["parameters"]]
    in_path = [one["name"] for one in parameters if one["in"] == "path"]
    assert in_path == re.findall(r"\{(\w+)\}", path_of(route))
    in_query = {one["name"]: one for one in parameters if one["in"] == "query"}
    fields = {field.encode_name: field for field in msgspec.structs.fields(route.query)}
    assert in_query.keys() == fields.keys()
    for name, one in in_query.items():
        assert one["required"] == fields[name].required
        assert {"type": "null"} not in one["schema"].get("anyOf", [])
        assert one["schema"], "a parameter is no free JSON"
    assert ("Idempotency-Key" in [one["name"] for one in parameters]) == route.keyed
    body = operation.get("requestBody")
    assert (body is None) == (route.body is None)
    if body is not None:
        assert tuple(body["content"]) == route.media_types
        assert body["required"] == route.body_required


@BY_NAME
def test_an_operation_lists_every_answer_and_every_code(route: Route) -> None:
    responses = operation_of(route)["responses"]
    assert {int(status) for status in responses} == {*route.answers, *(STATUS[code] for code in route.codes)}
    codes: set[str] = set()
    for status, response in responses.items():
        given = resolved(response)
        assert given["headers"]["X-Request-Id"]
        problem = given.get("content", {}).get("application/problem+json")
        if problem is not None:
            listed = problem["schema"]["allOf"][1]["properties"]["code"]["enum"]
            assert {STATUS[code] for code in listed} == {int(status)}
            assert all(f"`{code}`" in given["description"] for code in listed) or int(status) in route.answers
            codes.update(listed)
    assert codes == set(route.codes)


def test_every_object_of_ours_is_closed() -> None:
    for name, schema in DOCUMENT["components"]["schemas"].items():
        if schema.get("type") == "object":
            assert schema["additionalProperties"] is False, name


def test_an_answer_has_all_fields_but_those_that_may_be_missing() -> None:
    schema = DOCUMENT["components"]["schemas"]["Execution"]
    names = {field.encode_name for field in msgspec.structs.fields(Execution)}
    assert set(schema["properties"]) == names
    assert set(schema["required"]) == names - {"pause_points", "response"}
    assert not any("default" in one for one in schema["properties"].values())
    assert "Page_" not in msgspec.json.encode(DOCUMENT).decode()
    pages = [schema for name, schema in DOCUMENT["components"]["schemas"].items() if name.endswith("Page")]
    assert pages
    assert all(set(page["required"]) == {field.name for field in msgspec.structs.fields(Page)} for page in pages)


def test_a_request_has_its_defaults_and_its_bounds() -> None:
    schema = DOCUMENT["components"]["schemas"]["StartBody"]
    assert schema["required"] == ["workflow"]
    assert schema["properties"]["priority"]["default"] == 0
    assert schema["properties"]["tags"]["maxItems"] == 50
    assert set(schema["properties"]) == {field.name for field in msgspec.structs.fields(StartBody)}
    assert "type" not in schema["properties"]["input"], "whatever JSON can say"


# Examples


@BY_NAME
def test_bodies_have_examples_that_are_accepted(route: Route) -> None:
    if route.body is None:
        return
    shown = examples_of(route)
    assert shown, "somebody would like to see one"
    for example in shown.values():
        if route.body is bytes:
            msgspec.json.encode(example)
        else:
            msgspec.json.decode(msgspec.json.encode(example), type=route.body)


def test_every_example_is_as_its_schema_says() -> None:
    found = list(examples_in(DOCUMENT))
    assert len(found) > 2 * len(ROUTES), "they are there"
    for schema, example in found:
        whole = {**schema, "components": DOCUMENT["components"]}
        jsonschema_rs.Draft202012Validator(whole, validate_formats=True).validate(example)


def examples_in(value: object) -> Iterator[tuple[dict[str, Any], object]]:
    """Go through the examples of a part of the document: of bodies, answers, parameters and schemas."""
    for part in parts(value):
        given = part.get("examples")
        if isinstance(given, dict) and "schema" in part:
            yield from ((part["schema"], one["value"]) for one in given.values())
        elif isinstance(given, list):
            yield from ((part, one) for one in given)
        if "schema" in part and "example" in part:
            yield part["schema"], part["example"]
        if "default" in part:
            yield part, part["default"]


def test_an_example_that_does_not_fit_is_noticed() -> None:
    body = {"schema": {"$ref": "#/components/schemas/StartBody"}, "examples": {"a": {"value": {"workflow": 1}}}}
    ((schema, example),) = examples_in(body)
    with pytest.raises(jsonschema_rs.ValidationError):
        jsonschema_rs.Draft202012Validator({**schema, "components": DOCUMENT["components"]}).validate(example)


def test_the_page_about_it_shows_calls_that_are_taken() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "http.md").read_text(encoding="utf-8")
    intro = page.partition("\n## ")[0]
    paths = re.findall(r"`(/[^`]*)`", intro)
    assert paths
    assert all(route_of("GET", path) is not None for path in paths)
    calls = re.findall(r"curl (.*?)\n```", intro, re.DOTALL)
    assert calls
    for call in calls:
        words = shlex.split(call.replace("\\\n", " "))
        route = route_of("POST", urlsplit(words[-1]).path)
        assert route is not None
        assert route.body is not None
        msgspec.json.decode(words[words.index("-d") + 1], type=route.body)


def test_the_example_of_a_definition_is_sound() -> None:
    assert check(DEFINITION, functions=()).problems == ()


def test_examples_are_of_bodies() -> None:
    assert all(issubclass(struct, Body) for struct in EXAMPLES)


# Over HTTP


async def fetched(api: Api, path: str, **headers: str) -> Answered:
    async with api.session.get(api.url + path, headers=headers) as response:
        found = {name.lower(): value for name, value in response.headers.items()}
        return Answered(response.status, await response.read(), found)


async def test_the_document_is_shown_on_the_machine_itself_and_to_callers_with_a_key(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        here = await fetched(api, "/openapi.json")
        passed_on = await fetched(api, "/openapi.json", **{"x-forwarded-for": "203.0.113.7"})
        key = f"Bearer {await api.key_of('viewer')}"
        with_key = await fetched(api, "/openapi.json", **{"x-forwarded-for": "203.0.113.7", "authorization": key})

    assert (here.status, here.headers["content-type"]) == (200, "application/json")
    assert here.json == DOCUMENT
    assert (passed_on.status, passed_on.code) == (401, "unauthenticated")
    assert with_key.body == here.body


async def test_the_page_comes_from_the_package_and_loads_nothing_else(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        page = await fetched(api, "/docs", **{"x-forwarded-for": "203.0.113.7"})
        named = re.findall(r"(?:src|href)=\"([^\"]*)\"", page.body.decode())
        parts_ = {name: await fetched(api, f"/{name}") for name in named if name.startswith("docs/")}

    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert set(named) == {"docs/app.js", "docs/style.css", "openapi.json", "data:,"}
    assert {name: part.headers["content-type"] for name, part in parts_.items()} == {
        "docs/app.js": "text/javascript; charset=utf-8",
        "docs/style.css": "text/css; charset=utf-8",
    }
    for one in (page, *parts_.values()):
        policy = one.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert one.headers["x-content-type-options"] == SECURITY_HEADERS["x-content-type-options"]


def test_the_page_is_small_and_has_nothing_that_its_policy_forbids() -> None:
    folder = files("layover.api") / "docs_page"
    texts = {one.name: one.read_text(encoding="utf-8") for one in folder.iterdir() if one.is_file()}
    assert texts.keys() == {"page.html", "app.js", "style.css"}
    assert sum(map(len, texts.values())) < 30_000
    assert not re.search(r"https?://", "".join(texts.values())), "it asks nobody else"
    assert not re.search(r"\son\w+=|style=|<style|<script>", texts["page.html"]), "nothing stands in the page itself"
    script = texts["app.js"]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|eval\(|document\.write", script)
    assert not re.search(r"localStorage|sessionStorage|document\.cookie|indexedDB", script), "the key is in memory only"
