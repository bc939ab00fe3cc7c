"""Self-service of accounts over HTTP, from the socket to the records."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from edge.kept_documents import KeptDocuments
from edge.oidc.config import AccessConfig, CookieMode, OidcConfig
from edge.oidc.routes import routes
from identity.directory.config import UsersConfig
from tests.edge.oidc.people.provider import Administrator
from tests.edge.oidc.people.somebody import PASSWORD, Somebody
from tests.identity.deployment import CONFIG, NOON, deployed

NEW_PASSWORD = "a new and quite long one"
NOON_SECONDS = int(NOON.timestamp())

ALICE = {"email": "alice@example.com", "language": "en", "roles": [], "password": PASSWORD}


class World:
    """Alice, her browsers, and an administrator."""

    def __init__(self, server: TestServer, admin: Administrator, user_id: str) -> None:
        self.admin = admin
        self.user_id = user_id
        self._server = server
        self.browsers: list[TestClient[web.Request, web.Application]] = []

    async def alice(self, password: str = PASSWORD) -> Somebody:
        """Alice, signed in at another browser."""
        http = TestClient(self._server)
        self.browsers.append(http)
        alice = Somebody(http, self.admin.deployment.identity.issuer, "alice@example.com", self.user_id)
        answer = await alice.sign_in(password)
        assert answer.status == 202, await answer.text()
        return alice


@asynccontextmanager
async def running(users: UsersConfig) -> AsyncIterator[World]:
    config = replace(CONFIG, users=users)
    async with deployed(config) as deployment:
        app = web.Application()
        access = AccessConfig(cookie_mode=CookieMode.DANGER_INSECURE)
        app.add_routes(
            routes(
                deployment.channel,
                OidcConfig(),
                deployment.clock,
                kept=KeptDocuments(deployment.identity.revision),
                access=access,
            )
        )
        token = (await deployment.issue()).access_token
        server = TestServer(app)
        async with TestClient(server) as http:
            admin = Administrator(deployment, http, {"Authorization": f"Bearer {token}"})
            _, alice = await admin.ask("POST", "/users", json=ALICE)
            world = World(server, admin, alice["id"])
            yield world
            for browser in world.browsers:
                await browser.session.close()


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running(UsersConfig()) as found:
        yield found


async def test_a_person_proves_once_more_who_it_is(world: World) -> None:
    alice = await world.alice()

    answer = await alice.own("POST", "/mfa_token", password=PASSWORD)

    token = await answer.json()
    assert (answer.status, len(token.pop("id"))) == (200, 32)
    assert token == {"user_id": world.user_id, "exp": NOON_SECONDS + 120, "ip": "127.0.0.1"}


async def test_a_wrong_password_proves_nothing(world: World) -> None:
    alice = await world.alice()

    answer = await alice.own("POST", "/mfa_token", password="wrong")

    assert (answer.status, (await answer.json())["message"]) == (400, "the password is wrong")
    assert "InvalidLogins" in await world.admin.typs()


async def test_nobody_else_proves_it(world: World) -> None:
    assert (await world.admin.send("POST", f"/users/{world.user_id}/mfa_token", json={})).status == 400
    answer = await world.admin.send("POST", f"/users/{world.user_id}/mfa_token", json={"password": PASSWORD})

    assert answer.status == 401


async def test_names_and_values_are_the_persons_to_change(world: World) -> None:
    alice = await world.alice()

    answer = await alice.own(
        "PUT", "/self", given_name="Alice", language="fr", user_values={"city": "Oxford"}
    )

    changed = await answer.json()
    assert (answer.status, changed["given_name"], changed["language"]) == (200, "Alice", "fr")
    assert (changed["user_values"], changed["email"]) == ({"city": "Oxford"}, "alice@example.com")
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize(
    "change",
    [
        {"email": "alice@example.org"},
        {"roles": ["admin"]},
        {"enabled": False},
        {"user_values": {"preferred_username": "alice"}},
        {"given_name": "A\u202elice"},
        {"password_new": NEW_PASSWORD},
        {"password_new": NEW_PASSWORD, "password_current": "wrong"},
        {"password_new": NEW_PASSWORD, "mfa_mod_token_id": "unheard-of"},
        {"password_new": "short", "password_current": PASSWORD},
    ],
    ids=str,
)
async def test_what_is_not_the_persons_to_change_stays(world: World, change: dict[str, object]) -> None:
    alice = await world.alice()
    before = await world.admin.ask("GET", f"/users/{world.user_id}")

    answer = await alice.own("PUT", "/self", **change)

    assert (answer.status, (await answer.json())["error"]) == (400, "BadRequest")
    assert await world.admin.ask("GET", f"/users/{world.user_id}") == before
    assert await alice.is_signed_in()


async def test_the_address_of_now_may_be_sent_along(world: World) -> None:
    alice = await world.alice()

    assert (await alice.own("PUT", "/self", email="Alice@Example.com", given_name="Alice")).status == 200


async def test_a_new_password_signs_out_everywhere_else(world: World) -> None:
    alice, elsewhere = await world.alice(), await world.alice()
    stolen = {cookie.key: cookie.value for cookie in alice.http.session.cookie_jar}

    answer = await alice.own("PUT", "/self", password_new=NEW_PASSWORD, password_current=PASSWORD)

    assert answer.status == 200, await answer.text()
    kept = {cookie.key: cookie.value for cookie in alice.http.session.cookie_jar}
    assert (await alice.is_signed_in(), await elsewhere.is_signed_in()) == (True, False)
    assert kept.keys() == stolen.keys()
    assert kept != stolen
    assert answer.headers["x-csrf-token"] != alice.csrf_token
    assert "UserPasswordChanged" in await world.admin.typs()


async def test_after_a_new_password_the_old_one_is_good_for_nothing(world: World) -> None:
    alice = await world.alice()
    proof = await alice.proof()

    answer = await alice.own("PUT", "/self", password_new=NEW_PASSWORD, mfa_mod_token_id=proof)

    assert answer.status == 200, await answer.text()
    assert await (await world.alice(NEW_PASSWORD)).is_signed_in()
    refused = await Somebody(alice.http, alice.issuer, "alice@example.com").sign_in(PASSWORD)
    assert refused.status == 401


async def test_a_proof_is_good_once(world: World) -> None:
    alice = await world.alice()
    proof = await alice.proof()
    first = await alice.own("PUT", "/self", password_new=NEW_PASSWORD, mfa_mod_token_id=proof)
    alice.csrf_token = first.headers["x-csrf-token"]

    second = await alice.own("PUT", "/self", password_new="another one again", mfa_mod_token_id=proof)

    assert (first.status, second.status) == (200, 400)


async def test_who_has_a_username_keeps_it(world: World) -> None:
    alice, path = await world.alice(), f"/users/{world.user_id}/self/preferred_username"
    forced = {"preferred_username": "liddell", "force_overwrite": True}

    given = await alice.own("PUT", "/self/preferred_username", preferred_username="alice")
    changed = await alice.own("PUT", "/self/preferred_username", **forced)
    by_administrator = await world.admin.send("PUT", path, json={"preferred_username": "liddell"})
    by_force = await world.admin.send("PUT", path, json=forced)

    assert [given.status, changed.status, by_administrator.status] == [200, 403, 403]
    assert (await given.json())["user_values"]["preferred_username"] == "alice"
    assert (by_force.status, (await by_force.json())["user_values"]["preferred_username"]) == (200, "liddell")


@pytest.mark.parametrize(("name", "status"), [("root", 400), ("Not A Name", 400), ("taken", 409)])
async def test_a_username_that_nobody_may_have_is_refused(world: World, name: str, status: int) -> None:
    taken = {"email": "bob@example.com", "user_values": {"preferred_username": "taken"}}
    await world.admin.send("POST", "/users", json=ALICE | taken)
    alice = await world.alice()

    assert (await alice.own("PUT", "/self/preferred_username", preferred_username=name)).status == status


async def test_where_it_is_configured_usernames_change_and_other_ones_are_reserved() -> None:
    users = UsersConfig(preferred_username_immutable=False, preferred_username_blacklist=("boss",))
    async with running(users) as world:
        alice = await world.alice()

        statuses = [
            (await alice.own("PUT", "/self/preferred_username", preferred_username=name)).status
            for name in ("alice", "root", "boss", None)
        ]

    assert statuses == [200, 200, 400, 200]


async def test_only_some_attributes_are_the_persons_own(world: World) -> None:
    await world.admin.send("POST", "/users/attr", json={"name": "branch"})
    await world.admin.send("POST", "/users/attr", json={"name": "shoe", "user_editable": True})
    alice = await world.alice()

    editable = await alice.own("GET", "/attr/editable")
    own = await alice.own("PUT", "/attr", values=[{"key": "shoe", "value": 44}])
    foreign = await alice.own("PUT", "/attr", values=[{"key": "branch", "value": "Ulm"}])

    assert await editable.json() == {"values": [{"name": "shoe", "user_editable": True}]}
    assert (own.status, foreign.status) == (200, 403)


async def test_nobody_deletes_an_account_where_that_is_not_configured(world: World) -> None:
    alice = await world.alice()

    asked = await alice.own("GET", "/self/delete")
    deleted = await alice.own("DELETE", "/self/delete", mfa_mod_token_id=await alice.proof())

    assert (asked.status, (await asked.json())["error"]) == (406, "NotAccepted")
    assert deleted.status == 406
    assert await alice.is_signed_in()


async def test_where_it_is_configured_a_person_leaves_with_everything() -> None:
    async with running(UsersConfig(self_delete=True)) as world:
        alice, elsewhere = await world.alice(), await world.alice()
        asked = await alice.own("GET", "/self/delete")
        unproved = await alice.own("DELETE", "/self/delete", mfa_mod_token_id="unheard-of")

        deleted = await alice.own("DELETE", "/self/delete", mfa_mod_token_id=await alice.proof())

        assert [asked.status, unproved.status, deleted.status] == [202, 400, 204]
        assert not list(alice.http.session.cookie_jar)
        assert not await elsewhere.is_signed_in()
        assert (await world.admin.send("GET", f"/users/{world.user_id}")).status == 404
        assert "Deleted" in await world.admin.typs()


async def test_a_person_sees_where_it_is_signed_in(world: World) -> None:
    alice, elsewhere = await world.alice(), await world.alice()

    answer = await alice.own("GET", "/sessions")

    sessions = await answer.json()
    cookies = {cookie.value for each in (alice, elsewhere) for cookie in each.http.session.cookie_jar}
    assert (answer.status, sorted(session["is_current"] for session in sessions)) == (200, [False, True])
    assert {
        (session["signed_in_at"], session["last_seen"], session["remote_ip"]) for session in sessions
    } == {(NOON_SECONDS, NOON_SECONDS, "127.0.0.1")}
    assert cookies.isdisjoint(session["id"] for session in sessions)


async def test_a_person_ends_one_session_or_all_others(world: World) -> None:
    alice, second, third = [await world.alice() for _ in range(3)]
    sessions = {session["id"]: session for session in await (await second.own("GET", "/sessions")).json()}
    (second_id,) = (name for name, session in sessions.items() if session["is_current"])

    one = await alice.own("DELETE", f"/sessions/{second_id}")
    after_one = [await each.is_signed_in() for each in (alice, second, third)]
    others = await alice.own("DELETE", "/sessions")
    after_others = [await each.is_signed_in() for each in (alice, second, third)]

    assert (one.status, after_one) == (200, [True, False, True])
    assert (others.status, after_others) == (200, [True, False, False])


async def test_nobody_ends_a_session_in_another_persons_name(world: World) -> None:
    alice = await world.alice()
    (session,) = await (await alice.own("GET", "/sessions")).json()
    _, bob = await world.admin.ask("POST", "/users", json=ALICE | {"email": "bob@example.com"})

    by_person = await alice.send("DELETE", f"/users/{bob['id']}/sessions/{session['id']}")
    by_administrator = await world.admin.send("DELETE", f"/users/{bob['id']}/sessions/{session['id']}")

    assert (by_person.status, by_administrator.status) == (403, 404)
    assert await alice.is_signed_in()


@pytest.mark.parametrize(
    ("method", "path", "members"),
    [
        ("POST", "/mfa_token", {"password": PASSWORD}),
        ("PUT", "/self", {"given_name": "Alice"}),
        ("PUT", "/self/preferred_username", {"preferred_username": "alice"}),
        ("DELETE", "/self/delete", {"mfa_mod_token_id": "x"}),
        ("DELETE", "/sessions", {}),
    ],
)
async def test_a_page_that_is_not_ours_does_nothing_in_a_persons_name(
    world: World, method: str, path: str, members: dict[str, str]
) -> None:
    alice = await world.alice()
    alice.csrf_token = "forged"

    assert (await alice.own(method, path, **members)).status == 401
