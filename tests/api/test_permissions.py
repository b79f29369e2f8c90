"""Who may do what: every route, for every role, over HTTP and on every database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
import pytest_asyncio
from msgspec.structs import replace

from layover.api.routes import ROUTES
from layover.bootstrap import open_store
from layover.ports.access import Key
from layover.ports.records import AuditRow
from layover.runtime.ids import new_id
from layover.service.api_keys import hash_of, new_key, prefix_of
from layover.service.permissions import PERMISSIONS
from tests.api.codes.registry import asked
from tests.api.harness import ADMIN_KEY, listening
from tests.runtime.harness import engine_on
from tests.servers.postgres import databases

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.api.routing import Route
    from tests.api.harness import Answered, Api

# `here` and `there` are nobody, on the machine itself and on another; a gardener is a role that permits nothing.
TABLE: Final = """
                        here there gardener viewer approver operator admin
start_execution         -    -     -        -      -        yes      yes
list_executions         -    -     -        yes    yes      yes      yes
count_executions        -    -     -        yes    yes      yes      yes
list_paused_executions  -    -     -        yes    yes      yes      yes
get_execution           -    -     -        yes    yes      yes      yes
list_history            -    -     -        yes    yes      yes      yes
list_nodes              -    -     -        yes    yes      yes      yes
list_legs               -    -     -        yes    yes      yes      yes
list_resume_queue       -    -     -        yes    yes      yes      yes
replay_execution        -    -     -        yes    yes      yes      yes
list_logs               -    -     -        -      -        yes      yes
get_graph               -    -     -        yes    yes      yes      yes
get_why                 -    -     -        yes    yes      yes      yes
pause_execution         -    -     -        -      -        yes      yes
clear_breakpoint        -    -     -        -      -        yes      yes
resume_execution        -    -     -        -      -        yes      yes
clear_resume            -    -     -        -      -        yes      yes
cancel_execution        -    -     -        -      -        yes      yes
retry_execution         -    -     -        -      -        yes      yes
rewind_execution        -    -     -        -      -        yes      yes
move_execution          -    -     -        -      -        yes      yes
run_now                 -    -     -        -      -        yes      yes
cancel_retry            -    -     -        -      -        yes      yes
list_retries            -    -     -        yes    yes      yes      yes
fork_execution          -    -     -        -      -        yes      yes
stream                  -    -     -        yes    yes      yes      yes
follow_changes          -    -     -        yes    yes      yes      yes
list_pause_points       -    -     -        yes    yes      yes      yes
get_pause_point         -    -     -        yes    yes      yes      yes
get_receipt             -    -     -        -      -        -        yes
get_own_receipt         -    -     -        yes    yes      yes      yes
why_pause_point         -    -     -        yes    yes      yes      yes
get_pause_point_at      -    -     -        yes    yes      yes      yes
answer_pause_point      -    -     -        -      yes      yes      yes
create_link             -    -     -        -      -        -        yes
revoke_links            -    -     -        -      -        -        yes
claim_pause_point       -    -     -        -      yes      yes      yes
release_pause_point     -    -     -        -      yes      yes      yes
delegate_pause_point    -    -     -        -      yes      -        yes
ask_back                -    -     -        -      yes      yes      yes
reply_back              -    -     -        yes    yes      yes      yes
take_back_answer        -    -     -        -      yes      yes      yes
cancel_pause_point      -    -     -        -      -        yes      yes
list_approvals          -    -     -        yes    yes      yes      yes
get_approval            -    -     -        yes    yes      yes      yes
approve                 -    -     -        -      yes      -        yes
reject                  -    -     -        -      yes      -        yes
delegate                -    -     -        -      yes      -        yes
resume_point            -    -     -        -      yes      yes      yes
cancel_point            -    -     -        -      -        yes      yes
list_paused             -    -     -        yes    yes      yes      yes
send_signal             -    -     -        -      -        yes      yes
call_back               yes  yes   yes      yes    yes      yes      yes
fail_callback           yes  yes   yes      yes    yes      yes      yes
beat                    yes  yes   yes      yes    yes      yes      yes
save_workflow           -    -     -        -      -        -        yes
put_workflow            -    -     -        -      -        -        yes
list_workflows          -    -     -        yes    yes      yes      yes
get_workflow            -    -     -        yes    yes      yes      yes
get_workflow_source     -    -     -        yes    yes      yes      yes
list_versions           -    -     -        yes    yes      yes      yes
diff_workflow           -    -     -        yes    yes      yes      yes
compare_workflow        -    -     -        yes    yes      yes      yes
get_resting             -    -     -        yes    yes      yes      yes
get_workflow_graph      -    -     -        yes    yes      yes      yes
delete_workflow         -    -     -        -      -        -        yes
activate_workflow       -    -     -        -      -        -        yes
deactivate_workflow     -    -     -        -      -        -        yes
pause_workflow          -    -     -        -      -        -        yes
clear_workflow_breakpoint -  -     -        -      -        -        yes
resume_workflow         -    -     -        -      -        -        yes
clear_workflow_resume   -    -     -        -      -        -        yes
list_triggers           -    -     -        yes    yes      yes      yes
create_trigger          -    -     -        -      -        -        yes
update_trigger          -    -     -        -      -        -        yes
delete_trigger          -    -     -        -      -        -        yes
rotate_trigger_token    -    -     -        -      -        -        yes
get_trigger             -    -     -        yes    yes      yes      yes
list_trigger_inputs     -    -     -        yes    yes      yes      yes
trigger_history         -    -     -        yes    yes      yes      yes
next_occurrences        -    -     -        yes    yes      yes      yes
why_trigger             -    -     -        yes    yes      yes      yes
pause_trigger           -    -     -        -      -        -        yes
resume_trigger          -    -     -        -      -        -        yes
rewind_trigger          -    -     -        -      -        -        yes
fire_trigger            -    -     -        -      -        yes      yes
backfill_trigger        -    -     -        -      -        -        yes
replay_inputs           -    -     -        -      -        -        yes
replay_input            -    -     -        -      -        -        yes
discard_input           -    -     -        -      -        -        yes
take_delivery           yes  yes   yes      yes    yes      yes      yes
take_delivery_by_token  yes  yes   yes      yes    yes      yes      yes
list_destinations       -    -     -        -      -        -        yes
create_destination      -    -     -        -      -        -        yes
get_destination         -    -     -        -      -        -        yes
update_destination      -    -     -        -      -        -        yes
delete_destination      -    -     -        -      -        -        yes
test_destination        -    -     -        -      -        -        yes
enable_destination      -    -     -        -      -        -        yes
disable_destination     -    -     -        -      -        -        yes
list_deliveries         -    -     -        yes    yes      yes      yes
redeliver_all           -    -     -        -      -        yes      yes
get_delivery            -    -     -        yes    yes      yes      yes
redeliver               -    -     -        -      -        yes      yes
discard_delivery        -    -     -        -      -        yes      yes
create_batch            -    -     -        -      -        yes      yes
list_batches            -    -     -        yes    yes      yes      yes
get_batch               -    -     -        yes    yes      yes      yes
list_batch_items        -    -     -        yes    yes      yes      yes
stop_batch              -    -     -        -      yes      yes      yes
continue_batch          -    -     -        -      yes      yes      yes
delete_batch            -    -     -        -      yes      yes      yes
list_node_executions    -    -     -        yes    yes      yes      yes
list_people             -    -     -        -      -        -        yes
get_person              -    -     -        -      -        -        yes
save_person             -    -     -        -      -        -        yes
delete_person           -    -     -        -      -        -        yes
list_instances          -    -     -        yes    yes      yes      yes
list_timers             -    -     -        yes    yes      yes      yes
examine                 -    -     -        -      -        -        yes
get_stats               -    -     -        yes    yes      yes      yes
list_views              -    -     -        yes    yes      yes      yes
get_view                -    -     -        yes    yes      yes      yes
save_view               -    -     -        yes    yes      yes      yes
delete_view             -    -     -        yes    yes      yes      yes
get_my_settings         -    -     yes      yes    yes      yes      yes
save_my_settings        -    -     yes      yes    yes      yes      yes
check_definition        -    -     -        yes    yes      yes      yes
list_node_types         -    -     -        yes    yes      yes      yes
get_definition_schema   -    -     -        yes    yes      yes      yes
dry_run_definition      -    -     -        yes    yes      yes      yes
plan_deployment         -    -     -        yes    yes      yes      yes
dry_run                 -    -     -        yes    yes      yes      yes
export_workflows        -    -     -        yes    yes      yes      yes
import_workflows        -    -     -        -      -        -        yes
sign_in                 yes  yes   yes      yes    yes      yes      yes
get_session             -    -     yes      yes    yes      yes      yes
sign_out                -    -     yes      yes    yes      yes      yes
list_sessions           -    -     yes      yes    yes      yes      yes
end_session             -    -     yes      yes    yes      yes      yes
create_sign_in_link     -    -     -        -      -        -        yes
me                      -    -     yes      yes    yes      yes      yes
add_key                 -    -     -        -      -        -        yes
list_keys               -    -     -        -      -        -        yes
end_key                 -    -     -        -      -        -        yes
rotate_key              -    -     -        -      -        -        yes
list_secrets            -    -     -        -      -        -        yes
audit                   -    -     -        -      -        -        yes
audit_keys              yes  yes   yes      yes    yes      yes      yes
healthz                 yes  yes   yes      yes    yes      yes      yes
readyz                  yes  yes   yes      yes    yes      yes      yes
metrics                 yes  -     -        yes    yes      yes      yes
openapi                 yes  -     yes      yes    yes      yes      yes
docs                    yes  yes   yes      yes    yes      yes      yes
docs_script             yes  yes   yes      yes    yes      yes      yes
docs_style              yes  yes   yes      yes    yes      yes      yes
"""
WHO, *_ROWS = [line.split() for line in TABLE.strip().splitlines()]
MAY: Final = {name: dict(zip(WHO, marks, strict=True)) for name, *marks in _ROWS}
IN_ONE_LOOP = pytest.mark.asyncio(loop_scope="module")
BY_NAME = pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["sqlite", "postgres"])
async def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    """Give a server on each database; there is nothing on it that anybody could do something to."""
    in_a_file = f"sqlite:///{tmp_path_factory.mktemp('permissions') / 'layover.db'}"
    store = open_store(databases.fresh() if request.param == "postgres" else in_a_file)
    async with engine_on(store) as engine, listening(engine) as found:
        yield found


async def asks(api: Api, route: Route, *, as_: str = "", headers: dict[str, str] | None = None) -> Answered:
    """Ask for what the document has as an example."""
    request = asked(route)
    body = {"key": ADMIN_KEY} if route.name == "sign_in" else request.body  # the example is nobody's key
    path = f"{request.path}?refused=1" if route.name == "follow_changes" else request.path  # else it has no end
    return await api.ask(request.method, path, body, as_=as_, headers=headers)


def is_let_in(answered: Answered) -> bool:
    """Return whether somebody may do something, whatever came of it."""
    if answered.status in (401, 403):
        assert answered.code in ("unauthenticated", "forbidden"), answered
        return False
    return True


def credentials(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


async def made(api: Api, **fields: Any) -> str:
    """Return a key that was made with some fields; times are in milliseconds from now."""
    key, now = new_key(), api.engine.instance.clock.now()
    times = {name: now + fields.pop(name) for name in ("expires_at", "ended_at") if name in fields}
    admin = Key(
        id=new_id(now),
        prefix=prefix_of(key),
        hash=hash_of(key),
        name="for tests",
        user="ada",
        roles=("admin",),
        created_at=now,
    )
    row = replace(admin, **times, **fields)
    entry = AuditRow(id=new_id(now), at=now, user="tests", act="key.add", target=row.id)
    await api.engine.instance.store.api_keys.add(row, entry)
    return key


def test_the_table_has_every_route_and_no_other() -> None:
    assert list(MAY) == [route.name for route in ROUTES]
    assert {mark for marks in MAY.values() for mark in marks.values()} == {"yes", "-"}


@IN_ONE_LOOP
@BY_NAME
async def test_a_route_admits_only_callers_with_its_permission(api: Api, route: Route) -> None:
    found: dict[str, str] = {}
    for who in WHO:
        is_nobody = who in ("here", "there")
        headers = {"x-forwarded-for": "203.0.113.7"} if who == "there" else {}
        answered = await asks(api, route, as_="" if is_nobody else f"{who}:{who}", headers=headers)
        found[who] = "yes" if is_let_in(answered) else "-"
        if found[who] == "-":
            assert (answered.status, answered.code) == ((401, "unauthenticated") if is_nobody else (403, "forbidden"))

    assert found == MAY[route.name]


# Keys that let in less than their roles would

# A batch needs what its act needs, and to read what it is done to; a fork, to start and to read its origin; and to read
# of both, who asks what the executions of a workflow do or would do.
NEEDS_TWO = ("create_batch", "fork_execution", "get_resting", "plan_deployment")


@IN_ONE_LOOP
@BY_NAME
async def test_a_key_opens_what_its_scopes_name(api: Api, route: Route) -> None:
    for permission in sorted(PERMISSIONS):
        key = await made(api, scopes=(permission,))
        answered = await asks(api, route, headers=credentials(key))
        may = (not route.needs or permission in route.needs) and route.name not in NEEDS_TWO
        assert is_let_in(answered) == may or "cannot permit more" in answered.json["detail"], (permission, answered)


@IN_ONE_LOOP
@BY_NAME
async def test_a_scope_opens_nothing_that_the_roles_do_not(api: Api, route: Route) -> None:
    scoped = await made(api, roles=("viewer",), scopes=("workflow:read", "workflow:write", "admin"))
    closed = await made(api, roles=("admin",), scopes=())
    may = not route.needs or ("workflow:read" in route.needs and route.name not in NEEDS_TWO)

    assert is_let_in(await asks(api, route, headers=credentials(scoped))) == may
    assert is_let_in(await asks(api, route, headers=credentials(closed))) == (not route.needs)


@IN_ONE_LOOP
@BY_NAME
async def test_a_key_whose_time_is_over_opens_nothing(api: Api, route: Route) -> None:
    for over in ("expires_at", "ended_at"):
        key, other = await made(api, **{over: 0}), await made(api, **{over: 3_600_000})
        for header in (credentials(key), {"x-api-key": key}):
            answered = await asks(api, route, headers=header)
            assert is_let_in(answered) == route.is_open, answered
            assert answered.status != 403
        assert is_let_in(await asks(api, route, headers=credentials(other)))


@IN_ONE_LOOP
@BY_NAME
async def test_a_caller_with_another_kind_of_credential_is_unknown(api: Api, route: Route) -> None:
    for shown in ("Bearer a guess", f"Bearer lay_{'x' * 43}", "Bearer ", "Basic YTpi"):
        answered = await asks(api, route, headers={"authorization": shown})
        assert is_let_in(answered) == route.is_open, (shown, answered)


@IN_ONE_LOOP
async def test_ending_a_key_over_http_shuts_it_out_at_once(api: Api) -> None:
    added = (await api.post("/keys", {"name": "k", "user": "ada", "roles": ["viewer"]})).json
    before = await api.get("/me", as_="", headers=credentials(added["key"]))
    await api.delete(f"/keys/{added['id']}")
    after = await api.get("/me", as_="", headers=credentials(added["key"]))

    assert (before.status, after.status) == (200, 401)
