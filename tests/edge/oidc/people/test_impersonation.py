"""Support acts as a user who allowed it, over HTTP: from the permission to the end of every token."""

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec
import pytest
from aiohttp import ClientResponse

from gnomon.identity.v1 import directory_service_pb2 as directory_pb2
from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceStub
from identity.directory.consents.support_access import SupportAccesses
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant
from server.platform.call import TenantId
from tests.edge.oidc.people.mailed import Mailed, mailed
from tests.edge.oidc.people.provider import BASE
from tests.edge.oidc.people.somebody import PASSWORD, Somebody
from tests.edge.oidc.protocol.provider import hidden_fields, page_of
from tests.identity.deployment import NOON

CALLBACK = "https://app.example/cb"
APP = {"id": "app", "name": "The application", "confidential": False, "redirect_uris": [CALLBACK]}
SCOPES = ["openid", "email", "offline_access", "identity:write"]
FLOWS = ["authorization_code", "refresh_token"]
# RFC 7636, appendix B.
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
REASON = "Ticket 4711: the list is empty"
SETTINGS = {
    "sign_in": {"support_role": "support", "support_minutes": 20},
    "registration": {},
    "clients": {},
}


@dataclass
class World:
    """Alice, who needs help, and Sam of support, each at a browser."""

    mailed: Mailed
    alice: Somebody
    sam: Somebody

    async def set(self, **sign_in: Any) -> None:
        changed = await self.mailed.admin.send(
            "PUT", "/tenants/default/settings", json=SETTINGS | {"sign_in": sign_in}
        )
        assert changed.status == 200, await changed.text()

    async def allow(self, hours: int = 1) -> ClientResponse:
        return await self.alice.own("PUT", "/support_access", hours=hours)

    async def start(self, reason: str = REASON, *, user_id: str = "") -> ClientResponse:
        """Let Sam act as a user; his browser then has the session of support."""
        answer = await self.sam.send(
            "POST", f"/users/{user_id or self.alice.user_id}/impersonation", reason=reason
        )
        if answer.status == 201:
            self.sam.csrf_token = (await answer.json())["csrf_token"]
        return answer

    async def acting(self) -> Somebody:
        """Return Sam's browser in the role of Alice."""
        assert (await self.allow()).status == 200
        answer = await self.start()
        assert answer.status == 201, await answer.text()
        return replace(self.sam, user_id=self.alice.user_id)

    async def events(self) -> list[dict[str, Any]]:
        _, found = await self.mailed.admin.ask("POST", "/events", json={"from": 0})
        return [each for each in found if "Support" in each["typ"] or "Impersonation" in each["typ"]]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with mailed(tmp_path / "letters") as found:
        _, app = await found.admin.ask("POST", "/clients", json=APP)
        changed = await found.admin.send(
            "PUT", "/clients/app", json=app | {"flows_enabled": FLOWS, "scopes": SCOPES}
        )
        assert changed.status == 200, await changed.text()
        await found.admin.send("POST", "/roles", json={"role": "support"})
        sam = await person(found, "sam@example.com", "admin", "support")
        world = World(found, await found.signed_in(), sam)
        await world.set(**SETTINGS["sign_in"])
        yield world


async def person(world: Mailed, email: str, *roles: str) -> Somebody:
    """Create a user with these roles, and sign the user in at a browser."""
    made = {"email": email, "language": "en", "roles": roles, "password": PASSWORD}
    status, user = await world.admin.ask("POST", "/users", json=made)
    assert status == 200, user
    found = Somebody(world.browser(), world.admin.deployment.identity.issuer, email, user["id"])
    answer = await found.sign_in()
    assert answer.status == 202, await answer.text()
    return found


async def authorized(browser: Somebody, **parameters: str) -> dict[str, list[str]]:
    """Return the response parameters of a silent authorization request, unless `prompt` is another."""
    asked = {
        "client_id": "app",
        "response_type": "code",
        "redirect_uri": CALLBACK,
        "scope": "openid",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "prompt": "none",
    } | parameters
    response = await browser.http.get(f"{BASE}/oidc/authorize?{urlencode(asked)}", allow_redirects=False)
    assert response.status in {302, 303}, await response.text()
    return parse_qs(urlsplit(response.headers["Location"]).query)


async def redeemed(world: World, **form: str) -> ClientResponse:
    return await world.mailed.admin.http.post(f"{BASE}/oidc/token", data={"client_id": "app"} | form)


async def code_redeemed(world: World, code: str) -> ClientResponse:
    return await redeemed(
        world, grant_type="authorization_code", code=code, redirect_uri=CALLBACK, code_verifier=VERIFIER
    )


async def tokens(world: World, browser: Somebody, scope: str = "openid") -> dict[str, Any]:
    answered = await authorized(browser, scope=scope)
    response = await code_redeemed(world, answered["code"][0])
    assert response.status == 200, await response.text()
    return dict(await response.json())


def claims(token: str) -> dict[str, Any]:
    payload = token.split(".")[1]
    return dict(msgspec.json.decode(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))))


async def is_active(world: World, token: str) -> bool:
    headers = {"Authorization": f"Bearer {token}"}
    response = await world.mailed.admin.http.get(f"{BASE}/oidc/userinfo", headers=headers)
    return response.status == 200


async def user_at(browser: Somebody) -> str:
    """Return the id of the user of a browser's session, empty without one."""
    response = await browser.http.get(f"{BASE}/oidc/sessioninfo")
    return str((await response.json())["user_id"]) if response.status == 200 else ""


def session_of(browser: Somebody) -> str:
    """Return the value of the session cookie."""
    return next(each.value for each in browser.http.session.cookie_jar if each.key == "GnomonSession")


async def principal(world: World, browser: Somebody) -> directory_pb2.Principal:
    """Return the caller of the process API that the session of a browser stands for."""
    directory = DirectoryServiceStub(world.mailed.admin.deployment.system_channel)
    asked = directory_pb2.GetSignedInPrincipalRequest(
        sessions=[directory_pb2.PresentedSession(cookie=session_of(browser))],
        peer_address="127.0.0.1",
        is_read=True,
    )
    return (await directory.GetSignedInPrincipal(asked)).principal


async def stop(browser: Somebody, csrf_token: str) -> ClientResponse:
    return await browser.http.post(
        f"{BASE}/oidc/impersonation/stop", data={"csrf_token": csrf_token}, allow_redirects=False
    )


async def test_a_tenant_without_a_support_role_has_no_support(world: World) -> None:
    await world.set()

    allowed, started = await world.allow(), await world.start()
    shown = await (await world.alice.own("GET", "/support_access")).json()

    assert (allowed.status, started.status) == (409, 403)
    assert shown == {"available": False}


async def test_nobody_acts_as_a_user_who_has_not_allowed_it(world: World) -> None:
    refused = await world.start()

    assert refused.status == 403
    assert await user_at(world.sam) == world.sam.user_id
    assert [(each["typ"], each["text"]) for each in await world.events()] == [
        ("ImpersonationRefused", "SUPPORT_NOT_ALLOWED")
    ]


@pytest.mark.parametrize("hours", [0, 169, -1])
async def test_a_permission_has_a_bound(world: World, hours: int) -> None:
    refused = await world.allow(hours)

    assert refused.status == 400


async def test_a_permission_ends_by_itself(world: World) -> None:
    allowed = await (await world.allow(2)).json()
    world.mailed.admin.deployment.clock.advance(timedelta(hours=1, minutes=10))
    renewed = await world.sam.sign_in()
    before = await (await world.alice.own("GET", "/support_access")).json()

    world.mailed.admin.deployment.clock.advance(timedelta(minutes=51))

    refused = await world.start()
    assert renewed.status == 202
    assert allowed == {"allowed_until": int((NOON + timedelta(hours=2)).timestamp())}
    assert before == {"available": True, **allowed}
    assert refused.status == 403


async def test_support_acts_as_the_user_and_returns_to_its_own_session(world: World) -> None:
    sam = await world.acting()

    acting_as = await user_at(sam)
    stopped = await stop(sam, world.sam.csrf_token)

    assert acting_as == world.alice.user_id
    assert (stopped.status, stopped.headers["Location"]) == (303, f"{BASE}/account")
    assert await user_at(sam) == world.sam.user_id


async def test_every_token_names_the_support_person(world: World) -> None:
    sam = await world.acting()

    issued = await tokens(world, sam)
    again = await (
        await redeemed(world, grant_type="refresh_token", refresh_token=issued["refresh_token"])
    ).json()

    for token in (issued["access_token"], issued["id_token"], again["access_token"], again["id_token"]):
        read = claims(token)
        assert (read["sub"], read["act"]) == (world.alice.user_id, {"sub": world.sam.user_id})
    read = claims(issued["id_token"])
    assert read["amr"] == ["pwd", "impersonation"]
    assert read["auth_time"] == int(NOON.timestamp())


async def test_tokens_of_the_user_name_nobody_else(world: World) -> None:
    await world.acting()

    issued = await tokens(world, world.alice)

    assert "act" not in claims(issued["access_token"])
    assert "act" not in claims(issued["id_token"])
    assert claims(issued["id_token"])["amr"] == ["pwd"]


async def test_tokens_end_with_the_session_and_have_no_right_of_administration(world: World) -> None:
    sam = await world.acting()
    world.mailed.admin.deployment.clock.advance(timedelta(minutes=15))

    issued = await tokens(world, sam, "openid offline_access identity:write")

    read = claims(issued["access_token"])
    assert read["scope"] == "openid"
    assert read["exp"] == int((NOON + timedelta(minutes=20)).timestamp())
    world.mailed.admin.deployment.clock.advance(timedelta(minutes=6))
    late = await redeemed(world, grant_type="refresh_token", refresh_token=issued["refresh_token"])
    assert (late.status, await user_at(sam)) == (400, "")


async def withdraw(world: World, _sam: Somebody) -> None:
    assert (await world.alice.own("DELETE", "/support_access")).status == 204


async def end_session(world: World, _sam: Somebody) -> None:
    listed = await (await world.alice.own("GET", "/sessions")).json()
    [of_support] = [each for each in listed if "impersonator" in each]
    assert of_support["impersonator"] == "sam@example.com"
    assert (await world.alice.own("DELETE", f"/sessions/{of_support['id']}")).status == 200


async def stop_acting(world: World, sam: Somebody) -> None:
    assert (await stop(sam, world.sam.csrf_token)).status == 303


async def disable_support(world: World, _sam: Somebody) -> None:
    status, _ = await world.mailed.admin.ask(
        "PATCH", f"/users/{world.sam.user_id}", json={"put": [{"key": "enabled", "value": False}]}
    )
    assert status == 200


async def end_own_session(world: World, _sam: Somebody) -> None:
    listed = await (await world.mailed.admin.send("GET", f"/users/{world.sam.user_id}/sessions")).json()
    [own] = [each["id"] for each in listed]
    assert (await world.mailed.admin.send("DELETE", f"/sessions/id/{own}")).status == 200


async def sign_out(world: World, sam: Somebody) -> None:
    answer = await sam.http.post(f"{BASE}/oidc/logout", data={"csrf_token": world.sam.csrf_token})
    assert answer.status == 200


async def sign_in_on_top(world: World, sam: Somebody) -> None:
    sam = replace(sam, email="sam@example.com", csrf_token=world.sam.csrf_token)
    answer = await sam.sign_in()
    assert answer.status == 202, await answer.text()


@pytest.mark.parametrize(
    "end",
    [withdraw, end_session, stop_acting, disable_support, end_own_session, sign_out, sign_in_on_top],
)
async def test_an_end_takes_session_codes_and_tokens_at_once(world: World, end: Any) -> None:
    sam = await world.acting()
    code = (await authorized(sam))["code"][0]
    issued = await tokens(world, sam)
    own = await tokens(world, world.alice)

    await end(world, sam)

    assert await user_at(sam) != world.alice.user_id
    assert not await is_active(world, issued["access_token"])
    refreshed = await redeemed(world, grant_type="refresh_token", refresh_token=issued["refresh_token"])
    assert (refreshed.status, (await code_redeemed(world, code)).status) == (400, 400)
    assert await is_active(world, own["access_token"])
    assert "ImpersonationEnded" in [each["typ"] for each in await world.events()]


async def test_a_support_person_has_one_session_at_a_time(world: World) -> None:
    own, own_token = session_of(world.sam), world.sam.csrf_token
    sam = await world.acting()
    issued = await tokens(world, sam)
    # Another window of the browser restores its cookie.
    sam.http.session.cookie_jar.update_cookies({"GnomonSession": own}, sam.http.make_url("/"))
    world.sam.csrf_token = own_token

    again = await world.start()

    assert again.status == 201, await again.text()
    assert not await is_active(world, issued["access_token"])
    listed = await (await world.alice.own("GET", "/sessions")).json()
    assert len([each for each in listed if "impersonator" in each]) == 1


async def test_the_session_of_the_user_goes_on(world: World) -> None:
    await world.acting()

    await world.alice.own("DELETE", "/support_access")

    assert await user_at(world.alice) == world.alice.user_id


async def test_every_step_names_both_people(world: World) -> None:
    clock = world.mailed.admin.deployment.clock
    await world.allow()
    clock.advance(timedelta(seconds=1))
    await world.start()
    clock.advance(timedelta(seconds=1))
    await stop(world.sam, world.sam.csrf_token)
    clock.advance(timedelta(seconds=1))
    await world.alice.own("DELETE", "/support_access")

    events = await world.events()

    found = [(each["typ"], each["actor"]["name"], each["user_id"]) for each in reversed(events)]
    alice = world.alice.user_id
    assert found == [
        ("SupportAccessAllowed", "alice@example.com", alice),
        ("ImpersonationStarted", "sam@example.com", alice),
        ("ImpersonationEnded", "sam@example.com", alice),
        ("SupportAccessWithdrawn", "alice@example.com", alice),
    ]
    assert next(each["text"] for each in events if each["typ"] == "ImpersonationStarted") == REASON


@pytest.mark.parametrize("reason", ["", "x" * 201, "two\nlines", "   "])
async def test_a_reason_is_a_bounded_text(world: World, reason: str) -> None:
    await world.allow()

    refused = await world.start(reason)

    assert refused.status == 400
    assert await user_at(world.sam) == world.sam.user_id


async def test_the_user_gets_a_message_with_a_link_that_ends_it(world: World) -> None:
    sam = await world.acting()

    path = await world.mailed.letters.path("Support signed in to your account", to="alice@example.com")
    page = await page_of(await world.mailed.browser().get(path))
    assert page is not None
    ended = await world.mailed.browser().post(path)

    assert ended.status == 200, await ended.text()
    assert await user_at(sam) == ""
    assert (await world.start()).status == 401
    assert (await (await world.alice.own("GET", "/support_access")).json()).get("allowed_until") is None


@pytest.mark.parametrize(
    ("method", "path", "members"),
    [
        ("PUT", "/self", {"given_name": "Mallory"}),
        ("PUT", "/self", {"email": "m@example.com", "mfa_mod_token_id": "x"}),
        ("PUT", "/self", {"password_new": "a new and quite long one", "password_current": PASSWORD}),
        ("PUT", "/self/preferred_username", {"preferred_username": "mallory"}),
        ("POST", "/mfa_token", {"password": PASSWORD}),
        ("POST", "/webauthn/register/start", {"passkey_name": "p"}),
        ("POST", "/one_time_codes", {"name": "n", "mfa_mod_token_id": "x"}),
        ("POST", "/recovery_codes", {"mfa_mod_token_id": "x"}),
        ("POST", "/email_codes", {"mfa_mod_token_id": "x"}),
        ("DELETE", "/self/delete", {"mfa_mod_token_id": "x"}),
        ("DELETE", "/consents/app", {}),
        ("DELETE", "/sessions", {}),
        ("PUT", "/support_access", {"hours": 168}),
        ("DELETE", "/support_access", {}),
        ("POST", "/impersonation", {"reason": REASON}),
    ],
)
async def test_support_changes_nothing_in_the_account(
    world: World, method: str, path: str, members: dict[str, Any]
) -> None:
    sam = await world.acting()
    before = await (await world.mailed.admin.send("GET", f"/users/{world.alice.user_id}")).json()

    refused = await sam.own(method, path, **members)

    assert refused.status == 403, await refused.text()
    assert "support person" in (await refused.json())["message"]
    after = await (await world.mailed.admin.send("GET", f"/users/{world.alice.user_id}")).json()
    assert after == before
    assert await world.alice.is_signed_in()


async def test_support_does_not_get_the_export_of_what_is_stored_about_the_user(world: World) -> None:
    sam = await world.acting()

    refused = await sam.own("GET", "/personal_data")
    own = await world.alice.own("GET", "/personal_data")

    assert (refused.status, own.status) == (403, 200), await refused.text()


@pytest.mark.parametrize("path", ["/users", "/clients", "/events/stream", "/sessions"])
async def test_support_administers_nothing_meanwhile(world: World, path: str) -> None:
    sam = await world.acting()
    granted = await world.mailed.admin.send(
        "PATCH",
        f"/users/{world.alice.user_id}",
        json={"put": [{"key": "roles", "value": ["admin"]}]},
    )

    refused = await sam.http.get(f"{BASE}{path}")

    assert granted.status == 200, await granted.text()
    assert (refused.status, await user_at(sam)) == (403, world.alice.user_id)


async def test_in_the_process_api_support_has_the_users_rights_without_administration(world: World) -> None:
    sam = await world.acting()
    granted = await world.mailed.admin.send(
        "PATCH", f"/users/{world.alice.user_id}", json={"put": [{"key": "roles", "value": ["admin"]}]}
    )

    seen = [await principal(world, browser) for browser in (sam, world.alice)]

    assert granted.status == 200
    assert [each.subject for each in seen] == [world.alice.user_id] * 2
    assert [sorted(each.permissions) for each in seen] == [[], ["identity:read", "identity:write"]]
    assert [each.acting for each in seen] == [world.sam.user_id, ""]


async def test_in_the_process_api_a_token_names_the_support_person(world: World) -> None:
    sam = await world.acting()
    directory = DirectoryServiceStub(world.mailed.admin.deployment.system_channel)

    async def acting(token: str) -> str:
        payload = msgspec.json.encode(claims(token))
        asked = directory_pb2.GetPrincipalRequest(subject=world.alice.user_id, claims=payload)
        return (await directory.GetPrincipal(asked)).principal.acting

    of_support = (await tokens(world, sam))["access_token"]
    of_the_user = (await tokens(world, world.alice))["access_token"]

    assert [await acting(of_support), await acting(of_the_user)] == [world.sam.user_id, ""]


@pytest.mark.parametrize(
    "parameters",
    [{"prompt": "login"}, {"max_age": "3600"}, {"prompt": "login consent"}, {"prompt": "create"}],
)
async def test_support_does_not_pass_for_a_sign_in_of_the_user(
    world: World, parameters: dict[str, str]
) -> None:
    sam = await world.acting()

    answered = await authorized(sam, **parameters)

    assert answered["error"] == ["login_required"]
    assert await user_at(sam) == world.alice.user_id


@pytest.mark.parametrize(
    ("path", "members"),
    [
        ("/oidc/device/verify", {"user_code": "ABCD-EFGH", "pow": "x", "device_accepted": "accept"}),
        ("/oidc/authorize/terms", {"authorization_id": "x", "version": "1", "decision": "accept"}),
        ("/oidc/authorize/consent", {"authorization_id": "x", "decision": "accept"}),
    ],
)
async def test_support_answers_no_question_for_the_user(
    world: World, path: str, members: dict[str, Any]
) -> None:
    sam = await world.acting()

    refused = await sam.send("POST", path, **members)

    assert refused.status == 403, await refused.text()
    assert "support person" in (await refused.json())["message"]


async def test_support_accepts_no_request_of_backchannel_authentication(world: World) -> None:
    sam = await world.acting()

    refused = await sam.http.post(
        f"{BASE}/sign-in-requests",
        data={"request_id": "x", "decision": "accept", "csrf_token": sam.csrf_token},
    )

    assert refused.status == 403


async def test_support_consents_to_nothing(world: World) -> None:
    sam = await world.acting()
    allowed = await authorized(sam)

    asked = {"client_id": "app", "response_type": "code", "redirect_uri": CALLBACK, "scope": "openid"}
    pkce = {"code_challenge": CHALLENGE, "code_challenge_method": "S256", "prompt": "consent"}
    page = await page_of(await sam.http.get(f"{BASE}/oidc/authorize?{urlencode(asked | pkce)}"))
    refused = await sam.http.post(
        f"{BASE}/oidc/authorize/consent",
        data=hidden_fields(page) | {"decision": "accept"},
        allow_redirects=False,
    )
    consented = await sam.http.post(
        f"{BASE}/oidc/authorize/refresh",
        data=hidden_fields(page),
        allow_redirects=False,
    )

    assert "code" in allowed
    assert refused.status == 403, await refused.text()
    assert consented.status == 303, await consented.text()
    assert await (await world.alice.own("GET", "/consents")).json() == []
    assert "error=consent_required" in consented.headers["Location"]


async def test_nobody_acts_as_an_administrator(world: World) -> None:
    root = await person(world.mailed, "root@example.com", "admin")
    allowed = await root.own("PUT", "/support_access", hours=1)

    refused = await world.start(user_id=root.user_id)

    assert (allowed.status, refused.status) == (200, 403)
    refusals = [each["text"] for each in await world.events() if each["typ"] == "ImpersonationRefused"]
    assert refusals == ["USER_ADMINISTERS"]


@pytest.mark.parametrize("roles", [("admin",), ("support",), ()])
async def test_only_administrators_with_the_support_role_act_as_users(
    world: World, roles: tuple[str, ...]
) -> None:
    await world.allow()
    other = await person(world.mailed, "other@example.com", *roles)

    refused = await replace(world, sam=other).start()

    assert refused.status == 403
    assert await user_at(other) == other.user_id


async def test_an_administrator_of_the_deployment_acts_as_no_user_of_a_tenant(world: World) -> None:
    admin, cookies = world.mailed.admin, world.sam.http.session.cookie_jar
    changed = await admin.send("PUT", "/tenants/acme/settings", json=SETTINGS)
    made = {"email": "ann@example.com", "language": "en", "roles": [], "password": PASSWORD}
    _, ann = await admin.ask("POST", "/acme/users", json=made)
    deployment = admin.deployment
    until = deployment.clock.now() + timedelta(hours=1)
    acme = Tenant(TenantId("acme"), f"{deployment.identity.issuer}acme/")
    await SupportAccesses(deployment.store, deployment.clock).allow(acme, UserId(ann["id"]), until)
    # The console presents the session of the deployment at every tenant.
    session = next(cookie.value for cookie in cookies if cookie.key == "GnomonSession")
    cookies.update_cookies({"GnomonSession.acme": session})

    reads = await world.sam.send("GET", f"/acme/users/{ann['id']}")
    refused = await world.sam.send("POST", f"/acme/users/{ann['id']}/impersonation", reason=REASON)

    assert changed.status == 200
    assert (reads.status, refused.status) == (200, 403)


async def test_a_token_or_a_missing_csrf_token_starts_nothing(world: World) -> None:
    await world.allow()
    path = f"/users/{world.alice.user_id}/impersonation"

    by_token = await world.mailed.admin.send("POST", path, json={"reason": REASON})
    without = await world.sam.http.post(f"{BASE}{path}", json={"reason": REASON})

    assert (by_token.status, without.status) == (403, 401)
    assert await user_at(world.sam) == world.sam.user_id


async def test_stopping_needs_the_csrf_token_of_the_session(world: World) -> None:
    sam = await world.acting()

    refused = await stop(sam, "x" * 32)

    assert refused.status == 401
    assert await user_at(sam) == world.alice.user_id


async def test_stopping_without_a_session_of_support_changes_nothing(world: World) -> None:
    stopped = await stop(world.alice, world.alice.csrf_token)

    assert stopped.status == 303
    assert await user_at(world.alice) == world.alice.user_id


@pytest.mark.parametrize("path", ["/account", "/", "/device", "/oidc/logout", "/oidc/terms", "/nowhere"])
async def test_every_page_shows_as_whom_support_acts(world: World, path: str) -> None:
    sam = await world.acting()

    response = await sam.http.get(
        f"{BASE}{path}", headers={"Accept": "text/html", "Sec-Fetch-Mode": "navigate"}
    )

    text = await response.text()
    assert "You act as <strong>alice@example.com</strong>" in text
    assert f'action="{BASE}/oidc/impersonation/stop"' in text
    assert sam.csrf_token in text
    own = await (await world.alice.http.get(f"{BASE}{path}", headers={"Accept": "text/html"})).text()
    assert "You act as" not in own


async def test_the_banner_ends_with_the_session(world: World) -> None:
    sam = await world.acting()
    await stop(sam, world.sam.csrf_token)

    text = await (await sam.http.get(f"{BASE}/account")).text()

    assert "sam@example.com" in text
    assert "You act as" not in text


async def test_the_user_sees_permission_and_session_of_support(world: World) -> None:
    await world.acting()

    text = await (await world.alice.http.get(f"{BASE}/account")).text()

    assert "Support: sam@example.com acts as you" in text
    assert "Support may sign in as you until" in text


async def test_a_permission_goes_with_its_user(world: World) -> None:
    sam = await world.acting()

    removed = await world.mailed.admin.send("DELETE", f"/users/{world.alice.user_id}")

    assert removed.status in {200, 204}
    assert await user_at(sam) == ""
