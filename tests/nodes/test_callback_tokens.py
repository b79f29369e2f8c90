"""Where to call back is told to the function that is called, and to nobody else."""

from __future__ import annotations

from layover.nodes.callback_tokens import with_token, without_token

URL = "http://here/api/v1/callbacks/secret"


def test_token_and_address_stand_where_they_were_asked_for() -> None:
    given = {"to": {"$token": "url"}, "headers": [{"x": {"$token": "token"}}, 1], "plain": "text"}
    assert with_token(given, "secret", URL) == {"to": URL, "headers": [{"x": "secret"}, 1], "plain": "text"}
    assert given["to"] == {"$token": "url"}
    assert with_token({"$token": "url"}, "secret", URL) == URL


def test_what_only_looks_like_it_stays() -> None:
    for given in ({"$token": "else"}, {"$token": ["url"]}, {"$token": "url", "more": 1}, {"token": "url"}, "$token"):
        assert with_token(given, "secret", URL) == given


def test_the_copy_is_the_functions_own() -> None:
    given: dict[str, list[int]] = {"lines": [1]}
    own = with_token(given, "secret", URL)
    assert isinstance(own, dict)
    own["lines"].append(2)
    assert given == {"lines": [1]}


def test_nobody_finds_the_token_in_what_comes_back() -> None:
    told = {"echo": URL, "secret": [{"a": "secret"}], "n": 1}
    assert without_token(told, "secret") == {
        "echo": "http://here/api/v1/callbacks/[token]",
        "[token]": [{"a": "[token]"}],
        "n": 1,
    }
