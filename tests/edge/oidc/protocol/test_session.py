import pytest

from edge.oidc.config import AccessConfig, CookieMode
from gnomon.identity.v1 import session_service_pb2 as pb
from gnomon.identity.v1.browser_pb2 import SessionCookie
from server.platform.errors import Unauthenticated
from tests.edge.oidc.protocol.provider import Provider, running

SESSION = "/auth/v1/oidc/session"
INFO = "/auth/v1/oidc/sessioninfo"

EXPIRY, IDLE = 1_900_000_000, 1_899_990_000
BEGUN = pb.BeginSessionResponse(
    session=pb.Session(
        id="s1", csrf_token="proof", expires_at=EXPIRY, idle_until=IDLE, state=pb.SESSION_STATE_INIT
    ),
    cookie=SessionCookie(value="s3cret", max_age=14_400, csrf_token="proof"),
)
SIGNED_IN = pb.GetSessionResponse(
    session=pb.Session(
        id="s1",
        csrf_token="proof",
        user_id="ada",
        roles=["admin", "clerk"],
        expires_at=EXPIRY,
        idle_until=IDLE,
        state=pb.SESSION_STATE_AUTH,
    )
)
TIMES = {"exp": "2030-03-17T17:46:40Z", "timeout": "2030-03-17T15:00:00Z"}


async def test_a_session_begins(provider: Provider) -> None:
    provider.answers(begin_session=BEGUN)

    response = await provider.http.post(SESSION)

    begun = await response.json()
    assert (response.status, begun) == (201, {"id": "s1", "csrf_token": "proof", "state": "Init", **TIMES})
    assert response.headers["Set-Cookie"].startswith("__Host-GnomonSession=s3cret;")


async def test_a_session_that_is_there_stays(provider: Provider) -> None:
    provider.answers(begin_session=pb.BeginSessionResponse(session=BEGUN.session))

    response = await provider.http.post(SESSION, headers={"Cookie": "__Host-GnomonSession=s3cret"})

    assert (response.status, await response.read(), "Set-Cookie" in response.headers) == (200, b"", False)
    assert provider.asked(pb.BeginSessionRequest).browser.session == "s3cret"


@pytest.mark.parametrize(
    ("mode", "name", "attributes"),
    [
        (CookieMode.HOST, "__Host-GnomonSession", {"Secure", "Path=/"}),
        (CookieMode.SECURE, "__Secure-GnomonSession", {"Secure", "Path=/"}),
        (CookieMode.DANGER_INSECURE, "GnomonSession", {"Path=/"}),
    ],
)
async def test_the_cookie_is_as_strict_as_configured(
    mode: CookieMode, name: str, attributes: set[str]
) -> None:
    async with running(AccessConfig(cookie_mode=mode)) as provider:
        provider.answers(begin_session=BEGUN)

        response = await provider.http.post(SESSION)

    pair, *found = response.headers["Set-Cookie"].split("; ")
    assert pair == f"{name}=s3cret"
    assert set(found) == {"HttpOnly", "SameSite=Lax", "Max-Age=14400"} | attributes


async def test_a_tenant_sees_no_cookie_of_another(provider: Provider) -> None:
    provider.answers(begin_session=BEGUN)

    response = await provider.http.post(
        "/auth/v1/acme/oidc/session",
        headers={"Cookie": "__Host-GnomonSession=default; __Host-GnomonSession.umbrella=theirs"},
    )

    assert provider.asked(pb.BeginSessionRequest).browser.session == ""
    assert response.headers["Set-Cookie"].startswith("__Host-GnomonSession.acme=s3cret;")


@pytest.mark.parametrize("value", ["x" * 257, "\u00fc"])
async def test_a_cookie_that_was_never_set_counts_as_none(provider: Provider, value: str) -> None:
    provider.answers(begin_session=BEGUN)

    await provider.http.post(SESSION, headers={"Cookie": f"__Host-GnomonSession={value}"})

    assert provider.asked(pb.BeginSessionRequest).browser.session == ""


async def test_a_session_says_who_is_signed_in(provider: Provider) -> None:
    provider.answers(get_session=SIGNED_IN)

    found = await (await provider.http.get(INFO)).json()

    user = {"user_id": "ada", "roles": "admin,clerk"}
    assert found == {"id": "s1", **user, "state": "Auth", **TIMES}


async def test_the_csrf_token_is_given_out_again(provider: Provider) -> None:
    provider.answers(get_session=SIGNED_IN)

    found = await (await provider.http.get(f"{INFO}/xsrf")).json()

    assert (found["csrf_token"], found["user_id"]) == ("proof", "ada")


@pytest.mark.parametrize("path", [INFO, f"{INFO}/xsrf"])
async def test_nothing_is_said_of_a_session_that_is_not_signed_in(provider: Provider, path: str) -> None:
    provider.answers(get_session=Unauthenticated("there is no session"))

    response = await provider.http.get(path)

    assert (response.status, (await response.json())["error"]) == (401, "Unauthorized")
