"""The callback address goes to the called function, and nowhere else."""

from __future__ import annotations

from layover.nodes.callback_tokens import with_token, without_token

URL = "http://here/api/v1/callbacks/secret"


def test_token_and_address_replace_their_markers() -> None:
    given = {"to": {"$token": "url"}, "headers": [{"x": {"$token": "token"}}, 1], "plain": "text"}
    assert with_token(given, "secret", URL) == {"to": URL, "headers": [{"x": "secret"}, 1], "plain": "text"}
    assert given["to"] == {"$token": "url"}
    assert with_token({"$token": "url"}, "secret", URL) == URL


def test_lookalikes_of_markers_stay() -> None:
    for given in ({"$token": "else"}, {"$token": ["url"]}, {"$token": "url", "more": 1}, {"token": "url"}, "$token"):
        assert with_token(given, "secret", URL) == given


def test_with_token_returns_a_copy() -> None:
    given: dict[str, list[int]] = {"lines": [1]}
    own = with_token(given, "secret", URL)
    assert isinstance(own, dict)
    own["lines"].append(2)
    assert given == {"lines": [1]}


def test_the_token_is_removed_from_results() -> None:
    told = {"echo": URL, "secret": [{"a": "secret"}], "n": 1}
    assert without_token(told, "secret") == {
        "echo": "http://here/api/v1/callbacks/[token]",
        "[token]": [{"a": "[token]"}],
        "n": 1,
    }
