"""Guessed passwords over HTTP: requests that are blocked, and requests that are not."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientResponse, encode_basic_auth

from identity.access.login_protection.config import CredentialStuffing, LoginProtectionConfig, Threshold
from identity.config import EventsSection
from tests.edge.oidc.people.owners import Owner, World, running
from tests.edge.oidc.people.somebody import Somebody
from tests.identity.authentication.passkeys.authenticator import SoftwareAuthenticator
from tests.identity.deployment import NOON, SECRET

GUESSER, HOME = "198.51.100.1", "198.51.100.2"
PROTECTION = LoginProtectionConfig(
    thresholds=(Threshold(failures=3, block_secs=600),), credential_stuffing=CredentialStuffing(threshold=8)
)
CLIENT: dict[str, Any] = {"headers": {"Authorization": encode_basic_auth("service", SECRET)}}
AUTHORIZATION = {"response_type": "code", "client_id": "service", "redirect_uri": "https://a.example/cb"}
# Requests of clients, of browsers that fetch documents, and of users without credentials.
OPEN: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "oidc/token", CLIENT | {"data": {"grant_type": "client_credentials"}}),
    ("POST", "oidc/introspect", CLIENT | {"data": {"token": "t"}}),
    ("POST", "oidc/token/revoke", CLIENT | {"data": {"token": "t"}}),
    ("POST", "oidc/par", CLIENT | {"data": AUTHORIZATION}),
    ("POST", "oidc/device", CLIENT | {"data": {}}),
    ("GET", "oidc/userinfo", {}),
    ("GET", "oidc/forward_auth", {}),
    ("GET", "oidc/certs", {}),
    ("GET", ".well-known/openid-configuration", {}),
    ("GET", "oidc/authorize", {"params": AUTHORIZATION}),
    ("GET", "oidc/sessioninfo", {}),
    ("GET", "oidc/logout", {}),
    ("POST", "pow", {}),
    ("GET", "users/register", {}),
    ("GET", "users/request_reset", {}),
    ("GET", "", {}),
]


@pytest.fixture
async def world() -> AsyncIterator[World]:
    events = EventsSection(login_protection=PROTECTION)
    async with running(trusted_proxies=("127.0.0.0/8",), events=events) as found:
        yield found


async def guess(somebody: Somebody, *, times: int) -> ClientResponse:
    """Sign in with different wrong passwords, and return the last response."""
    answers = [await somebody.sign_in(f"wrong-{number}") for number in range(times)]
    return answers[-1]


async def guess_many(world: World) -> None:
    """Try wrong credentials of many accounts, so that all sign-ins from the address are blocked."""
    for number in range(8):
        await guess(world.browser(f"user-{number}", address=GUESSER), times=1)
    # The edge caches block list results for a second.
    world.advance(seconds=1)


async def test_guesses_block_the_account_for_their_address_alone(world: World) -> None:
    guesser = world.browser(address=GUESSER)

    answers = [await guess(guesser, times=3), await guesser.sign_in()]

    assert [answer.status for answer in answers] == [401, 429]
    assert (answers[1].headers["Retry-After"], await answers[1].json()) == (
        "600",
        {
            "error": "TooManyRequests",
            "message": "there were too many failed sign-ins to this account from this network address",
            "timestamp": int(NOON.timestamp()),
        },
    )
    assert (await world.browser(address=HOME).sign_in()).status == 202
    assert (await world.browser("bob", address=GUESSER).sign_in()).status == 202


async def test_an_unknown_account_is_blocked_like_a_known_one(world: World) -> None:
    answers = [
        await guess(world.browser(name, address=GUESSER), times=4) for name in ("alice", "nobody-at-all")
    ]

    known, unknown = [(answer.status, await answer.json()) for answer in answers]
    assert known == unknown


async def test_a_list_of_credentials_blocks_every_sign_in_of_its_address_alone(world: World) -> None:
    await guess_many(world)

    refused = await world.browser(address=GUESSER).sign_in()

    assert (refused.status, refused.headers["Retry-After"]) == (429, "86399")
    assert (await world.browser(address=HOME).sign_in()).status == 202


@pytest.mark.parametrize(("method", "path", "options"), OPEN, ids=lambda part: part if str(part) else "entry")
async def test_guesses_keep_nobody_from_anything_but_sign_ins(
    world: World, method: str, path: str, options: dict[str, Any]
) -> None:
    await guess(world.browser(address=GUESSER), times=3)
    await guess_many(world)

    sent = {"headers": {}} | options
    sent["headers"] = sent["headers"] | {"X-Forwarded-For": GUESSER}
    answer = await world.admin.http.request(method, f"/auth/v1/{path}", **sent)

    assert answer.status != 429
    assert path != "oidc/token" or answer.status == 200


async def test_an_administrator_at_the_address_lifts_what_guesses_caused(world: World) -> None:
    await guess(world.browser(address=GUESSER), times=3)
    await guess_many(world)
    world.admin.headers["X-Forwarded-For"] = GUESSER

    listed = await world.admin.ask("GET", "/blacklist")
    lifted = await world.admin.send("DELETE", f"/blacklist/{GUESSER}")

    until = int(NOON.timestamp()) + 86_400
    assert listed == (200, {"ips": [{"ip": GUESSER, "exp": until, "reach": "sign_in"}]})
    assert lifted.status == 200
    assert (await world.browser(address=GUESSER).sign_in()).status == 202


async def test_guesses_keep_no_passkey_of_the_address_out(world: World) -> None:
    alice = await world.owner()
    await alice.add()
    await guess(world.browser(address=GUESSER), times=3)
    await guess_many(world)

    alice.person = world.browser(address=GUESSER)
    password = await world.browser("bob", address=GUESSER).sign_in()

    assert password.status == 429
    assert (await show_any(alice)).status == 202


def sign_off(somebody: Somebody) -> None:
    """Take the session from the browser, which keeps its other cookies."""
    somebody.http.session.cookie_jar.clear(lambda cookie: cookie.key == "GnomonSession")


async def test_a_list_of_credentials_keeps_out_no_browser_that_the_user_used_before(world: World) -> None:
    known, others = world.browser("bob", address=GUESSER), world.browser("alice", address=GUESSER)
    for browser in (known, others):
        assert (await browser.sign_in()).status == 202
        sign_off(browser)
    others.email = "bob@example.com"
    await guess_many(world)

    new = await world.browser("bob", address=GUESSER).sign_in()
    of_another = await others.sign_in()
    own = await known.sign_in()

    assert [new.status, of_another.status, own.status] == [429, 429, 202]


async def test_a_known_browser_guesses_no_more_than_others(world: World) -> None:
    known = world.browser("bob", address=GUESSER)
    assert (await known.sign_in()).status == 202
    sign_off(known)
    await guess_many(world)

    guessed = await guess(known, times=3)
    right = await known.sign_in()

    assert (guessed.status, right.status) == (401, 429)
    assert "to this account" in (await right.json())["message"]


async def test_a_session_at_the_address_goes_on(world: World) -> None:
    neighbour = world.browser("bob", address=GUESSER)
    assert (await neighbour.sign_in()).status == 202
    await guess(world.browser("bob", address=GUESSER), times=3)
    await guess_many(world)

    changed = await neighbour.own("PUT", "/self", given_name="Robert")
    account = await neighbour.send("GET", "/account")

    assert (changed.status, account.status) == (200, 200)
    assert await neighbour.is_signed_in()


async def test_wrong_secrets_of_clients_block_nobody(world: World) -> None:
    wrong = {"Authorization": encode_basic_auth("service", "wrong"), "X-Forwarded-For": GUESSER}
    right = CLIENT["headers"] | {"X-Forwarded-For": GUESSER}
    form = {"grant_type": "client_credentials"}

    refused = [
        (await world.admin.http.post("/auth/v1/oidc/token", data=form, headers=wrong)).status
        for _ in range(20)
    ]

    assert refused == [401] * 20
    assert (await world.admin.http.post("/auth/v1/oidc/token", data=form, headers=right)).status == 200
    assert (await world.browser(address=GUESSER).sign_in()).status == 202


async def test_a_block_ends_for_the_owner_at_the_same_address(world: World) -> None:
    await guess(world.browser(address=GUESSER), times=3)
    before = (await world.browser(address=GUESSER).sign_in()).status

    world.advance(seconds=600)

    assert (before, (await world.browser(address=GUESSER).sign_in()).status) == (429, 202)


async def test_bad_passkeys_of_nobody_keep_no_passkey_out(world: World) -> None:
    alice = await world.owner()
    await alice.add()
    stranger = Owner(world.browser(), SoftwareAuthenticator(world.origin))
    stranger.authenticator.create(await options_of(alice))

    refused = [(await show_any(stranger)).status for _ in range(4)]

    alice.person = world.browser()
    assert refused == [401] * 4
    assert (await show_any(alice)).status == 202


async def test_a_passkey_makes_up_for_bad_answers_before_it(world: World) -> None:
    alice = await world.owner()
    await alice.add()
    evil = "https://evil.example"

    statuses = []
    for origin in (evil, evil, world.origin, evil, evil, world.origin):
        alice.authenticator.origin = origin
        alice.person = world.browser()
        statuses.append((await alice.sign_in()).status)

    assert statuses == [401, 401, 202] * 2


async def options_of(owner: Owner) -> Any:
    """Return the creation options of a passkey."""
    token = await owner.person.proof()
    started = await owner.person.own(
        "POST", "/webauthn/register/start", passkey_name="other", mfa_mod_token_id=token
    )
    return (await started.json())["publicKey"]


async def show_any(owner: Owner) -> ClientResponse:
    begun = await owner.person.begin()
    started = await owner.person.send("POST", "/users/webauthn_start", purpose="Discoverable", **begun)
    document = await started.json()
    data = owner.authenticator.get(document["rcr"]["publicKey"])
    return await owner.person.send("POST", "/users/webauthn_finish", code=document["code"], data=data)
