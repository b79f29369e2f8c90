"""Links to the decision page under attack: guessed, replayed, of another user, expired, revoked, passed on, rotated."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from layover.api.page_requests import form_token
from layover.api.settings import ApiSettings
from layover.pages.layout import TOKEN_FIELD
from layover.runtime.decision_links import LinkKeys, hash_of
from tests.api.acting import acts, ended, points_of, resting
from tests.api.decision_visits import Visitor, served_links, signed_in, visitor_with_link
from tests.api.harness import UNLIMITED, served
from tests.runtime.harness import approval, end, flow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.harness import Api

pytestmark = pytest.mark.usefixtures("each_database")

KEY, OTHER = "k" * 8 + "3141592653589793238462643383", "o" * 8 + "2718281828459045235360287471"


async def asked(api: Api, **fields: Any) -> tuple[str, str]:
    """Come to an approval; return the execution and the point."""
    started = await resting(api, flow(approval(**fields), end("${nodes.review}")))
    return started["id"], started["points"]["review"]


async def test_a_link_is_shown_once_and_only_its_hash_is_stored(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        execution, point = await asked(api)
        made = await api.post(f"/pause-points/{point}/links", {"user": "ann", "expires_in": "2d"}, key="k")
        again = await api.post(f"/pause-points/{point}/links", {"user": "ann", "expires_in": "2d"}, key="k")
        token = urlsplit(made.json["url"]).path.rpartition("/")[2]
        row = await api.engine.instance.store.links.find(hash_of(token))
        audit = await api.get(f"/audit?execution_id={execution}")

    assert made.json["url"].startswith("http://localhost:8080/d/")
    assert again.json["url"] is None
    assert row is not None
    assert (row.user, row.point) == ("ann", point)
    assert token.encode() not in audit.body
    assert audit.json["items"][0]["details"]["for_user"] == "ann"


async def test_only_an_admin_makes_links_and_only_to_what_people_answer(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        _, point = await asked(api)
        denied = [
            await api.post(f"/pause-points/{point}/links", {"user": "ann"}, as_=who) for who in ("approver", "operator")
        ]
        hidden = await api.post(f"/pause-points/{point}/links", {"user": "a\u202eb"})
        nowhere = await api.post("/pause-points/none/links", {"user": "ann"})

    assert [one.status for one in denied] == [403, 403]
    assert (hidden.status, nowhere.status) == (400, 404)


@pytest.mark.parametrize(
    "token", ["x", "A" * 43, "A" * 42 + "é", "%00" * 14, "..%2Fp", "A" * 4_000, "mark-" + "A" * 24, "-" * 43]
)
async def test_a_guess_is_a_page_that_tells_nothing(tmp_path: Path, token: str) -> None:
    async with served_links(tmp_path) as api:
        await asked(api, title="Secret question")
        read = await Visitor(api, f"/d/{token}").read()
        sent = await Visitor(api, f"/d/{token}").post({"act": "approve"})

    assert read.status in (404, 401)
    assert sent.status in (404, 401)
    assert "Secret" not in read.markup + sent.markup


async def test_guessing_is_stopped(tmp_path: Path) -> None:
    async with served_links(tmp_path, settings=ApiSettings(rate_limit=None, link_identity="link")) as api:
        _, point = await asked(api)
        ann = await visitor_with_link(api, point, "ann")
        guesses = [(await Visitor(api, f"/d/{'A' * 40}{n:03}").read()).status for n in range(25)]
        right = await ann.read()

    assert guesses == [404] * 20 + [429] * 5
    assert right.status == 429, "a right guess looks like a wrong one"


async def test_a_link_that_expired_or_was_revoked_tells_nothing_and_decides_nothing(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        execution, point = await asked(api, title="Secret question")
        short = await visitor_with_link(api, point, "ann", expires_in="1ms")
        gone = await visitor_with_link(api, point, "ben")
        kept = await visitor_with_link(api, point, "cleo")
        page = await gone.read()
        revoked = await api.delete(f"/pause-points/{point}/links?user=ben")
        expired = await short.read()
        results = [await short.post({"act": "approve"}), await gone.send("approve", page), await gone.read(), expired]
        still = await points_of(api, execution)
        assert (await kept.read()).status == 200
        everything = await api.delete(f"/pause-points/{point}/links")
        after = await kept.read()

    assert (revoked.json["revoked"], everything.json["revoked"]) == (1, 2)
    assert [one.status for one in (*results, after)] == [410] * 5
    assert "has expired" in expired.text
    assert "was revoked" in after.text
    assert not any("Secret" in one.markup for one in results)
    assert still


async def test_a_link_acts_only_as_its_user_and_only_at_its_point(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        execution, point = await asked(api, approvers={"users": ["ben"]})
        other, _ = await asked(api)
        ann, ben = [await visitor_with_link(api, point, user) for user in ("ann", "ben")]
        bens = await ben.read()
        as_ann = await ann.send("approve", bens)
        elsewhere = [await Visitor(api, f"{ben.path}/{path}").read() for path in ("x", "../p/" + point)]
        by_api = await api.get(f"/pause-points/{point}", as_="", headers={"authorization": f"Bearer {ben.path[3:]}"})
        assert list(await points_of(api, execution))
        assert list(await points_of(api, other))

    assert as_ann.status == 403
    assert {one.status for one in elsewhere} <= {401, 404}
    assert by_api.status == 401


async def test_a_form_that_is_replayed_decides_once(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        execution, point = await asked(api, approvers={"users": ["ann", "ben", "cleo"]}, need=2)
        ann = await visitor_with_link(api, point, "ann")
        page = await ann.read()
        sent = [await ann.send("approve", page, comment=str(n)) for n in range(5)]
        other_way = await ann.send("reject", page)
        still = await points_of(api, execution)
        [act] = [act for _, act, _ in await acts(api, execution) if act.startswith("approval.")]

    assert {one.status for one in sent} == {303}
    assert other_way.status == 409
    assert still
    assert act == "approval.approve"


@pytest.mark.parametrize(
    ("fields", "headers"),
    [
        ({"form_token": ""}, {}),
        ({"form_token": "0" * 64}, {}),
        ({}, {"sec-fetch-site": "cross-site"}),
        ({"act": ""}, {}),
        ({"act": "approve_all"}, {}),
        ({"seen": "not a view"}, {}),
        ({"comment": "x" * 20_000}, {}),
    ],
    ids=str,
)
async def test_a_form_of_another_page_is_refused(
    tmp_path: Path, fields: dict[str, str], headers: dict[str, str]
) -> None:
    async with served_links(tmp_path) as api:
        execution, point = await asked(api)
        ann = await visitor_with_link(api, point, "ann")
        form = (await ann.read()).forms[0]
        refused = await ann.post({**form, "act": "approve", **fields}, **headers)
        still = await points_of(api, execution)

    assert refused.status in (400, 403)
    assert still


async def test_with_login_a_link_alone_tells_nothing(tmp_path: Path) -> None:
    async with served(tmp_path, settings=UNLIMITED) as api:  # `link+login` is the default
        execution, point = await asked(api, title="Secret question")
        link = await visitor_with_link(api, point, "ann")
        nobody, wrong = await link.read(), await link._replace(as_="ben:approver").read()
        forms = [await link.post({"act": "approve"}), await link._replace(as_="ben:approver").post({"act": "approve"})]
        assert list(await points_of(api, execution))
        ann = link._replace(as_="ann:approver")
        right, sent = await ann.read(), await ann.send("approve")
        result = await ended(api, execution)

    assert (nobody.status, wrong.status, right.status, sent.status) == (401, 403, 200, 303)
    assert [one.status for one in forms] == [401, 403]
    assert "Sign in to decide" in nobody.text
    assert "This link is for ann, and you are signed in as ben" in wrong.text
    assert not any("Secret" in one.markup for one in (nobody, wrong, *forms))
    assert "Secret question" in right.text
    assert result["by"] == "ann"


async def test_the_page_of_a_point_asks_to_sign_in_and_shows_readers_what_they_may_see(tmp_path: Path) -> None:
    async with served(tmp_path, settings=UNLIMITED) as api:
        execution, point = await asked(api, title="Secret question", approvers={"users": ["ann"]})
        at = Visitor(api, f"/d/p/{point}")
        nobody, gardener = await at.read(), await at._replace(as_="eve:gardener").read()
        viewer, ben = await at._replace(as_="viewer").read(), await at._replace(as_="ben:approver").read()
        unknown = await Visitor(api, "/d/p/none", "viewer").read()
        sent = await at._replace(as_="ann:approver").send("approve", comment="Yes")
        result = await ended(api, execution)

    assert [one.status for one in (nobody, gardener, viewer, ben, unknown, sent)] == [401, 403, 200, 200, 404, 303]
    assert not any("Secret" in one.markup for one in (nobody, gardener))
    assert "You may not decide" in viewer.text
    assert "You are not asked" in ben.text
    assert viewer.forms == ben.forms == []
    assert result["by"] == "ann"


async def test_roles_of_a_links_user_come_from_the_directory(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        _, point = await asked(api, approvers={"roles": ["finance"]})
        await api.put("/people/ann", {"roles": ["finance"], "zone": "Europe/Berlin"})
        await api.put("/people/ben", {"roles": ["admin"]})
        ann, ben = [await visitor_with_link(api, point, user) for user in ("ann", "ben")]
        assert "You are not asked" in (await ben.read()).text
        sent = await ann.send("approve")

    assert sent.status == 303


async def test_a_token_of_a_mail_follows_from_its_key_and_differs_for_everybody_else() -> None:
    keys = LinkKeys([KEY])
    assert keys.current is not None
    token = keys.token(keys.current, "p", "ann", "d1")
    assert token == LinkKeys([OTHER, KEY]).token(keys.current, "p", "ann", "d1"), "the old key completes what was begun"
    assert LinkKeys([OTHER]).token(keys.current, "p", "ann", "d1") is None
    others = [
        keys.token(keys.current, *about) for about in (("q", "ann", "d1"), ("p", "ben", "d1"), ("p", "ann", "d2"))
    ]
    assert len({token, *others, LinkKeys([OTHER]).token(str(LinkKeys([OTHER]).current), "p", "ann", "d1")}) == 5
    assert token is not None
    assert len(base64.urlsafe_b64decode(token + "=")) == 32


async def test_a_link_works_until_its_execution_is_purged(tmp_path: Path) -> None:
    async with served_links(tmp_path) as api:
        execution, point = await asked(api)
        ann = await visitor_with_link(api, point, "ann")
        await ann.send("approve")
        await ended(api, execution)
        shown = await ann.read()
        assert await api.engine.instance.store.retention.purge([execution]) == 1
        gone = await ann.read()

    assert (shown.status, gone.status) == (200, 404)
    assert "leads nowhere" in gone.text


async def test_a_user_who_has_signed_in_decides_by_a_link_and_on_the_page_of_a_point(tmp_path: Path) -> None:
    async with served(tmp_path, settings=UNLIMITED) as api:
        execution, point = await asked(api, approvers={"users": ["ann", "ben"]}, need=2)
        link = await visitor_with_link(api, point, "ann")
        nobody = await link.read()
        [sign_in] = [str(one["href"]) for one in nobody.named("a") if "sign-in" in str(one.get("href"))]
        ann = await signed_in(link, "ann:approver")
        ben = await signed_in(Visitor(api, f"/d/p/{point}"), "ben:approver")
        forged = await ben.send("approve", await ann.read())
        wrong = await ben._replace(path=link.path).read()
        sent = [await ann.send("approve"), await ben.send("approve")]
        result = await ended(api, execution)

    assert sign_in == f"/sign-in?next={link.path}"
    assert (forged.status, wrong.status) == (403, 403)
    assert [one.status for one in sent] == [303, 303]
    assert [one["by"] for one in result["decisions"]] == ["ann", "ben"]


async def test_who_knows_a_link_cannot_make_the_form_of_a_user_who_is_signed_in(tmp_path: Path) -> None:
    async with served(tmp_path, settings=UNLIMITED) as api:
        execution, point = await asked(api)
        link = await visitor_with_link(api, point, "ann")
        ann, again = await signed_in(link, "ann:approver"), await signed_in(link, "ann:approver")
        token = link.path.rpartition("/")[2]
        made = {TOKEN_FIELD: form_token(token.encode(), point, "ann"), "act": "approve"}
        refused = [await ann.post(made), await ann.send("approve", await again.read())]
        still = await points_of(api, execution)
        sent = await ann.send("approve")

    assert [one.status for one in refused] == [403, 403]
    assert still
    assert sent.status == 303


async def test_a_link_to_sign_in_is_no_guess_at_a_decision_link(tmp_path: Path) -> None:
    async with served(tmp_path, settings=ApiSettings(rate_limit=None)) as api:
        for n in range(5):
            await Visitor(api, f"/sign-in/link/{'A' * 40}{n:03}").read()
        assert sum(map(len, api.services.guesses._shown.values())) == 5  # noqa: SLF001 - each counts once


async def test_who_is_done_and_signed_in_is_led_to_what_waits_next(tmp_path: Path) -> None:
    async with served(tmp_path, settings=UNLIMITED) as api:
        _, first = await asked(api)
        _, second = await asked(api)
        ann = await signed_in(Visitor(api, f"/d/p/{first}"), "ann:approver")
        before = await ann.read()
        await ann.send("approve", before)
        after = await ann.read()
        next_ = ann._replace(path=f"/d/p/{second}")
        await next_.send("approve")
        last = await next_.read()

    links = [
        [str(one["href"]) for one in page.named("a") if "/d/p/" in str(one["href"])] for page in (before, after, last)
    ]
    assert links == [[], [f"/d/p/{second}"], []]
