"""A service behind a reverse proxy, used by browsers without script."""

from dataclasses import replace
from datetime import timedelta
from urllib.parse import urljoin, urlsplit

import pytest
import requests

from identity.directory.client import CLIENTS
from identity.directory.consents.support_access import SupportAccesses
from identity.directory.user import USERS, UserId
from identity.foundation.tenants import Tenant
from identity.protocol.forward_auth.records import FORWARD_SESSIONS
from server.platform.call import TenantId
from tests.edge.oidc.protocol.forward_auth.proxy import CALLBACK, CLIENT, CSRF_HEADER
from tests.edge.oidc.tenants.world import EMAIL, PASSWORD, World
from tests.people.person import SECONDS, Arrival, Page, Person

DEFAULT = TenantId("default")
COOKIE, CSRF_COOKIE = f"GnomonForward.{CLIENT}", f"GnomonForwardCsrf.{CLIENT}"


def get(person: Person, url: str) -> requests.Response:
    return person.browser.get(url, allow_redirects=False, timeout=SECONDS)


def came_back(person: Person, url: str) -> str:
    """Sign in for the address, and return the callback URL with its code."""
    away = get(person, url)
    assert away.status_code == 302, away.text
    return person.sign_in(away.headers["Location"]).url


def signed_in(person: Person, url: str) -> requests.Response:
    """Sign in for the address, and return the response of the service."""
    return person.browser.get(came_back(person, url), timeout=SECONDS)


def has_to_sign_in(answer: requests.Response) -> bool:
    return answer.status_code == 302 and "/oidc/authorize?" in answer.headers["Location"]


async def test_whoever_has_to_sign_in_comes_back_to_what_was_asked_for(provider: World, service: str) -> None:
    answer = await provider.person("", lambda person: signed_in(person, f"{service}/pages/1?a=b%20c&d"))

    served = answer.json()
    assert (answer.status_code, served["path"], served["method"]) == (200, "/pages/1?a=b%20c&d", "GET")
    told = {name: value for name, value in served["told"].items() if name.startswith("x-forwarded-")}
    assert told == {
        "x-forwarded-user": "alice",
        "x-forwarded-user-roles": "",
        "x-forwarded-user-groups": "readers",
        "x-forwarded-user-email": EMAIL,
        "x-forwarded-user-email-verified": "true",
        "x-forwarded-user-family-name": "",
        "x-forwarded-user-given-name": "Ada",
        "x-forwarded-user-mfa": "false",
    }


async def test_whoever_is_signed_in_is_let_through(provider: World, service: str) -> None:
    def act(person: Person) -> list[int]:
        signed_in(person, service)
        return [get(person, f"{service}/{path}").status_code for path in ("", "a", "b")]

    assert await provider.person("", act) == [200, 200, 200]


async def test_support_that_acts_as_a_user_is_not_let_through(provider: World, service: str) -> None:
    await provider.add_user("default", "ann", email="ann@example.com", groups=("readers",))
    users = provider.store.of(USERS)
    alice = await users.get(DEFAULT, "alice")
    assert alice is not None
    await users.replace(replace(alice, roles=("admin", "support")))
    settings = {"sign_in": {"support_role": "support"}, "registration": {}, "clients": {}}
    assert (await provider.administer("PUT", "tenants/default/settings", json=settings)).status == 200
    clock = provider.deployment.clock
    tenant = Tenant(DEFAULT, provider.issuer())
    await SupportAccesses(provider.store, clock).allow(
        tenant, UserId("ann"), clock.now() + timedelta(hours=1)
    )

    def act(person: Person) -> tuple[int, int]:
        assert signed_in(person, service).status_code == 200
        headers = {"x-csrf-token": str(person.session()["csrf_token"])}
        address = urljoin(person.issuer, "users/ann/impersonation")
        started = person.browser.post(address, json={"reason": "r"}, headers=headers, timeout=SECONDS)
        person.browser.cookies.clear(urlsplit(service).hostname, "/", COOKIE)
        away = get(person, service)
        page = person.visit(away.headers["Location"])
        assert isinstance(page, Page)
        arrival = person.submit(page)
        assert isinstance(arrival, Arrival)
        return started.status_code, get(person, arrival.url).status_code

    started, arrived = await provider.person("", act)

    assert (started, arrived) == (201, 400)
    kept = await provider.store.of(FORWARD_SESSIONS).page(DEFAULT)
    assert len(kept) == 1


async def test_pages_that_are_opened_at_the_same_time_all_come_back(provider: World, service: str) -> None:
    def act(person: Person) -> list[str]:
        away = [get(person, f"{service}/{name}").headers["Location"] for name in ("one", "two")]
        arrivals = [person.sign_in(location).url for location in away]
        return [person.browser.get(url, timeout=SECONDS).json()["path"] for url in arrivals]

    assert await provider.person("", act) == ["/one", "/two"]


async def test_signing_out_is_felt_at_the_next_request(provider: World, service: str) -> None:
    def act(person: Person) -> requests.Response:
        assert signed_in(person, service).status_code == 200
        question = person.visit(urljoin(person.issuer, "oidc/logout"))
        assert isinstance(question, Page)
        person.confirm_logout(question)
        return get(person, service)

    assert has_to_sign_in(await provider.person("", act))


async def test_it_lasts_as_long_as_an_access_token_of_the_client(provider: World, service: str) -> None:
    person = Person(provider.issuer(), EMAIL, PASSWORD)
    await provider.person("", lambda _: signed_in(person, service))
    cookies = person.browser.cookies.get_dict()

    async def status() -> int:
        answer = await provider.http.get(service, cookies=cookies, allow_redirects=False)
        return answer.status

    provider.deployment.clock.advance(timedelta(seconds=1799))
    before = await status()
    provider.deployment.clock.advance(timedelta(seconds=1))

    assert (before, await status()) == (200, 302)
    person.close()


async def test_it_ends_with_the_account(provider: World, service: str) -> None:
    person = Person(provider.issuer(), EMAIL, PASSWORD)
    await provider.person("", lambda _: signed_in(person, service))
    users = provider.store.of(USERS)
    user = await users.get(TenantId("default"), "alice")
    assert user is not None

    await users.replace(replace(user, is_enabled=False))

    assert has_to_sign_in(await provider.person("", lambda _: get(person, service)))
    person.close()


async def test_it_ends_with_what_the_person_granted(provider: World, service: str) -> None:
    def act(person: Person) -> requests.Response:
        signed_in(person, service)
        session = person.session()
        person.browser.delete(
            urljoin(person.issuer, f"users/alice/consents/{CLIENT}"),
            headers={"x-csrf-token": str(session["csrf_token"])},
            timeout=SECONDS,
        )
        return get(person, service)

    assert has_to_sign_in(await provider.person("", act))


async def test_a_client_turns_away_who_is_in_none_of_its_groups(provider: World, service: str) -> None:
    clients = provider.store.of(CLIENTS)
    client = await clients.get(TenantId("default"), CLIENT)
    assert client is not None
    person = Person(provider.issuer(), EMAIL, PASSWORD)
    await provider.person("", lambda _: signed_in(person, service))

    await clients.replace(replace(client, restrict_group_prefix="staff/"))

    assert has_to_sign_in(await provider.person("", lambda _: get(person, service)))
    person.close()


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_change_needs_the_csrf_pair(provider: World, service: str, method: str) -> None:
    def act(person: Person) -> list[int]:
        signed_in(person, service)
        token = person.browser.cookies[CSRF_COOKIE]
        session = {COOKIE: person.browser.cookies[COOKIE]}
        whole = session | {CSRF_COOKIE: token}
        attempts: list[tuple[dict[str, str], dict[str, str]]] = [
            (whole, {}),
            (whole, {CSRF_HEADER: "forged"}),
            (session, {CSRF_HEADER: token}),
            (session | {CSRF_COOKIE: "forged"}, {CSRF_HEADER: "forged"}),
            (whole, {CSRF_HEADER: token}),
        ]
        return [
            requests.request(
                method, service, cookies=cookies, headers=headers, allow_redirects=False, timeout=SECONDS
            ).status_code
            for cookies, headers in attempts
        ]

    assert await provider.person("", act) == [403, 403, 403, 403, 200]


async def test_the_database_has_no_csrf_token(provider: World, service: str) -> None:
    def act(person: Person) -> str:
        signed_in(person, service)
        return str(person.browser.cookies[CSRF_COOKIE])

    token = await provider.person("", act)

    [session] = await provider.store.of(FORWARD_SESSIONS).page(TenantId("default"))
    assert token not in session.csrf_token


@pytest.mark.parametrize(("shown", "status"), [("token-of-the-version-before", 200), ("forged", 403)])
async def test_a_sign_in_of_the_version_before_keeps_its_csrf_token(
    provider: World, service: str, shown: str, status: int
) -> None:
    cookie = await provider.person("", lambda person: cookie_of(person, service))
    sessions = provider.store.of(FORWARD_SESSIONS)
    [session] = await sessions.page(TenantId("default"))
    await sessions.replace(replace(session, csrf_token="token-of-the-version-before"))

    def change(_person: Person) -> int:
        cookies = {COOKIE: cookie, CSRF_COOKIE: shown}
        headers = {CSRF_HEADER: shown}
        return requests.post(
            service, cookies=cookies, headers=headers, allow_redirects=False, timeout=SECONDS
        ).status_code

    assert await provider.person("", change) == status


def cookie_of(person: Person, service: str) -> str:
    signed_in(person, service)
    return str(person.browser.cookies[COOKIE])


async def test_the_answer_to_another_browser_is_worth_nothing(provider: World, service: str) -> None:
    """Login CSRF, with the attacker's account: RFC 6749 §10.12."""

    def act(person: Person) -> tuple[requests.Response, requests.Response]:
        callback = came_back(person, f"{service}/mine")
        with requests.Session() as victim:
            victim.get(service, allow_redirects=False, timeout=SECONDS)
            stolen = victim.get(callback, allow_redirects=False, timeout=SECONDS)
        return stolen, person.browser.get(callback, timeout=SECONDS)

    stolen, own = await provider.person("", act)

    assert (stolen.status_code, "Location" in stolen.headers, COOKIE in stolen.cookies) == (403, False, False)
    assert own.json()["path"] == "/mine"


async def test_an_answer_is_good_once(provider: World, service: str) -> None:
    def act(person: Person) -> list[int]:
        callback = came_back(person, service)
        return [get(person, callback).status_code for _ in range(2)]

    assert await provider.person("", act) == [302, 403]


@pytest.mark.parametrize(
    "answer",
    [
        "?state={state}&code={code}",
        "?state={state}&code={code}&iss=https://evil.example/",
        "?state={state}&error=access_denied&iss={iss}",
        "?state=unheard-of&code={code}&iss={iss}",
        "?code={code}&iss={iss}",
        "?state={state}&state={state}&code={code}&iss={iss}",
    ],
)
async def test_an_answer_that_is_not_whole_signs_nobody_in(
    provider: World, service: str, answer: str
) -> None:
    def act(person: Person) -> requests.Response:
        found = person.sign_in(get(person, service).headers["Location"]).parameters
        return get(person, f"{service}{CALLBACK}{answer.format(**found)}")

    response = await provider.person("", act)

    assert (response.status_code, COOKIE in response.cookies) == (403, False)


async def test_a_code_of_another_request_is_worth_nothing(provider: World, service: str) -> None:
    def act(person: Person) -> requests.Response:
        first, second = (
            person.sign_in(get(person, service).headers["Location"]).parameters for _ in range(2)
        )
        mixed = first | {"code": second["code"]}
        query = "&".join(f"{name}={value}" for name, value in mixed.items())
        return get(person, f"{service}{CALLBACK}?{query}")

    response = await provider.person("", act)

    assert (response.status_code, COOKIE in response.cookies) == (400, False)


async def test_another_clients_cookie_counts_for_nothing(provider: World, service: str) -> None:
    await provider.add_app("default", id="shop", redirect_uris=(f"{service}/auth/v1/shop",))

    def act(person: Person) -> requests.Response:
        signed_in(person, service)
        cookies = {"GnomonForward.shop": person.browser.cookies[COOKIE]}
        return requests.get(
            f"{provider.issuer()}clients/shop/forward_auth?danger_cookie_insecure=true",
            cookies=cookies,
            headers={
                "X-Forwarded-Proto": "http",
                "X-Forwarded-Host": urlsplit(service).netloc,
                "X-Forwarded-Uri": "/",
                "X-Forwarded-Method": "GET",
            },
            timeout=SECONDS,
        )

    assert (await provider.person("", act)).status_code == 401
