from dataclasses import replace
from datetime import timedelta

import pytest

from identity.directory.client import CLIENTS
from server.platform.call import TenantId
from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.conftest import Http
from tests.identity.deployment import Deployment

NEW = {
    "id": "app",
    "name": "The app",
    "confidential": True,
    "redirect_uris": ["https://app.example.com/callback"],
}
WHOLE = {
    "id": "app",
    "name": "Renamed",
    "enabled": True,
    "confidential": True,
    "redirect_uris": ["https://app.example.com/other", "http://127.0.0.1/callback", "com.example.app:/back"],
    "post_logout_redirect_uris": ["https://app.example.com/bye"],
    "allowed_origins": ["https://app.example.com"],
    "flows_enabled": ["authorization_code", "client_credentials"],
    "access_token_signed_response_alg": "ES256",
    "id_token_alg": "EdDSA",
    "auth_code_lifetime": 30,
    "access_token_lifetime": 600,
    "scopes": ["openid", "email"],
    "default_scopes": ["openid"],
    "challenges": None,
    "contacts": ["ops@example.com"],
    "backchannel_logout_uri": "https://app.example.com/logout",
    "allowed_resources": ["https://api.example.com"],
    "default_aud": ["orders"],
    "claims": {"branch": "Ulm", "limits": [1, 2.5]},
    "claims_at_root": True,
    "consent": "once",
    "policy_uri": "https://app.example.com/privacy",
    "tos_uri": "https://app.example.com/terms",
    "fed_cm": True,
}
# RFC 7517, appendix A.
KEY = {
    "kty": "EC",
    "crv": "P-256",
    "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
    "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
}
PRIVATE_KEY = KEY | {"d": "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE"}
KEYS = {"keys": [KEY]}
KEYS_URI = "https://app.example.com/keys"


async def token_status(http: Http, client_id: str, secret: str) -> int:
    form = {
        "grant_type": "client_credentials",
        "client_id": client_id,
        "client_secret": secret,
        "scope": "openid",
    }
    return (await http.post("/auth/v1/oidc/token", data=form)).status


async def created(administrator: Administrator) -> str:
    """Create a client and return its secret."""
    answer = await administrator.send("POST", "clients", NEW)
    return str((await answer.json())["secret"])


async def test_a_client_is_created_with_the_settings_of_a_new_one(administrator: Administrator) -> None:
    answer = await administrator.send("POST", "clients", NEW)

    client = await answer.json()
    assert answer.status == 200
    assert len(client.pop("secret")) == 64
    assert client == await (await administrator.send("GET", "clients/app")).json()
    assert client["flows_enabled"] == ["authorization_code"]
    assert client["challenges"] == ["S256"]
    assert client["consent"] == "never"
    assert (client["access_token_alg"], client["access_token_signed_response_alg"]) == ("RS256", "RS256")
    assert (await administrator.typs())[0] == "Created"


async def test_only_a_hash_of_the_secret_is_kept(
    administrator: Administrator, deployment: Deployment
) -> None:
    secret = await created(administrator)

    (kept,) = [
        client
        for client in await deployment.store.of(CLIENTS).page(TenantId("default"))
        if client.id == "app"
    ]

    assert secret not in repr(kept)
    assert kept.secret_hash is not None
    assert secret.encode() not in kept.secret_hash
    assert (await administrator.send("GET", "clients/app/secret")).status == 405


async def test_a_client_is_changed_whole(administrator: Administrator, http: Http) -> None:
    secret = await created(administrator)

    answer = await administrator.send("PUT", "clients/app", WHOLE)

    client = await answer.json()
    assert answer.status == 200, client
    assert {name: client[name] for name in WHOLE} == WHOLE
    assert (client["access_token_alg"], client["id_token_signed_response_alg"]) == ("ES256", "EdDSA")
    assert "secret" not in client
    assert await token_status(http, "app", secret) == 200


async def test_a_client_has_a_front_channel_at_the_origin_of_a_redirect_uri(
    administrator: Administrator,
) -> None:
    await created(administrator)
    front_channel = {
        "frontchannel_logout_uri": "https://app.example.com:443/front",
        "frontchannel_logout_session_required": True,
    }

    answer = await administrator.send("PUT", "clients/app", WHOLE | front_channel)

    client = await answer.json()
    assert answer.status == 200, client
    assert {name: client[name] for name in front_channel} == front_channel


async def test_a_client_that_becomes_public_loses_its_secret(
    administrator: Administrator, http: Http
) -> None:
    secret = await created(administrator)
    public = WHOLE | {"confidential": False, "flows_enabled": ["authorization_code"], "challenges": ["S256"]}
    await administrator.send("PUT", "clients/app", public)

    answer = await administrator.send("PUT", "clients/app", WHOLE)

    fresh = (await answer.json())["secret"]
    assert await token_status(http, "app", secret) == 401
    assert await token_status(http, "app", fresh) == 200


@pytest.mark.parametrize(
    "change",
    [
        {"redirect_uris": ["/callback"]},
        {"redirect_uris": ["https://app.example.com/#here"]},
        {"redirect_uris": ["http://app.example.com/"]},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": ["https://me:secret@app.example.com/"]},
        {"redirect_uris": ["https://*.example.com\\@evil.example/"]},
        {"post_logout_redirect_uris": ["data:text/html,x"]},
        {"allowed_origins": ["https://app.example.com/path"]},
        {"allowed_resources": ["api"]},
        {"backchannel_logout_uri": "http://app.example.com/logout"},
        {"client_uri": "javascript:alert(1)"},
        {"frontchannel_logout_uri": "https://evil.example/front"},
        {"id_token_alg": "none"},
        {"userinfo_signed_response_alg": "none"},
        {"access_token_typ": "at"},
        {"introspection_signed_response_alg": "HS256"},
        {"id_token_alg": "HS256"},
        {"access_token_alg": "RS256"},
        {"flows_enabled": ["password"]},
        {"default_scopes": ["profile"]},
        {"confidential": False},
        {"auth_code_lifetime": 301},
        {"access_token_lifetime": 9},
        {"challenges": ["plain"]},
        {"default_aud": ["two words"]},
        {"default_aud": ["a" * 257]},
        {"claims": ["branch"]},
        {"claims": {"branch": "x" * 1024}},
        {"claims": {"sub": "root"}},
        {"claims": {"roles": ["admin"]}},
        {"consent": "sometimes"},
        {"jwks": KEYS, "jwks_uri": KEYS_URI},
        {
            "jwks": KEYS,
            "confidential": False,
            "flows_enabled": ["authorization_code"],
            "challenges": ["S256"],
        },
        {"jwks": {"keys": []}},
        {"jwks": {"keys": [PRIVATE_KEY]}},
        {"jwks": {"keys": [{"kty": "oct", "k": "AAAA"}]}},
        {"jwks": {}},
        {"jwks_uri": "http://app.example.com/keys"},
        {"token_endpoint_auth_method": "client_secret_jwt"},
        {"token_endpoint_auth_method": "none"},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"token_endpoint_auth_signing_alg": "HS256"},
        {"request_object_signing_alg": "none"},
        {"require_signed_request_object": True},
        {"request_uris": ["http://app.example.com/request"]},
        {"request_uris": ["https://app.example.com/request#a b"]},
        {"request_uris": [f"https://app.example.com/{'r' * 512}"]},
        {"policy_uri": "javascript:alert(1)"},
        {"policy_uri": "http://app.example.com/privacy"},
        {"tos_uri": "terms"},
        {"tos_uri": "https://app.example.com/" + "x" * 2048},
        {"fed_cm": "yes"},
        {"id": "other"},
        {"surprise": True},
    ],
    ids=str,
)
async def test_what_no_client_may_be_is_refused(
    administrator: Administrator, change: dict[str, object]
) -> None:
    await created(administrator)

    answer = await administrator.send("PUT", "clients/app", WHOLE | change)

    assert (answer.status, (await answer.json())["error"]) == (400, "BadRequest")
    assert (await (await administrator.send("GET", "clients/app")).json())["name"] == "The app"


@pytest.mark.parametrize(
    "members",
    [
        {"jwks_uri": "https://10.0.0.7/keys"},
        {"backchannel_logout_uri": "http://localhost:3000/logout"},
        {"request_uris": ["https://169.254.169.254/request"]},
    ],
    ids=str,
)
async def test_an_address_that_the_provider_connects_to_is_public(
    administrator: Administrator, members: dict[str, object]
) -> None:
    await created(administrator)

    answer = await administrator.send("PUT", "clients/app", WHOLE | members)

    [member] = members
    assert answer.status == 400
    assert (await answer.json())["message"].startswith(f"{member}: expected a public address")


@pytest.mark.parametrize(
    "member",
    [
        *(
            "jwks_uri",
            "backchannel_logout_uri",
            "sector_identifier_uri",
            "client_uri",
            "policy_uri",
            "tos_uri",
        ),
        *("backchannel_client_notification_endpoint", "frontchannel_logout_uri", "request_uris"),
        *("redirect_uris", "post_logout_redirect_uris", "allowed_origins"),
    ],
)
async def test_an_address_has_no_user_name_and_no_password(administrator: Administrator, member: str) -> None:
    await created(administrator)
    uri = "https://user:password@app.example.com/"

    answer = await administrator.send(
        "PUT", "clients/app", WHOLE | {member: [uri] if member.endswith("s") else uri}
    )

    assert answer.status == 400
    assert (await answer.json())["message"].startswith(f"{member}: expected")


async def test_a_private_address_that_a_client_has_from_before_does_not_stop_a_change(
    administrator: Administrator, deployment: Deployment
) -> None:
    await created(administrator)
    clients = deployment.store.of(CLIENTS)
    before = await clients.get(TenantId("default"), "app")
    assert before is not None
    await clients.replace(replace(before, backchannel_logout_uri="http://localhost:3000/logout"))

    kept = WHOLE | {"backchannel_logout_uri": "http://localhost:3000/logout", "name": "Renamed"}
    answer = await administrator.send("PUT", "clients/app", kept)

    assert answer.status == 200


async def test_an_id_is_taken_once(administrator: Administrator) -> None:
    await created(administrator)

    answer = await administrator.send("POST", "clients", NEW)

    assert answer.status == 409


async def test_a_secret_that_is_replaced_is_good_for_the_hours_that_were_asked_for(
    administrator: Administrator, deployment: Deployment, http: Http
) -> None:
    before = await created(administrator)
    await administrator.send("PUT", "clients/app", WHOLE)

    answer = await administrator.send("PUT", "clients/app/secret", {"cache_current_hours": 2})

    after = (await answer.json())["secret"]
    deployment.clock.advance(timedelta(hours=2) - timedelta(seconds=1))
    assert [await token_status(http, "app", secret) for secret in (before, after)] == [200, 200]
    deployment.clock.advance(timedelta(seconds=1))
    assert [await token_status(http, "app", secret) for secret in (before, after)] == [401, 200]


async def test_without_hours_the_secret_before_ends_at_once(administrator: Administrator, http: Http) -> None:
    before = await created(administrator)
    await administrator.send("PUT", "clients/app", WHOLE)

    await administrator.send("PUT", "clients/app/secret")

    assert await token_status(http, "app", before) == 401


async def test_a_new_secret_is_an_event_that_says_by_whom_and_from_where(
    administrator: Administrator,
) -> None:
    await created(administrator)
    key = await administrator.key("keeper", Secrets=["update"])

    await key.send("PUT", "clients/app/secret")

    told = await (await administrator.send("POST", "events", {"from": 0, "typ": "Changed"})).json()
    assert (told[0]["text"], told[0]["ip"]) == ("client app", "127.0.0.1")
    assert told[0]["actor"] == {"kind": "api_key", "id": "keeper", "name": "keeper"}


@pytest.mark.parametrize("hours", [0, 25, "1"])
async def test_other_hours_are_refused(administrator: Administrator, hours: object) -> None:
    await created(administrator)

    answer = await administrator.send("PUT", "clients/app/secret", {"cache_current_hours": hours})

    assert answer.status == 400


async def test_a_client_that_is_removed_is_gone(administrator: Administrator, http: Http) -> None:
    secret = await created(administrator)

    answer = await administrator.send("DELETE", "clients/app")

    assert answer.status == 200
    assert (await administrator.send("GET", "clients/app")).status == 404
    assert await token_status(http, "app", secret) == 401


@pytest.mark.parametrize("client_id", ["gnomon-console", "gnomon-pages"])
async def test_the_providers_own_clients_stay(administrator: Administrator, client_id: str) -> None:
    removed = await administrator.send("DELETE", f"clients/{client_id}")
    changed = await administrator.send("PUT", f"clients/{client_id}", WHOLE | {"id": client_id})

    assert (removed.status, changed.status) == (409, 409)


async def test_the_console_is_a_relying_party_with_least_scopes(administrator: Administrator) -> None:
    console = await (await administrator.send("GET", "clients/gnomon-console")).json()

    assert (console["confidential"], console["challenges"]) == (False, ["S256"])
    assert (console["flows_enabled"], console["scopes"]) == (["authorization_code"], ["openid"])
    assert console["redirect_uris"] == ["https://id.example.com/auth/v1/admin/callback"]


async def test_who_may_change_clients_may_not_have_their_secrets(administrator: Administrator) -> None:
    await created(administrator)
    public = WHOLE | {"confidential": False, "flows_enabled": ["authorization_code"], "challenges": ["S256"]}
    await administrator.send("PUT", "clients/app", public)
    key = await administrator.key("editor", Clients=["read", "update"])

    changed = await key.send("PUT", "clients/app", public)
    made_confidential = await key.send("PUT", "clients/app", WHOLE)
    rotated = await key.send("PUT", "clients/app/secret")

    assert (changed.status, made_confidential.status, rotated.status) == (200, 403, 403)


@pytest.mark.parametrize("keys", [{"jwks": KEYS, "jwks_uri": None}, {"jwks": None, "jwks_uri": KEYS_URI}])
async def test_a_client_has_keys_or_a_secret(
    administrator: Administrator, http: Http, keys: dict[str, object]
) -> None:
    before = await created(administrator)

    with_keys = await (await administrator.send("PUT", "clients/app", WHOLE | keys)).json()
    status = await token_status(http, "app", before)
    without = await (await administrator.send("PUT", "clients/app", WHOLE)).json()

    assert {name: with_keys[name] for name in keys} == keys
    assert "secret" not in with_keys
    assert status == 401
    assert (without["jwks"], without["jwks_uri"]) == (None, None)
    assert await token_status(http, "app", without["secret"]) == 200


async def test_a_client_with_a_secret_has_keys_for_its_requests_where_that_is_said(
    administrator: Administrator, http: Http
) -> None:
    secret = await created(administrator)
    signing = {
        "jwks": KEYS,
        "token_endpoint_auth_method": "client_secret_post",
        "token_endpoint_auth_signing_alg": None,
        "request_object_signing_alg": "ES256",
        "require_signed_request_object": True,
        "request_uris": ["https://app.example.com/request", "https://app.example.com/request#v2"],
    }

    answer = await administrator.send("PUT", "clients/app", WHOLE | signing)

    client = await answer.json()
    assert answer.status == 200, client
    assert {name: client[name] for name in signing} == signing
    assert await token_status(http, "app", secret) == 200


async def test_a_public_client_has_keys_for_its_requests_where_that_is_said(
    administrator: Administrator,
) -> None:
    await created(administrator)
    public = {
        "confidential": False,
        "flows_enabled": ["authorization_code"],
        "challenges": ["S256"],
        "jwks": KEYS,
        "token_endpoint_auth_method": "none",
    }

    answer = await administrator.send("PUT", "clients/app", WHOLE | public)

    assert answer.status == 200
    assert (await answer.json())["jwks"] == KEYS


async def test_who_may_change_clients_may_not_give_them_keys_of_its_own(administrator: Administrator) -> None:
    await created(administrator)
    key = await administrator.key("editor", Clients=["read", "update"])

    given = await key.send("PUT", "clients/app", WHOLE | {"jwks_uri": KEYS_URI})
    await administrator.send("PUT", "clients/app", WHOLE | {"jwks_uri": KEYS_URI})
    kept = await key.send("PUT", "clients/app", WHOLE | {"jwks_uri": KEYS_URI})
    exchanged = await key.send("PUT", "clients/app", WHOLE | {"jwks": KEYS})
    taken = await key.send("PUT", "clients/app", WHOLE)

    assert [answer.status for answer in (given, kept, exchanged, taken)] == [403, 200, 403, 403]


async def test_tenants_keep_their_clients_apart(administrator: Administrator) -> None:
    await created(administrator)

    assert (await administrator.send("GET", "acme/clients/app")).status == 404


async def test_an_administrator_sets_what_a_client_has_to_send_and_what_it_gets(
    administrator: Administrator,
) -> None:
    await created(administrator)
    strict = {
        "require_pushed_authorization_requests": True,
        "dpop_bound_access_tokens": True,
        "userinfo_signed_response_alg": "ES256",
        "access_token_typ": "at+jwt",
        "introspection_signed_response_alg": "EdDSA",
    }

    answer = await administrator.send("PUT", "clients/app", WHOLE | strict)
    again = await administrator.send("PUT", "clients/app", WHOLE)

    changed, reset = await answer.json(), await again.json()
    assert {name: changed[name] for name in strict} == strict
    assert {name: reset[name] for name in strict} == {
        "require_pushed_authorization_requests": False,
        "dpop_bound_access_tokens": False,
        "userinfo_signed_response_alg": None,
        "access_token_typ": "JWT",
        "introspection_signed_response_alg": "RS256",
    }


@pytest.mark.parametrize("client_id", ["%7Bnobody%7D", "a%0D%0Ab"])
async def test_an_id_with_braces_or_a_line_break_is_looked_up_like_any_other(
    administrator: Administrator, client_id: str
) -> None:
    found = await administrator.send("GET", f"clients/{client_id}")

    assert (found.status, (await found.json())["error"]) == (404, "NotFound")


async def test_a_client_with_the_id_of_a_deleted_one_does_not_revive_its_tokens(
    administrator: Administrator, http: Http, deployment: Deployment
) -> None:
    async def working() -> dict[str, str]:
        """Return the credentials of a new client that gets tokens in its own name."""
        secret = await created(administrator)
        await administrator.send("PUT", "clients/app", WHOLE)
        return {"client_id": "app", "client_secret": secret}

    async def is_active(token: str, credentials: dict[str, str]) -> bool:
        answer = await http.post("/auth/v1/oidc/introspect", data=credentials | {"token": token})
        return bool((await answer.json())["active"])

    before = await working()
    issued = await http.post("/auth/v1/oidc/token", data=before | {"grant_type": "client_credentials"})
    token = (await issued.json())["access_token"]
    assert await is_active(token, before)
    await administrator.send("DELETE", "clients/app")
    deployment.clock.advance(timedelta(seconds=10))

    after = await working()

    assert not await is_active(token, after)
    again = await http.post("/auth/v1/oidc/token", data=after | {"grant_type": "client_credentials"})
    assert await is_active((await again.json())["access_token"], after)
