"""Signed authorization requests: RFC 9101."""

import asyncio
from base64 import urlsafe_b64encode
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from joserfc import jws
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey

from identity.access.client_authentication.client_keys import ClientKeys
from identity.authentication.authorization.start import SignInStep
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.refusals import UnredirectableRefusal
from identity.authentication.requests.request_objects import RequestObjects
from identity.authentication.requests.sources import RequestsByReference
from identity.crypto.signed_jwt import ForeignSignatures
from identity.delivery.http.published_keys import PublishedKeys
from identity.foundation.errors import (
    InvalidRequest,
    InvalidRequestObject,
    ProtocolError,
    RequestNotSupported,
)
from server.platform.errors import Unavailable
from tests.identity.browsers import ASKING, ISSUER, NEW_BROWSER, NOON, Provider, app

KEYS: dict[str, Key] = {
    "RS256": RSAKey.generate_key(2048),
    "ES256": ECKey.generate_key("P-256"),
    "PS256": RSAKey.generate_key(2048),
    "EdDSA": OKPKey.generate_key("Ed25519"),
}
NOW = int(NOON.timestamp())
MINUTE = 60
HOUR = 60 * MINUTE
REQUEST_URI = "https://app.example.com/requests/1"
SIGNED: dict[str, Any] = {**ASKING, "iss": "app", "aud": ISSUER, "exp": NOW + MINUTE, "nbf": NOW, "jti": "1"}


def key_set(*keys: Key) -> str:
    return msgspec.json.encode({"keys": [key.as_dict(private=False) for key in keys]}).decode()


def signed(
    claims: dict[str, Any] = SIGNED, *, alg: str = "ES256", key: Key | None = None, **header: str
) -> str:
    """Return a request object; a claim that is None is left out."""
    payload = msgspec.json.encode({name: value for name, value in claims.items() if value is not None})
    registry = ForeignSignatures(algorithms=[alg], strict_check_header=False)
    return jws.serialize_compact({"alg": alg, **header}, payload, key or KEYS[alg], registry=registry)


def unsigned(claims: dict[str, Any] = SIGNED) -> str:
    parts = (b'{"alg":"none"}', msgspec.json.encode(claims))
    return ".".join([*(urlsafe_b64encode(part).decode().rstrip("=") for part in parts), ""])


@pytest.fixture
async def provider() -> Provider:
    provider = Provider()
    with_keys = app(jwks=key_set(*KEYS.values()))
    await provider.register(
        with_keys,
        replace(with_keys, id="one", request_object_signing_alg="EdDSA"),
        replace(with_keys, id="strict", requires_signed_request=True),
        replace(with_keys, id="elsewhere", request_uris=(REQUEST_URI, f"{REQUEST_URI}#v2")),
        app(id="keyless"),
    )
    return provider


async def begin(provider: Provider, **parameters: str) -> SignInStep | Redirection:
    return await provider.authorization_start.begin(
        provider.tenant, Parameters.of(({"client_id": "app"} | parameters).items()), NEW_BROWSER
    )


async def understood(provider: Provider, **parameters: str) -> SignInStep:
    step = await begin(provider, **parameters)
    assert isinstance(step, SignInStep)
    return step


async def refused(provider: Provider, **parameters: str) -> str:
    """Return the error that is sent to the redirect URI beside the request object."""
    outcome = await begin(provider, **{"redirect_uri": ASKING["redirect_uri"]} | parameters)
    assert isinstance(outcome, Redirection)
    return dict(outcome.parameters)["error"]


@pytest.mark.parametrize("alg", KEYS)
async def test_what_the_client_signed_is_what_it_asks_for(provider: Provider, alg: str) -> None:
    request = signed(
        SIGNED
        | {
            "max_age": 60,
            "claims": {"userinfo": {"email": None}},
            "login_hint": "a@example.com",
            "display": None,
        },
        alg=alg,
        typ="oauth-authz-req+jwt",
    )

    asked = (await understood(provider, request=request)).request

    assert (asked.redirect_uri, asked.state, asked.nonce) == (ASKING["redirect_uri"], "s1", "n1")
    assert (asked.oauth_scopes, asked.max_age) == (("openid", "email"), 60)
    assert (asked.claims, asked.login_hint) == ('{"userinfo":{"email":null}}', "a@example.com")


async def test_nothing_beside_the_object_counts(provider: Provider) -> None:
    request = signed(SIGNED | {"state": None})

    asked = await understood(
        provider,
        request=request,
        redirect_uri="https://evil.example.com/",
        state="outside",
        nonce="outside",
        login_hint="b@example.com",
        prompt="none",
        response_mode="form_post",
    )

    assert asked.request.redirect_uri == ASKING["redirect_uri"]
    assert (asked.request.state, asked.request.nonce) == (None, "n1")
    assert (asked.request.login_hint, asked.request.prompts) == ("", ())
    assert asked.request.response_mode == "query"


async def test_what_the_object_leaves_out_is_not_taken_from_beside_it(provider: Provider) -> None:
    with pytest.raises(UnredirectableRefusal):
        await begin(provider, request=signed(SIGNED | {"redirect_uri": None}), **dict(ASKING))


async def test_a_mistake_in_the_object_goes_the_way_that_the_object_says(provider: Provider) -> None:
    request = signed(SIGNED | {"response_type": "token"})

    outcome = await begin(provider, request=request, state="outside")

    assert isinstance(outcome, Redirection)
    answer = dict(outcome.parameters)
    assert (answer["error"], answer["state"]) == ("unsupported_response_type", "s1")


async def test_several_resources_may_be_signed(provider: Provider) -> None:
    resources = ["https://api.example.com/", "urn:example:api"]
    await provider.register(
        app(id="web", jwks=key_set(KEYS["ES256"]), allowed_resources=tuple(resources)),
    )
    claims = SIGNED | {"client_id": "web", "iss": "web", "resource": resources}

    asked = await understood(provider, client_id="web", request=signed(claims))

    assert asked.request.resources == tuple(resources)


async def test_an_object_is_good_as_long_as_it_says(provider: Provider) -> None:
    request = signed()

    first, second = await understood(provider, request=request), await understood(provider, request=request)

    assert first.authorization_id != second.authorization_id


ACCEPTED = [
    pytest.param({"exp": None, "nbf": None, "jti": None}, {}, id="no times"),
    pytest.param({"nbf": NOW + 8}, {}, id="not before in a moment"),
    pytest.param({"exp": NOW + HOUR}, {}, id="an hour"),
    pytest.param({"aud": ["https://other.example/", ISSUER]}, {}, id="several audiences"),
    pytest.param({"iat": NOW + 10}, {}, id="issued by a clock that is ahead"),
    pytest.param({}, {"typ": "JWT"}, id="any JWT"),
    pytest.param({}, {"typ": "application/oauth-authz-req+jwt"}, id="type in full"),
    pytest.param({"sub": "somebody"}, {}, id="subject"),
]


@pytest.mark.parametrize(("claims", "header"), ACCEPTED)
async def test_a_good_object_is_taken(
    provider: Provider, claims: dict[str, Any], header: dict[str, str]
) -> None:
    assert await understood(provider, request=signed(SIGNED | claims, **header))


REFUSED = [
    pytest.param({"client_id": None}, id="no client"),
    pytest.param({"client_id": "other"}, id="another client"),
    pytest.param({"iss": None}, id="no issuer"),
    pytest.param({"iss": "other"}, id="another issuer"),
    pytest.param({"aud": None}, id="no audience"),
    pytest.param({"aud": "https://other.example/"}, id="another audience"),
    pytest.param({"aud": f"{ISSUER}oidc/token"}, id="audience that is an endpoint"),
    pytest.param({"iat": NOW + 11}, id="issued in the future"),
    pytest.param({"iat": "now"}, id="issued at no number"),
    pytest.param({"aud": ISSUER.rstrip("/")}, id="nearly the audience"),
    pytest.param({"aud": {ISSUER: 1}}, id="audience that is none"),
    pytest.param({"sub": "app"}, id="an assertion"),
    pytest.param({"exp": NOW - 11}, id="expired"),
    pytest.param({"exp": NOW + HOUR + 11}, id="for too long"),
    pytest.param({"exp": "soon"}, id="expiry that is no number"),
    pytest.param({"nbf": NOW + 11}, id="not yet"),
    pytest.param({"nbf": NOW - HOUR - 11}, id="of long ago"),
    pytest.param({"nbf": True}, id="beginning that is no number"),
    pytest.param({"jti": "j" * 257}, id="long id"),
    pytest.param({"request": "e30.e30."}, id="an object within"),
    pytest.param({"request_uri": REQUEST_URI}, id="a reference within"),
    pytest.param({"padding": "p" * 16_384}, id="too large"),
]


@pytest.mark.parametrize("claims", REFUSED)
async def test_an_object_that_does_not_hold_is_refused(provider: Provider, claims: dict[str, Any]) -> None:
    assert await refused(provider, request=signed(SIGNED | claims)) == "invalid_request_object"


@pytest.mark.parametrize("typ", ["at+jwt", "dpop+jwt", "logout+jwt", "secevent+jwt"])
async def test_a_jwt_of_another_kind_is_no_request(provider: Provider, typ: str) -> None:
    assert await refused(provider, request=signed(typ=typ)) == "invalid_request_object"


FORGED = [
    pytest.param(signed(key=ECKey.generate_key("P-256")), id="of another key"),
    pytest.param(f"{signed()[:-4]}AAAA", id="of another signature"),
    pytest.param("a.b.c", id="no JWT"),
    pytest.param("..", id="empty"),
    pytest.param(f"{signed()}.{signed()}", id="five parts"),
]


@pytest.mark.parametrize("request_object", FORGED)
async def test_a_signature_that_does_not_hold_is_refused(provider: Provider, request_object: str) -> None:
    assert await refused(provider, request=request_object) == "invalid_request_object"


async def test_nobody_goes_without_a_signature(provider: Provider) -> None:
    assert await refused(provider, request=unsigned()) == "request_not_supported"


async def test_a_client_without_keys_signs_nothing(provider: Provider) -> None:
    request = signed(SIGNED | {"client_id": "keyless", "iss": "keyless"})

    assert await refused(provider, client_id="keyless", request=request) == "invalid_request_object"


async def test_a_key_in_the_header_is_nobodys(provider: Provider) -> None:
    key = ECKey.generate_key("P-256")
    header = {"alg": "ES256", "jwk": key.as_dict(private=False), "jku": "https://evil.example.com/keys"}
    registry = ForeignSignatures(algorithms=["ES256"], strict_check_header=False)
    request = jws.serialize_compact(header, msgspec.json.encode(SIGNED), key, registry=registry)

    assert await refused(provider, request=request) == "invalid_request_object"
    assert provider.documents.asked == []


async def test_a_client_that_named_an_algorithm_signs_with_that_alone(provider: Provider) -> None:
    claims = SIGNED | {"client_id": "one", "iss": "one"}

    assert await understood(provider, client_id="one", request=signed(claims, alg="EdDSA"))
    assert await refused(provider, client_id="one", request=signed(claims)) == "invalid_request_object"


async def test_a_client_that_has_to_sign_does_so_and_says_for_how_long(provider: Provider) -> None:
    claims = SIGNED | {"client_id": "strict", "iss": "strict"}
    plain = {name: value for name, value in ASKING.items() if name != "client_id"}

    assert await understood(provider, client_id="strict", request=signed(claims))
    assert await refused(provider, client_id="strict", **plain) == "invalid_request"
    without_end = signed(claims | {"exp": None})
    assert await refused(provider, client_id="strict", request=without_end) == "invalid_request_object"


@pytest.mark.parametrize("request_uri", [REQUEST_URI, f"{REQUEST_URI}#v2"])
async def test_an_object_is_read_where_the_client_registered_it(provider: Provider, request_uri: str) -> None:
    claims = SIGNED | {"client_id": "elsewhere", "iss": "elsewhere"}
    provider.documents.texts[REQUEST_URI] = f"{signed(claims)}\n"

    asked = await understood(provider, client_id="elsewhere", request_uri=request_uri, state="outside")

    assert asked.request.state == "s1"
    assert provider.documents.asked == [REQUEST_URI]
    assert "application/oauth-authz-req+jwt" in provider.documents.accepted


@pytest.mark.parametrize(
    "request_uri",
    [
        f"{REQUEST_URI}#v3",
        f"{REQUEST_URI}/",
        "https://169.254.169.254/latest",
        "http://127.0.0.1/",
        "urn:ietf:params:oauth:request_uri:unknown",
    ],
)
async def test_nothing_else_is_read(provider: Provider, request_uri: str) -> None:
    expected = {"invalid_request_uri"}

    assert {await refused(provider, client_id="elsewhere", request_uri=request_uri)} == expected
    assert provider.documents.asked == []


async def test_a_client_without_addresses_has_nothing_read(provider: Provider) -> None:
    assert await refused(provider, request_uri=REQUEST_URI) == "request_uri_not_supported"
    assert provider.documents.asked == []


UNREADABLE = [
    pytest.param(None, "invalid_request_uri", id="nothing"),
    pytest.param(unsigned(), "request_uri_not_supported", id="unsigned"),
    pytest.param("<html>", "invalid_request_object", id="a page"),
    pytest.param(signed(), "invalid_request_object", id="of another client"),
]


@pytest.mark.parametrize(("text", "error"), UNREADABLE)
async def test_what_is_read_is_checked_like_what_is_sent(
    provider: Provider, text: str | None, error: str
) -> None:
    if text is not None:
        provider.documents.texts[REQUEST_URI] = text

    assert await refused(provider, client_id="elsewhere", request_uri=REQUEST_URI) == error


class SlowDocuments:
    """Documents that are delivered once `answering` is set."""

    def __init__(self, text: str, most: int) -> None:
        self.answering, self.busy = asyncio.Event(), asyncio.Event()
        self._most = most
        self._asked = 0
        self._text = text

    async def read(self, _uri: str, /, *, accept: str) -> str:  # noqa: ARG002  # a protocol's
        self._asked += 1
        if self._asked == self._most:
            self.busy.set()
        await self.answering.wait()
        return self._text


async def test_only_so_many_objects_are_read_at_a_time(provider: Provider) -> None:
    client = app(jwks=key_set(*KEYS.values()), request_uris=(REQUEST_URI,))
    documents = SlowDocuments(signed(), most=20)
    keys = ClientKeys(PublishedKeys(provider.documents, provider.clock))
    source = RequestsByReference(RequestObjects(keys, provider.clock), documents)
    asked = Parameters.of([("client_id", "app"), ("request_uri", REQUEST_URI)])

    async with asyncio.TaskGroup() as tasks:
        reading = [tasks.create_task(source.resolve(provider.tenant, client, asked)) for _ in range(20)]
        await documents.busy.wait()
        with pytest.raises(Unavailable):
            await source.resolve(provider.tenant, client, asked)
        documents.answering.set()

    assert await source.resolve(provider.tenant, client, asked) == reading[0].result()


async def push(provider: Provider, request: str, **parameters: str) -> str:
    client = await provider.clients.find(provider.tenant, "strict")
    assert client is not None
    sent = Parameters.of({"client_id": "strict", "request": request, **parameters}.items())
    return (await provider.pushing.push(provider.tenant, client, sent, thumbprint="j" * 43)).request_uri


async def test_a_signed_request_can_be_pushed(provider: Provider) -> None:
    claims = SIGNED | {"client_id": "strict", "iss": "strict"}

    request_uri = await push(provider, signed(claims), state="outside", login_hint="a@example.com")
    asked = await understood(provider, client_id="strict", request_uri=request_uri, nonce="outside")

    assert (asked.request.state, asked.request.nonce, asked.request.login_hint) == ("s1", "n1", "")
    assert asked.request.dpop_jkt == "j" * 43


PUSHED_IN_VAIN = [
    pytest.param(InvalidRequestObject, signed(), id="of another client"),
    pytest.param(RequestNotSupported, unsigned(), id="unsigned"),
    pytest.param(InvalidRequest, "", id="plain"),
    pytest.param(
        InvalidRequest,
        signed(
            SIGNED | {"client_id": "strict", "iss": "strict", "redirect_uri": "https://evil.example.com/"}
        ),
        id="to somewhere else",
    ),
]


@pytest.mark.parametrize(("refusal", "request_object"), PUSHED_IN_VAIN)
async def test_what_may_not_be_signed_cannot_be_pushed(
    provider: Provider, refusal: type[ProtocolError], request_object: str
) -> None:
    with pytest.raises(refusal):
        await push(provider, request_object, **{name: ASKING[name] for name in ("redirect_uri", "state")})
