"""Dynamic client registration: RFC 7591."""

import asyncio
from datetime import timedelta

import pytest

from identity.clients.dynamic.config import DynamicClientsConfig
from identity.delivery.http.config import OutgoingConfig
from identity.directory.client import CLIENTS
from identity.foundation.provider_config import ProviderConfig, Scheme
from server.platform.call import TenantId
from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.administration.test_clients import KEYS, PRIVATE_KEY
from tests.edge.oidc.clients.conftest import registering
from tests.edge.oidc.clients.registrant import APP, REDIRECT_URI, Registrant
from tests.edge.oidc.people.somebody import Somebody
from tests.identity.deployment import ISSUER, NOON

INITIAL = "an-initial-access-token"
NATIVE = {"application_type": "native", "token_endpoint_auth_method": "none"}


async def administrator(registrant: Registrant) -> Administrator:
    token = (await registrant.deployment.issue()).access_token
    return Administrator(registrant.http, f"Bearer {token}")


async def test_a_client_is_told_all_that_is_registered(registrant: Registrant) -> None:
    answer = await registrant.register()

    client = await answer.json()
    assert answer.status == 201
    assert answer.headers["Cache-Control"] == "no-store"
    assert len(client.pop("client_secret")) == 64
    assert len(client.pop("registration_access_token")) == 64
    client_id = client.pop("client_id")
    assert client.pop("registration_client_uri") == f"{ISSUER}clients_dyn/{client_id}"
    assert client == APP | {
        "client_id_issued_at": int(NOON.timestamp()),
        "client_secret_expires_at": 0,
        "grant_types": ["authorization_code"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_basic",
        "id_token_signed_response_alg": "RS256",
        "authorization_signed_response_alg": "RS256",
        "require_signed_request_object": False,
        "require_pushed_authorization_requests": False,
        "dpop_bound_access_tokens": False,
        "frontchannel_logout_session_required": False,
        "tls_client_certificate_bound_access_tokens": False,
        "scope": "openid profile email address phone offline_access",
        "subject_type": "public",
        "application_type": "web",
    }


async def test_what_a_client_says_of_itself_is_kept(registrant: Registrant) -> None:
    said = {
        "redirect_uris": [REDIRECT_URI, "http://127.0.0.1/callback"],
        "post_logout_redirect_uris": ["https://app.example.com/bye"],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "private_key_jwt",
        "token_endpoint_auth_signing_alg": "ES256",
        "id_token_signed_response_alg": "EdDSA",
        "userinfo_signed_response_alg": "ES256",
        "request_object_signing_alg": "ES256",
        "require_signed_request_object": True,
        "require_pushed_authorization_requests": True,
        "dpop_bound_access_tokens": True,
        "request_uris": ["https://app.example.com/request#1"],
        "jwks": KEYS,
        "client_uri": "https://app.example.com/",
        "policy_uri": "https://app.example.com/privacy",
        "tos_uri": "https://app.example.com/terms",
        "contacts": ["ops@example.com"],
        "scope": "openid groups",
        "backchannel_logout_uri": "https://app.example.com/logout",
        "default_max_age": 3600,
        "frontchannel_logout_uri": "https://app.example.com/front?x=1",
        "frontchannel_logout_session_required": True,
    }

    client = await registrant.registered(**said, surprise=["passed", "over"])

    assert {name: client[name] for name in said} == said
    assert client.keys().isdisjoint({"surprise", "client_secret", "client_secret_expires_at"})


async def test_one_address_after_logout_is_one_of_several(registrant: Registrant) -> None:
    client = await registrant.registered(post_logout_redirect_uri="https://app.example.com/bye")

    assert client["post_logout_redirect_uris"] == ["https://app.example.com/bye"]


async def test_an_application_of_a_device_is_public_and_needs_a_challenge(registrant: Registrant) -> None:
    client = await registrant.registered(**NATIVE, redirect_uris=["com.example.app:/back"])

    kept = await (await administrator(registrant)).send("GET", f"clients/{client['client_id']}")
    assert "client_secret" not in client
    assert (await kept.json())["challenges"] == ["S256"]


METADATA = [
    {"client_name": ["The app"]},
    {"client_name": "x" * 129},
    {"client_name": "The \u202eppa"},
    {"client_name": "Gnomon\u200b"},
    {"client_name": "Gno\u00admon"},
    {"client_name": "The\u0000app"},
    {"client_uri": "javascript:alert(1)"},
    {"policy_uri": "javascript:alert(1)"},
    {"tos_uri": "http://app.example.com/terms"},
    {"grant_types": ["client_credentials"]},
    {"grant_types": ["authorization_code", "password"]},
    {"response_types": ["code id_token"]},
    {"token_endpoint_auth_method": "client_secret_jwt"},
    {"token_endpoint_auth_method": "private_key_jwt"},
    {"token_endpoint_auth_signing_alg": "HS256"},
    {"id_token_signed_response_alg": "none"},
    {"userinfo_signed_response_alg": "none"},
    {"request_object_signing_alg": "none"},
    {"require_signed_request_object": True},
    {"request_uris": ["http://app.example.com/request"]},
    {"jwks": {"keys": [PRIVATE_KEY]}},
    {"jwks": KEYS, "jwks_uri": "https://app.example.com/keys"},
    {"subject_type": "ephemeral"},
    {
        "subject_type": "pairwise",
        "grant_types": ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"],
    },
    {"frontchannel_logout_uri": "https://other.example.com/front"},
    {"frontchannel_logout_uri": "https://app.example.com:8443/front"},
    {"frontchannel_logout_uri": "http://app.example.com/front"},
    {"frontchannel_logout_uri": "https://app.example.com/front#x"},
    {"subject_type": "pairwise", "redirect_uris": [REDIRECT_URI, "https://shop.example.com/callback"]},
    {"subject_type": "pairwise", "redirect_uris": ["http://127.0.0.1/callback"]},
    {"subject_type": "pairwise", "sector_identifier_uri": "http://app.example.com/sector"},
    {"subject_type": "pairwise", "sector_identifier_uri": "https://10.0.0.1/sector"},
    {"application_type": "toaster"},
    {"post_logout_redirect_uris": ["data:text/html,x"]},
    {"contacts": ["x" * 257]},
    {"default_max_age": -1},
    {"software_statement": "a.b.c"},
    {"redirect_uris": REDIRECT_URI},
]


@pytest.mark.parametrize("metadata", METADATA, ids=str)
async def test_what_no_client_may_be_is_not_registered(
    registrant: Registrant, metadata: dict[str, object]
) -> None:
    answer = await registrant.register(APP | metadata)

    assert (answer.status, (await answer.json())["error"]) == (400, "invalid_client_metadata")


async def test_metadata_that_has_a_member_twice_is_not_registered(registrant: Registrant) -> None:
    answer = await registrant.http.post(
        "/auth/v1/clients_dyn",
        data='{"redirect_uris": ["https://app.example.com/"], "redirect_uris": ["https://app.example.com/"]}',
        headers={"Content-Type": "application/json"},
    )

    assert (answer.status, (await answer.json())["error"]) == (400, "invalid_client_metadata")
    assert "once" in (await answer.json())["error_description"]


PRIVATE_HOSTS = ["localhost", "127.0.0.1", "[::1]", "10.0.0.7", "192.168.1.1", "169.254.169.254", "[fd00::1]"]


@pytest.mark.parametrize("scheme", list(Scheme))
@pytest.mark.parametrize("member", ["jwks_uri", "backchannel_logout_uri", "request_uris"])
async def test_an_address_in_a_private_network_is_refused_in_development_too(
    member: str, scheme: Scheme
) -> None:
    identity = ProviderConfig(public_url="id.example.com", scheme=scheme)

    async with registering(DynamicClientsConfig(enabled=True), identity=identity) as registrant:
        for host in PRIVATE_HOSTS:
            uri = f"https://{host}/"
            answer = await registrant.register(APP | {member: [uri] if member == "request_uris" else uri})

            assert (answer.status, (await answer.json())["error"]) == (400, "invalid_client_metadata")


async def test_an_address_in_an_allowed_network_is_registered() -> None:
    outgoing = OutgoingConfig(allowed_networks=("10.0.0.0/24",))

    async with registering(DynamicClientsConfig(enabled=True), outgoing=outgoing) as registrant:
        allowed = await registrant.register(APP | {"backchannel_logout_uri": "https://10.0.0.7/"})
        refused = await registrant.register(APP | {"backchannel_logout_uri": "https://10.0.1.7/"})

    assert (allowed.status, refused.status) == (201, 400)


@pytest.mark.parametrize(
    "redirect_uris",
    [
        [],
        ["https://app.example.com/#here"],
        ["http://app.example.com/"],
        ["javascript:alert(1)"],
        ["https://me:secret@app.example.com/"],
        ["/callback"],
        ["com.example.app:/back"],
    ],
    ids=str,
)
async def test_where_no_answer_may_go_none_goes(registrant: Registrant, redirect_uris: list[str]) -> None:
    answer = await registrant.register(APP | {"redirect_uris": redirect_uris})

    assert (answer.status, (await answer.json())["error"]) == (400, "invalid_redirect_uri")


@pytest.mark.parametrize("body", [b"{", b"[]", b"[" * 10_000, b'"\xff"', b""])
async def test_what_is_no_metadata_is_not_read(registrant: Registrant, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}

    answer = await registrant.http.post("/auth/v1/clients_dyn", data=body, headers=headers)

    assert (answer.status, (await answer.json())["error"]) == (400, "invalid_client_metadata")


async def test_a_body_is_bounded_and_is_json(registrant: Registrant) -> None:
    large = await registrant.register(APP | {"padding": "p" * 16_384})
    form = await registrant.http.post("/auth/v1/clients_dyn", data={"client_name": "The app"})

    assert (large.status, form.status) == (413, 400)


async def test_an_address_registers_one_client_a_minute(registrant: Registrant) -> None:
    first = await registrant.register(address="198.51.100.7")
    second = await registrant.register(address="198.51.100.7")
    other = await registrant.register(address="198.51.100.8")
    registrant.deployment.clock.advance(timedelta(seconds=60))
    later = await registrant.register(address="198.51.100.7")

    assert [answer.status for answer in (first, second, other, later)] == [201, 429, 201, 201]
    assert second.headers["Retry-After"] == "60"


async def test_a_network_counts_as_one_address(registrant: Registrant) -> None:
    first = await registrant.register(address="2001:db8::1")
    second = await registrant.register(address="2001:db8::2")

    assert (first.status, second.status) == (201, 429)


async def test_of_registrations_at_once_one_is_made(registrant: Registrant) -> None:
    answers = await asyncio.gather(*(registrant.register(address="198.51.100.7") for _ in range(10)))

    assert sorted(answer.status for answer in answers) == [201, *[429] * 9]


async def test_what_is_refused_does_not_count(registrant: Registrant) -> None:
    refused = await registrant.register({"redirect_uris": []}, address="198.51.100.7")
    registered = await registrant.register(address="198.51.100.7")

    assert (refused.status, registered.status) == (400, 201)


async def test_with_a_token_of_the_operator_nobody_else_registers() -> None:
    async with registering(DynamicClientsConfig(enabled=True, reg_token=INITIAL)) as registrant:
        without = await registrant.register()
        wrong = await registrant.register(token=f"{INITIAL}x")
        right = await registrant.register(token=INITIAL)

        assert [answer.status for answer in (without, wrong, right)] == [401, 401, 201]
        assert (await wrong.json())["error"] == "invalid_token"
        assert wrong.headers["WWW-Authenticate"].startswith('Bearer error="invalid_token"')


@pytest.mark.parametrize("token", ["two words", "ümlaut", "x" * 1025])
def test_a_token_can_stand_in_a_header(token: str) -> None:
    with pytest.raises(ValueError, match=r"dynamic_clients\.reg_token"):
        DynamicClientsConfig(enabled=True, reg_token=token)


async def test_where_clients_do_not_register_themselves_there_is_no_such_address() -> None:
    async with registering(DynamicClientsConfig()) as registrant:
        metadata = await registrant.http.get("/auth/v1/.well-known/openid-configuration")

        assert (await registrant.register()).status == 404
        assert "registration_endpoint" not in await metadata.json()


@pytest.mark.parametrize("tenant", ["", "acme/"])
async def test_the_metadata_says_where_clients_register(registrant: Registrant, tenant: str) -> None:
    metadata = await registrant.http.get(f"/auth/v1/{tenant}.well-known/openid-configuration")

    assert (await metadata.json())["registration_endpoint"] == f"{ISSUER}{tenant}clients_dyn"


async def test_only_hashes_of_secret_and_token_are_kept(registrant: Registrant) -> None:
    client = await registrant.registered()

    kept = await registrant.deployment.store.of(CLIENTS).get(TenantId("default"), client["client_id"])

    assert kept is not None
    assert kept.registration is not None
    assert not any(client[name] in repr(kept) for name in ("client_secret", "registration_access_token"))
    assert client["registration_access_token"].encode() not in kept.registration.token_hash


async def test_administrators_see_who_registered_from_where(registrant: Registrant) -> None:
    answer = await registrant.register(address="198.51.100.7")

    admin = await administrator(registrant)
    client_id = (await answer.json())["client_id"]
    (event,) = [
        event
        for event in await (await admin.send("POST", "events", {"from": 0})).json()
        if event["typ"] == "Created" and event["text"] == f"client {client_id}"
    ]
    assert event["ip"] == "198.51.100.7"
    assert (await admin.send("GET", f"clients/{client_id}")).status == 200


async def test_a_client_that_nobody_uses_ends_after_an_hour(registrant: Registrant) -> None:
    client = await registrant.registered()
    registrant.deployment.clock.advance(timedelta(minutes=60) - timedelta(seconds=1))
    assert await registrant.is_known(client)

    registrant.deployment.clock.advance(timedelta(seconds=1))

    assert not await registrant.is_known(client)
    assert (await registrant.at("GET", client)).status == 401


async def signed_in(registrant: Registrant, client: dict[str, str]) -> int:
    """Return the status of the token endpoint for a code after the user's consent."""
    person = Somebody(registrant.http, ISSUER, "alice@example.com")
    begun = await person.begin()
    asked = begun | {"client_id": client["client_id"], "redirect_uri": REDIRECT_URI}
    calls = await person.sign_in(asked=asked)
    assert calls.status == 206, await calls.text()
    authorization_id = (await calls.json())["authorization_id"]
    accepted = await person.send(
        "POST", "/oidc/authorize/consent", authorization_id=authorization_id, decision="accept"
    )
    code = accepted.headers["location"].partition("code=")[2].partition("&")[0]
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": REDIRECT_URI,
        "client_id": client["client_id"],
        "client_secret": client["client_secret"],
        "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    }
    return (await registrant.http.post("/auth/v1/oidc/token", data=form)).status


async def test_a_client_that_people_let_in_stays(registrant: Registrant) -> None:
    client = await registrant.registered(token_endpoint_auth_method="client_secret_post")

    status = await signed_in(registrant, client)

    registrant.deployment.clock.advance(timedelta(days=365))
    assert status == 200
    assert await registrant.is_known(client)


async def test_a_client_of_a_tenant_is_nobody_elsewhere(registrant: Registrant) -> None:
    client = await (await registrant.register(issuer="acme/")).json()
    elsewhere = client | {"registration_client_uri": f"{ISSUER}clients_dyn/{client['client_id']}"}

    assert client["registration_client_uri"].startswith(f"{ISSUER}acme/clients_dyn/")
    assert (await registrant.at("GET", client)).status == 200
    assert (await registrant.at("GET", elsewhere)).status == 401


async def test_a_client_gets_those_types_of_authorization_details_that_are_open(
    registrant: Registrant,
) -> None:
    admin = await administrator(registrant)
    for name, is_open in (("accounts", True), ("payment", False)):
        members = {"name": name, "title": "See it", "self_registration": is_open}
        assert (await admin.send("POST", "authorization_details_types", members)).status == 200

    client = await registrant.registered(authorization_details_types=["accounts", "payment", "unknown"])
    without = await registrant.registered()
    changed = await registrant.at("PUT", client, APP | {"authorization_details_types": ["payment"]})

    assert client["authorization_details_types"] == ["accounts"]
    assert "authorization_details_types" not in without
    # Like scopes, the types stay if a change names none that the client may have.
    assert (await changed.json())["authorization_details_types"] == ["accounts"]
