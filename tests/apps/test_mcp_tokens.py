"""Bearer tokens over HTTP: each caller has separate data, and an invalid token is never treated as anonymous."""

import asyncio
import json
import logging
from contextlib import asynccontextmanager
from unittest.mock import Mock

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from starlette.authentication import AuthenticationError

from fingerpost.apps.mcp import identity
from fingerpost.apps.mcp.identity import open_verifier
from fingerpost.apps.mcp.listener import Access, Address
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from fingerpost.errors import SettingsInvalid, ToolError
from tests.apps.clients import accept_tokens, post
from tests.apps.clients import calling as calling_app
from tests.apps.processes import DEADLINE_S
from tests.net.local_server import answer, serving

CITY = Address("0.0.0.0", 8000)
YEAR_2100_S = 4_102_444_800
RESOURCE, ISSUER = "https://city.example/mcp", "https://login.example"
KEY = ec.generate_private_key(ec.SECP256R1())
OTHER_KEY = rsa.generate_private_key(public_exponent=65_537, key_size=2048)
JWK = {**json.loads(jwt.algorithms.ECAlgorithm.to_jwk(KEY.public_key())), "kid": "a", "use": "sig"}


@asynccontextmanager
async def calling(access=None):
    application = build(read_settings())
    options = {"at": CITY, "access": access or Access(allowed_hosts=["city.example"]), "caller": "203.0.113.5"}
    async with calling_app(application, "http://city.example", **options) as client:

        async def call(authorization, name="get_user_variables", arguments=None):
            headers = {"authorization": authorization} if authorization else {}
            return await post(client, name, arguments or {}, **headers)

        call.client, call.tools = client, application.tools
        yield call
    application.runs.journal.close()


def content_of(answered):
    return answered.json()["result"]["structuredContent"]


@pytest.fixture
def file_of_tokens(tmp_path, monkeypatch, home):
    accept_tokens(tmp_path / "tokens", monkeypatch, ann="anns-owner trips", bob="bobs-owner trips")


@pytest.mark.parametrize("authorization", [None, "Bearer WRONG", "Basic YW5uOmFubg==", "Bearer "])
async def test_a_token_is_needed_and_must_be_known(file_of_tokens, authorization):
    async with calling() as call:
        refused = await call(authorization)

    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith('Bearer error="invalid_token"')


async def test_a_public_server_accepts_callers_without_a_token_and_refuses_a_wrong_one(file_of_tokens):
    async with calling(Access(allowed_hosts=["city.example"], is_public=True)) as call:
        anonymous, refused = await call(None), await call("Bearer WRONG")

    assert content_of(anonymous)["error"]["hint"].startswith("Sign in")
    assert refused.status_code == 401


async def test_a_token_without_the_scope_is_forbidden(file_of_tokens, monkeypatch):
    monkeypatch.setenv("FINGERPOST_TOKEN_SCOPES", "plans")
    async with calling() as call:
        refused = await call("Bearer ann")

    assert refused.status_code == 403
    assert 'error="insufficient_scope"' in refused.headers["www-authenticate"]


def issue(key=KEY, algorithm="ES256", key_id="a", **changed):
    claims = {"iss": ISSUER, "aud": RESOURCE, "exp": YEAR_2100_S, "sub": "ann", "scope": "trips plans"} | changed
    claims = {name: value for name, value in claims.items() if value is not None}
    return f"Bearer {jwt.encode(claims, key, algorithm=algorithm, headers={'kid': key_id})}"


@asynccontextmanager
async def issuing(monkeypatch, *answers):
    async with serving(*answers) as server:
        monkeypatch.setenv("FINGERPOST_PRIVATE_HOSTS", "127.0.0.1")
        monkeypatch.setenv("FINGERPOST_TOKEN_ISSUER", ISSUER)
        monkeypatch.setenv("FINGERPOST_TOKEN_KEYS_URL", f"http://127.0.0.1:{server.port}/keys")
        monkeypatch.setenv("FINGERPOST_RESOURCE_URL", RESOURCE)
        monkeypatch.setenv("FINGERPOST_TOKEN_SCOPES", "trips")
        yield server


KEYS = answer(body=json.dumps({"keys": [JWK]}).encode())


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        (issue(), 200),
        (issue(exp=1_000_000_000), 401),
        (issue(exp=None), 401),
        (issue(sub=None), 401),
        (issue(sub="local"), 401),
        (issue(sub="\ud800"), 401),
        (issue(iss="https://other.example"), 401),
        (issue(aud="https://other.example/mcp"), 401),
        (issue(key_id="b"), 401),
        (issue(OTHER_KEY, "RS256"), 401),
        (issue(ec.generate_private_key(ec.SECP256R1())), 401),
        (issue("k" * 32, "HS256"), 401),
        (issue("", "none"), 401),
        (issue(scope="plans"), 403),
        ("Bearer a.b.c", 401),
    ],
    ids=[
        *("valid", "expired", "endless", "subject", "local", "surrogate", "issuer", "audience", "key", "algorithm"),
        *("signature", "HS256", "unsigned", "scope", "none"),
    ],
)
async def test_a_token_of_the_issuer_is_verified(home, monkeypatch, authorization, status):
    async with issuing(monkeypatch, KEYS), calling() as call:
        assert (await call(authorization)).status_code == status


async def test_unknown_key_ids_do_not_cause_repeated_requests(home, monkeypatch):
    """A stranger could have us flood the issuer otherwise."""
    async with issuing(monkeypatch, KEYS) as issuer, calling() as call:
        for key_id in "abcd":
            await call(issue(key_id=key_id))

    assert len(issuer.asked) == 1


@pytest.mark.parametrize("refusal", [answer("404 Not Found"), answer(body=b"[]"), answer(body=b'{"keys": 1}')])
async def test_without_the_keys_of_the_issuer_no_token_is_judged(home, monkeypatch, refusal):
    """And the issuer is asked once, not for each token."""
    async with issuing(monkeypatch, refusal) as issuer, calling() as call:
        statuses = [(await call(issue())).status_code for _ in range(2)]

    assert (statuses, len(issuer.asked)) == ([503, 503], 1)


@pytest.mark.parametrize(
    ("age_s", "later", "subject"),
    [
        (601, [], "ann"),
        (1_201, [], "ann"),
        (3_601, [], "AuthenticationError"),
        (601, [[{**JWK, "kid": "b"}]], "ann"),
        (1_201, [[{**JWK, "kid": "b"}]], None),
        (1_201, [["x"]], None),
        (1_201, [[{"kty": "RSA", "alg": [1]}, "x", {**JWK, "kid": [1]}, {**JWK, "kid": "b"}]], None),
    ],
)
async def test_a_known_key_is_valid_while_its_issuer_is_asked(monkeypatch, age_s, later, subject):
    """A slow issuer would stall everybody otherwise; a revoked key is not accepted for long."""
    key_sets, now_s = iter([[JWK], *later]), [1_000.0]

    async def fetch(_request):
        keys = next(key_sets, None)
        if keys is None:
            await asyncio.Event().wait()
        return Mock(body=json.dumps({"keys": keys}).encode())

    monkeypatch.setattr(identity, "time", Mock(monotonic=lambda: now_s[0]))
    verifier = identity.IssuedTokens(ISSUER, "", RESOURCE, fetch, "local")
    await verifier.verify_token(issue().removeprefix("Bearer "))
    now_s[0] += age_s
    monkeypatch.setattr(identity, "_FETCH_S", DEADLINE_S if later else 0.0)
    try:
        found = await asyncio.wait_for(verifier.verify_token(issue().removeprefix("Bearer ")), DEADLINE_S)
        seen = found and found.subject
    except AuthenticationError as error:
        seen = type(error).__name__

    assert seen == subject


def find_marker(answers, caplog, seen, home):
    texts = [f"{answer.headers} {answer.text}" for answer in answers] + [caplog.text, *seen.list_texts()]
    texts += [path.read_bytes().decode(errors="replace") for path in home.rglob("*") if path.is_file()]
    return [text for text in texts if "m4rk3r" in text]


async def call_everything(*authorizations, **access):
    """Call every tool, and one that does not exist, with each authorization."""
    async with calling(Access(allowed_hosts=["city.example"], **access)) as call:
        return [await call(each, name) for each in authorizations for name in [*call.tools, "no_such_tool"]]


async def test_a_token_is_in_no_answer_log_span_metric_or_file(home, tmp_path, monkeypatch, caplog, seen):
    """Whether it is accepted or refused, and whatever it asks for."""
    caplog.set_level(logging.DEBUG)
    accepted, refused = "m4rk3r/t&k+1=", "m4rk3r/0th3r"
    accept_tokens(tmp_path / "tokens", monkeypatch, **{accepted: "ann"})
    answers = await call_everything(f"Bearer {accepted}", f"Bearer {refused}")

    assert find_marker(answers, caplog, seen, home) == []
    assert {answer.status_code for answer in answers} == {200, 401}


@pytest.mark.parametrize(
    "told", [KEYS, answer("403 Forbidden", b"No key m4rk3r"), answer(body=b'{"keys": ["m4rk3r"]}')]
)
async def test_the_key_and_tokens_of_an_issuer_are_in_no_answer_log_span_metric_or_file(
    home, monkeypatch, caplog, seen, told
):
    caplog.set_level(logging.DEBUG)
    async with issuing(monkeypatch, told) as issuer:
        monkeypatch.setenv("FINGERPOST_TOKEN_KEYS_URL", f"http://127.0.0.1:{issuer.port}/keys?api_key=m4rk3r")
        sent = [issue(), issue(key_id="m4rk3r"), issue(aud="m4rk3r"), f"{issue()}m4rk3r"]
        answers = await call_everything(*sent)

    assert find_marker(answers, caplog, seen, home) == []
    assert "api_key=m4rk3r" in issuer.asked[0].target
    assert [token for token in sent if token.removeprefix("Bearer ") in caplog.text] == []


@pytest.mark.parametrize(
    "rest", ["127.0.0.1:1/city", "nowhere.invalid/city", "127.0.0.1:port/city", "127.0.0.1:1/city?x=y"]
)
async def test_the_password_of_the_database_is_in_no_answer_log_span_metric_or_file(
    home, monkeypatch, caplog, seen, invoke, rest
):
    caplog.set_level(logging.DEBUG)
    pytest.importorskip("psycopg")
    monkeypatch.setenv("FINGERPOST_DATABASE_URL", f"postgresql://fingerpost:m4rk3r@{rest}")
    try:
        answers = await call_everything(None, is_public=True)
    except ToolError as error:
        answers = [Mock(headers=repr(error), text=error.user_message())]
    doctor = await asyncio.to_thread(invoke, "doctor")
    answers.append(Mock(headers=repr(read_settings()), text=doctor.stdout + doctor.stderr))

    assert find_marker(answers, caplog, seen, home) == []


async def test_a_client_learns_where_to_sign_in(home, monkeypatch):
    """RFC 9728: the refusal names the metadata, and they name the issuer."""
    async with issuing(monkeypatch, KEYS), calling() as call:
        refused = await call(None)
        metadata = await call.client.get("/.well-known/oauth-protected-resource/mcp")

    assert (
        f'resource_metadata="{RESOURCE.replace("/mcp", "")}/.well-known/oauth-protected-resource/mcp"'
        in (refused.headers["www-authenticate"])
    )
    assert (metadata.json()["resource"], metadata.json()["authorization_servers"]) == (RESOURCE, [f"{ISSUER}/"])


@pytest.mark.parametrize(
    ("setting", "value", "sentence"),
    [
        ("FINGERPOST_TOKENS_FILE", "/nowhere", "cannot be read"),
        ("FINGERPOST_TOKEN_ISSUER", ISSUER, "Set all three"),
        (
            "FINGERPOST_TOKEN_KEYS_URL",
            "a.example?key=m4rk3r",
            "keys_url: must be an address that begins with .* https://$",
        ),
    ],
)
def test_settings_of_tokens_that_cannot_work_are_refused(home, monkeypatch, setting, value, sentence):
    monkeypatch.setenv(setting, value)
    with pytest.raises(SettingsInvalid, match=sentence):
        open_verifier(read_settings())
