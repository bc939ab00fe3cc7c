"""FedCM from the socket to the records."""

from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from tests.edge.oidc.people.somebody import PASSWORD
from tests.edge.oidc.protocol.fed_cm.site import ORIGIN, Browser, browser
from tests.identity.deployment import ISSUER

NEW_PASSWORD = "a new horse battery staple"


async def claims_of(alice: Browser, token: str) -> dict[str, Any]:
    """Verify an ID token with the published keys, and return its claims."""
    published = await (await alice.get("/auth/v1/oidc/certs")).json()
    return dict(jwt.decode(token, KeySet.import_key_set(published), algorithms=["RS256"]).claims)


async def test_a_browser_finds_the_way_from_the_host_to_the_token(alice: Browser) -> None:
    await alice.sign_in()
    known = await (await alice.get("/.well-known/web-identity")).json()

    [config_url] = known["provider_urls"]
    config = await (await alice.get(config_url.removeprefix("https://id.example.com"))).json()

    assert config_url == f"{ISSUER}fed_cm/config"
    assert {name: config[name] for name in ("accounts_endpoint", "login_url")} == {
        name: known[name] for name in ("accounts_endpoint", "login_url")
    }
    assert config == {
        "accounts_endpoint": f"{ISSUER}fed_cm/accounts",
        "client_metadata_endpoint": f"{ISSUER}fed_cm/client_meta",
        "id_assertion_endpoint": f"{ISSUER}fed_cm/token",
        "disconnect_endpoint": f"{ISSUER}fed_cm/disconnect",
        "login_url": f"{ISSUER}fed_cm/login",
    }


async def test_whoever_signs_in_is_offered_and_gets_a_token_for_the_page(alice: Browser) -> None:
    signed_in = await alice.sign_in()
    offered = await alice.accounts()

    answer = await alice.token()

    claims = await claims_of(alice, (await answer.json())["token"])
    assert signed_in.headers["Set-Login"] == "logged-in"
    assert offered == (
        200,
        [
            {
                "id": alice.person.user_id,
                "name": "Alice Liddell",
                "email": "alice@example.com",
                "given_name": "Alice",
                "approved_clients": [],
                "login_hints": [alice.person.user_id, "alice@example.com"],
                "domain_hints": [],
            }
        ],
    )
    assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert (claims["iss"], claims["aud"], claims["sub"]) == (ISSUER, "shop", alice.person.user_id)
    assert (claims["nonce"], claims["email"], claims["name"]) == ("n1", "alice@example.com", "Alice Liddell")


async def test_the_shop_says_what_it_promises(alice: Browser) -> None:
    answer = await alice.get("/auth/v1/fed_cm/client_meta?client_id=shop", Origin=ORIGIN)

    assert await answer.json() == {
        "privacy_policy_url": f"{ORIGIN}/privacy",
        "terms_of_service_url": f"{ORIGIN}/terms",
    }


@pytest.mark.parametrize("client_id", ["shop", "nobody", "gnomon-console"])
async def test_to_another_page_every_client_is_unknown(alice: Browser, client_id: str) -> None:
    await alice.sign_in()

    answer = await alice.get(
        f"/auth/v1/fed_cm/client_meta?client_id={client_id}", Origin="https://evil.example"
    )
    token = await alice.token(origin="https://evil.example", client_id=client_id)

    refusals = [await answer.json(), await token.json()]
    assert (answer.status, token.status) == (400, 400)
    assert "Access-Control-Allow-Origin" not in {*answer.headers, *token.headers}
    assert {refusal["message"] for refusal in refusals} == {"there is no client with this id and origin"}


async def test_what_was_granted_is_seen_by_the_person_and_taken_back_by_either(alice: Browser) -> None:
    await alice.sign_in()
    await alice.token()
    granted = await (await alice.person.own("GET", "/consents")).json()
    _, [account] = await alice.accounts()

    disconnected = await alice.disconnect()

    _, [later] = await alice.accounts()
    assert [consent["client_id"] for consent in granted] == ["shop"]
    assert (account["approved_clients"], later["approved_clients"]) == (["shop"], [])
    assert await disconnected.json() == {"account_id": alice.person.user_id}
    assert await (await alice.person.own("GET", "/consents")).json() == []


async def test_whoever_took_it_back_is_not_signed_in_silently(alice: Browser) -> None:
    await alice.sign_in()
    await alice.token()
    silent = {"is_auto_selected": "true", "disclosure_text_shown": "false"}
    before = await alice.token(**silent)

    await alice.person.own("DELETE", "/consents/shop")

    after = await alice.token(**silent)
    assert (before.status, after.status) == (200, 403)
    assert await after.json() == {"error": {"code": "consent_required"}}


async def test_a_logout_ends_it_all(alice: Browser) -> None:
    await alice.sign_in()
    way = alice.way

    confirmation = {"csrf_token": alice.person.csrf_token}
    logout = await alice.admin.http.post("/auth/v1/oidc/logout", data=confirmation)
    alice.keep(logout)

    assert (logout.headers["Set-Login"], alice.way) == ("logged-out", "")
    alice.way = way
    assert await alice.accounts() == (401, [])
    assert (await alice.token()).status == 401


async def test_an_administrator_ends_it_too(alice: Browser) -> None:
    await alice.sign_in()

    await alice.admin.send("DELETE", f"/sessions/{alice.person.user_id}")

    assert await alice.accounts() == (401, [])


async def test_a_new_password_has_a_new_way(alice: Browser) -> None:
    await alice.sign_in()
    before = alice.way

    alice.keep(await alice.person.own("PUT", "/self", password_current=PASSWORD, password_new=NEW_PASSWORD))

    after = alice.way
    assert before != after
    assert (await alice.accounts())[0] == 200
    alice.way = before
    assert await alice.accounts() == (401, [])


async def test_a_disabled_account_is_offered_no_more(alice: Browser) -> None:
    await alice.sign_in()
    _, user = await alice.admin.ask("GET", f"/users/{alice.person.user_id}")

    await alice.admin.send(
        "PUT",
        f"/users/{alice.person.user_id}",
        json={
            "email": user["email"],
            "language": "en",
            "roles": [],
            "enabled": False,
            "email_verified": True,
        },
    )

    assert await alice.accounts() == (401, [])


async def test_the_cookie_opens_nothing_else(alice: Browser) -> None:
    await alice.sign_in()
    alice.person.http.session.cookie_jar.clear()

    stolen = {"Cookie": f"GnomonSession={alice.way}; GnomonFedCM={alice.way}"}
    session = await alice.admin.http.get("/auth/v1/oidc/sessioninfo", headers=stolen)
    consents = await alice.admin.http.get(f"/auth/v1/users/{alice.person.user_id}/consents", headers=stolen)

    assert (session.status, consents.status) == (401, 401)


async def test_a_tenant_knows_no_session_and_no_page_of_another(alice: Browser) -> None:
    await alice.sign_in()

    answer = await alice.admin.http.get(
        "/auth/v1/acme/fed_cm/accounts",
        headers={"Sec-Fetch-Dest": "webidentity", "Cookie": f"GnomonFedCM.acme={alice.way}"},
    )
    config = await (await alice.get("/auth/v1/acme/fed_cm/config")).json()

    assert answer.status == 401
    assert config["id_assertion_endpoint"] == f"{ISSUER}acme/fed_cm/token"


async def test_a_tenant_that_there_is_not_has_no_fed_cm(alice: Browser) -> None:
    assert (await alice.get("/auth/v1/nobody/fed_cm/config")).status == 404


async def test_services_that_have_it_off_answer_for_themselves() -> None:
    async with browser(is_enabled=False) as alice:
        await alice.sign_in()

        known = await alice.get("/.well-known/web-identity")
        accounts = await alice.get("/auth/v1/fed_cm/accounts")

    assert (known.status, accounts.status) == (404, 404)


async def test_the_browsers_window_signs_in_whoever_lacks_the_cookie(alice: Browser) -> None:
    await alice.sign_in()
    alice.way = ""

    page = await alice.admin.http.get("/auth/v1/sign-in", params={"iss": ISSUER, "code": "c"})
    alice.keep(page)

    assert page.headers["Set-Login"] == "logged-in"
    assert (await alice.accounts())[0] == 200
