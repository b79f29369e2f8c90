"""Tokens of an issuer elsewhere: signed in the one way that was set, for us, and of this time."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from layover.api.access.config import AccessSettings, JwtSettings
from layover.api.access.jwks import LARGEST, SigningKeys, keys_in
from layover.api.access.tokens import Tokens
from layover.api.problems import Refusal
from tests.api.harness import listening
from tests.runtime.harness import engine_at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from layover.model.access import Caller

SECRET = "a secret of more than thirty-two bytes"  # noqa: S105 - of these tests
NOW = 1_800_000_000_000
SECONDS = NOW // 1000
RSA = rsa.generate_private_key(65537, 2048)
OTHER_RSA = rsa.generate_private_key(65537, 2048)
SHORT_RSA = rsa.generate_private_key(65537, 1024)  # noqa: S505 - to be refused
EC = ec.generate_private_key(ec.SECP256R1())
OTHER_CURVE = ec.generate_private_key(ec.SECP384R1())

SHARED = JwtSettings(secret=SECRET)
ISSUED = JwtSettings(secret=SECRET, issuer="https://id.example.org", audience="layover")
FOR_US = {"iss": "https://id.example.org", "aud": "layover"}


def claims(**fields: Any) -> dict[str, Any]:
    """Return what a token says, if not otherwise; None is left out."""
    said = {"sub": "ada", "exp": SECONDS + 600, "roles": ["operator"], **fields}
    return {name: value for name, value in said.items() if value is not None}


def signed(said: dict[str, Any] | None = None, *, secret: str = SECRET, **header: Any) -> str:
    return by_hand({"alg": "HS256", "typ": "JWT", **header}, json.dumps(said or claims()).encode(), secret.encode())


def by_hand(header: dict[str, Any], said: bytes, secret: bytes) -> str:
    """Return a token as no library would make it."""
    parts = [json.dumps(header).encode(), said]
    text = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    signature = hmac.new(secret, text, hashlib.sha256).digest()
    return (text + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")).decode()


async def known(token: str, settings: JwtSettings = SHARED, keys: SigningKeys | None = None) -> Caller | None:
    return await Tokens(settings, keys).caller_of(token, NOW)


# A shared secret


async def test_a_token_gives_its_user_and_roles() -> None:
    caller = await known(signed(claims(roles=["operator", "cfo"], more={"a": 1})))

    assert caller is not None
    assert (caller.user, caller.roles, caller.credential) == ("ada", ("operator", "cfo"), "jwt")
    assert set(caller.permissions) == {
        "execution:read",
        "workflow:read",
        "execution:start",
        "execution:cancel",
        "execution:debug",
    }


async def test_a_token_without_roles_permits_nothing() -> None:
    caller = await known(signed(claims(roles=None)))

    assert caller is not None
    assert (caller.roles, caller.permissions) == ((), ())


@pytest.mark.parametrize(
    "fields",
    [
        {"exp": None},
        {"exp": SECONDS - 60},
        {"exp": "soon"},
        {"exp": True},
        {"exp": float("nan")},
        {"exp": float("inf")},
        {"nbf": SECONDS + 61},
        {"nbf": "then"},
        {"nbf": float("nan")},
        {"iat": SECONDS + 61},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "x" * 256},
        {"sub": "ada\nadmin"},
        {"sub": "ada\0"},
        {"roles": "admin"},
        {"roles": [1]},
        {"roles": [""]},
        {"roles": ["admin\n"]},
        {"roles": {"admin": True}},
        {"aud": "layover"},  # that may be us, or not: nobody has said who we are
    ],
)
async def test_a_token_that_does_not_say_what_it_has_to_is_none(fields: dict[str, Any]) -> None:
    assert await known(signed(claims(**fields))) is None


@pytest.mark.parametrize(
    "fields", [{"exp": SECONDS - 59}, {"exp": 9e10}, {"nbf": SECONDS + 60}, {"iat": SECONDS + 60.0}, {"nbf": 0}]
)
async def test_clocks_may_differ_by_a_minute(fields: dict[str, Any]) -> None:
    assert await known(signed(claims(**fields))) is not None


@pytest.mark.parametrize(
    ("fields", "is_known"),
    [
        (FOR_US, True),
        ({**FOR_US, "aud": ["other", "layover"]}, True),
        ({**FOR_US, "aud": "other"}, False),
        ({**FOR_US, "aud": None}, False),
        ({**FOR_US, "iss": "https://evil.example.org"}, False),
        ({**FOR_US, "iss": None}, False),
        ({**FOR_US, "iss": ["https://id.example.org"]}, False),
    ],
)
async def test_a_token_needs_the_issuer_and_the_audience_of_the_settings(
    fields: dict[str, Any], is_known: bool
) -> None:
    assert (await known(signed(claims(**fields)), ISSUED) is not None) == is_known


async def test_a_token_that_is_signed_otherwise_is_none() -> None:
    header, said, signature = signed().split(".")
    forged = base64.urlsafe_b64encode(json.dumps(claims(sub="admin")).encode()).rstrip(b"=").decode()
    odd = [
        signed(secret=SECRET[::-1]),
        jwt.encode(claims(), "", algorithm="none"),
        jwt.encode(claims(), SECRET.encode() * 2, algorithm="HS512"),
        jwt.encode(claims(), RSA, algorithm="RS256"),
        f"{header}.{forged}.{signature}",
        f"{header}.{said}.",
        f"{header}.{said}",
        f".{said}.{signature}",
        by_hand({"alg": "none"}, json.dumps(claims()).encode(), SECRET.encode()),
        by_hand({"alg": "None"}, json.dumps(claims()).encode(), SECRET.encode()),
        by_hand({"alg": ["HS256"]}, json.dumps(claims()).encode(), SECRET.encode()),
        by_hand({}, json.dumps(claims()).encode(), SECRET.encode()),
        "..",
        "a.b.c",
        "Ü.Ü.Ü",
    ]

    assert [await known(token) for token in odd] == [None] * len(odd)


async def test_a_token_whose_signature_is_right_may_still_be_none() -> None:
    odd = [
        b"[]",
        b"null",
        b"{",
        b"\xff",
        b'{"exp":1e999,"sub":1}',
        b"[" * 100_000,
        b'{"sub":"ada","exp":1' + b"0" * 999,
    ]
    tokens = [by_hand({"alg": "HS256"}, said, SECRET.encode()) for said in odd]

    assert [await known(token) for token in tokens] == [None] * len(odd)


# Public keys


def described(*keys: tuple[str, Any], **more: Any) -> bytes:
    """Return the document of an issuer with these keys."""
    listed = []
    for name, key in keys:
        algorithm: Any = RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else ECAlgorithm
        listed.append({**algorithm.to_jwk(key.public_key(), as_dict=True), "kid": name, **more})
    return json.dumps({"keys": listed}).encode()


class Issuer:
    """A server where an issuer publishes its keys."""

    def __init__(self) -> None:
        self.document = described(("r", RSA), ("e", EC))
        self.status = 200
        self.asked: list[str] = []
        issuer = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked.append(self.path)
                self.send_response(issuer.status)
                if issuer.status == 302:
                    self.send_header("location", "/elsewhere")
                self.send_header("content-length", str(len(issuer.document)))
                self.end_headers()
                self.wfile.write(issuer.document)

            def log_message(self, *_said: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.address = f"http://127.0.0.1:{self.server.server_port}/keys"
        self.now = 0.0
        self.keys = SigningKeys(self.address, lambda: self.now)
        self.settings = JwtSettings(jwks_url=self.address)

    async def known(self, token: str) -> Caller | None:
        return await known(token, self.settings, self.keys)


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    made = Issuer()
    serving = Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    serving.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    serving.join()


def signed_by(key: Any, name: str | None, said: dict[str, Any] | None = None, **header: Any) -> str:
    algorithm = "RS256" if isinstance(key, rsa.RSAPrivateKey) else "ES256"
    if isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP384R1):
        algorithm = "ES384"
    return jwt.encode(said or claims(), key, algorithm, headers={**header, **({"kid": name} if name else {})})


async def test_a_token_is_known_by_the_key_that_it_names(issuer: Issuer) -> None:
    found = [await issuer.known(signed_by(RSA, "r")), await issuer.known(signed_by(EC, "e"))]
    odd = [signed_by(OTHER_RSA, "r"), signed_by(EC, "r"), signed_by(RSA, "e"), signed_by(RSA, None)]

    assert [caller.user for caller in found if caller is not None] == ["ada", "ada"]
    assert [await issuer.known(token) for token in odd] == [None] * 4
    assert len(issuer.asked) == 1


async def test_a_token_that_names_no_key_is_known_if_there_is_only_one(issuer: Issuer) -> None:
    issuer.document = described(("r", RSA))

    assert await issuer.known(signed_by(RSA, None)) is not None
    assert await issuer.known(signed_by(OTHER_RSA, None)) is None


async def test_the_public_key_is_no_secret_to_sign_with(issuer: Issuer) -> None:
    said = json.dumps(claims(sub="admin", roles=["admin"])).encode()
    public = RSA.public_key()
    texts = [
        public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).strip(),
        public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        b"",
    ]
    for text in texts:
        assert await issuer.known(by_hand({"alg": "HS256", "kid": "r"}, said, text)) is None
    assert await issuer.known(signed()) is None
    assert await issuer.known(jwt.encode(claims(), "", algorithm="none", headers={"kid": "r"})) is None
    own = json.loads(described(("r", OTHER_RSA)))["keys"][0]
    assert await issuer.known(signed_by(OTHER_RSA, None, jwk=own, jku=issuer.address)) is None


@pytest.mark.parametrize("name", [7, ["r"], {}, None, "x" * 5_000])
async def test_an_odd_name_of_a_key_is_none(issuer: Issuer, name: Any) -> None:
    assert await issuer.known(by_hand({"alg": "RS256", "kid": name}, b"{}", b"")) is None


def test_only_keys_that_are_safe_are_used() -> None:
    secret = {"kty": "oct", "kid": "s", "k": "c2VjcmV0" * 8, "alg": "HS256"}
    private = {**RSAAlgorithm.to_jwk(RSA, as_dict=True), "kid": "p"}

    assert set(keys_in(described(("r", RSA), ("e", EC)))) == {"r", "e"}
    assert keys_in(described(("short", SHORT_RSA), ("curve", OTHER_CURVE))) == {}
    assert keys_in(described(("r", RSA), use="enc")) == {}
    assert keys_in(described(("r", RSA), alg="PS256")) == {}
    assert keys_in(json.dumps({"keys": [secret, private, {"kty": "RSA"}, {"kty": "EC", "crv": 1}, 7]}).encode()) == {}
    for document in (b"", b"[]", b"{}", b'{"keys": 7}', json.dumps({"keys": [{}] * 101}).encode()):
        with pytest.raises(ValueError, match=r"^it "):
            keys_in(document)


async def test_a_key_that_is_not_known_is_asked_for_at_most_once_a_minute(issuer: Issuer) -> None:
    await issuer.known(signed_by(RSA, "r"))
    issuer.document = described(("new", OTHER_RSA), ("r", RSA))
    for _ in range(3):
        assert await issuer.known(signed_by(OTHER_RSA, "new")) is None
    assert len(issuer.asked) == 1

    issuer.now = 60.0
    assert await issuer.known(signed_by(OTHER_RSA, "new")) is not None
    assert await issuer.known(signed_by(RSA, "r")) is not None
    assert await issuer.known(signed_by(RSA, "other")) is None
    assert len(issuer.asked) == 2


async def test_a_key_that_was_taken_back_ends_after_a_while(issuer: Issuer) -> None:
    assert await issuer.known(signed_by(RSA, "r")) is not None
    issuer.document = described(("e", EC))
    issuer.now = 599.0
    assert await issuer.known(signed_by(RSA, "r")) is not None
    issuer.now = 600.0
    assert await issuer.known(signed_by(RSA, "r")) is None


async def test_while_the_issuer_cannot_be_reached_its_keys_are_used_for_a_day(issuer: Issuer) -> None:
    assert await issuer.known(signed_by(RSA, "r")) is not None
    issuer.status = 500
    for issuer.now in (1_000.0, 2_000.0, 86_400.0):
        assert await issuer.known(signed_by(RSA, "r")) is not None
    issuer.now = 86_401.0
    with pytest.raises(Refusal) as raised:
        await issuer.known(signed_by(RSA, "r"))
    assert raised.value.status == 503

    issuer.status = 200
    issuer.now += 60.0
    assert await issuer.known(signed_by(RSA, "r")) is not None


@pytest.mark.parametrize("status", [302, 404, 500])
async def test_while_the_issuer_has_no_keys_the_answer_is_503(issuer: Issuer, status: int) -> None:
    issuer.status = status
    for _ in range(3):
        with pytest.raises(Refusal) as raised:
            await issuer.known(signed_by(RSA, "r"))
        assert raised.value.status == 503
    assert issuer.asked == ["/keys"]


async def test_a_document_that_is_too_large_is_not_read(issuer: Issuer) -> None:
    issuer.document = described(("r", RSA)) + b" " * LARGEST
    with pytest.raises(Refusal):
        await issuer.known(signed_by(RSA, "r"))


async def test_keys_may_be_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "the keys.json"
    file.write_bytes(described(("e", EC)))
    settings = JwtSettings(jwks_url=file.as_uri())

    assert await known(signed_by(EC, "e"), settings) is not None
    with pytest.raises(Refusal):
        await known(signed_by(EC, "e"), JwtSettings(jwks_url=(tmp_path / "none.json").as_uri()))


# Over HTTP


async def test_a_token_and_a_key_are_distinguished_in_either_header(tmp_path: Path) -> None:
    access = AccessSettings(admin_key="an-admin-key-for-tests-only", jwt=SHARED)
    async with engine_at(tmp_path) as engine, listening(engine, access=access) as api:
        later = api.engine.instance.clock.now() // 1000 + 600
        token = signed(claims(exp=later))
        shown = await api.get("/me", as_="", headers={"authorization": f"Bearer {token}"})
        other = await api.get("/me", as_="", headers={"x-api-key": token})
        forged = await api.get("/me", as_="", headers={"authorization": f"Bearer {token[:-4]}AAAA"})
        key = await api.get("/me", as_="viewer")
        refused = await api.get("/keys", as_="", headers={"authorization": f"Bearer {token}"})

    assert (shown.status, shown.json["user"], shown.json["credential"]) == (200, "ada", "jwt")
    assert other.json == shown.json
    assert (forged.status, forged.code) == (401, "unauthenticated")
    assert (key.status, key.json["user"]) == (200, "viewer")
    assert (refused.status, refused.code) == (403, "forbidden")
