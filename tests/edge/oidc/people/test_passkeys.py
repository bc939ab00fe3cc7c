"""Passkeys over HTTP, from the authenticator to the records: Web Authentication Level 3."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from identity.authentication.passkeys.config import WebauthnConfig
from tests.edge.oidc.openapi.published import published, undocumented
from tests.edge.oidc.people.owners import Owner, World, running
from tests.identity.authentication.passkeys.authenticator import SoftwareAuthenticator


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running(WebauthnConfig()) as found:
        yield found


async def test_a_person_adds_a_passkey_and_sees_it(world: World) -> None:
    alice = await world.owner()

    added = await alice.add("laptop")

    assert added.status == 201
    (passkey,) = await (await alice.person.own("GET", "/webauthn")).json()
    assert (passkey["name"], passkey["user_verified"]) == ("laptop", True)
    assert "last_used" not in passkey
    assert "PasskeyAdded" in await world.admin.typs()


async def test_the_ceremonies_begin_as_documented(world: World) -> None:
    alice, document = await world.owner(), published()
    token = await alice.person.proof()
    path = "/auth/v1/users/{id}/webauthn"

    registering = await alice.person.own(
        "POST", "/webauthn/register/start", passkey_name="laptop", mfa_mod_token_id=token
    )
    await alice.person.own(
        *("POST", "/webauthn/register/finish"),
        passkey_name="laptop",
        data=alice.authenticator.create((await registering.json())["publicKey"]),
    )
    authenticating = await alice.person.own("POST", "/webauthn/auth/start", purpose="MfaModToken")

    assert (registering.status, authenticating.status) == (200, 200)
    assert await undocumented(document, "POST", f"{path}/register/start", registering) == []
    assert await undocumented(document, "POST", f"{path}/auth/start", authenticating) == []


async def test_after_the_password_the_passkey_is_asked_for(world: World) -> None:
    alice = await world.owner()
    await alice.add()
    alice.person = world.browser()

    signed_in = await alice.sign_in()

    assert signed_in.status == 202
    assert "code=" in signed_in.headers["location"]
    assert await alice.person.is_signed_in()
    (passkey,) = await (await alice.person.own("GET", "/webauthn")).json()
    assert passkey["last_used"] > 0


async def test_the_password_alone_signs_nobody_in_who_has_a_passkey(world: World) -> None:
    alice = await world.owner()
    await alice.add()
    alice.person = world.browser()

    asked = await alice.person.sign_in()

    assert asked.status == 200
    assert not await alice.person.is_signed_in()


async def test_a_passkey_that_verifies_its_person_is_enough(world: World) -> None:
    alice = await world.owner()
    await alice.add()
    alice.person = world.browser()

    signed_in = await alice.sign_in(password="")

    assert signed_in.status == 202
    assert await alice.person.is_signed_in()


async def test_a_passkey_that_verifies_nobody_is_not_enough_alone(world: World) -> None:
    alice = await world.owner(verifies_user=False)
    await alice.add()
    alice.person = world.browser()

    refused = await alice.sign_in(password="")
    signed_in = await alice.sign_in()

    assert (refused.status, signed_in.status) == (401, 202)


async def test_a_browser_that_showed_a_passkey_needs_no_password(world: World) -> None:
    alice = await world.owner(verifies_user=False)
    await alice.add()
    assert (await alice.sign_in()).status == 202

    remembered = await alice.sign_in(password="")
    world.advance(hours=2161)
    forgotten = await alice.sign_in(password="")

    assert (remembered.status, forgotten.status) == (202, 401)


async def test_nobody_has_to_say_who_it_is(world: World) -> None:
    alice = await world.owner()
    await alice.add()
    stranger = world.browser()
    begun = await stranger.begin()

    started = await stranger.send("POST", "/users/webauthn_start", purpose="Discoverable", **begun)
    document = await started.json()
    data = alice.authenticator.get(document["rcr"]["publicKey"])
    finished = await stranger.send("POST", "/users/webauthn_finish", code=document["code"], data=data)

    assert not document["rcr"]["publicKey"].get("allowCredentials")
    assert (finished.status, "user_id" in document) == (202, False)
    stranger.csrf_token = finished.headers["x-csrf-token"]
    assert await stranger.is_signed_in()


async def test_without_a_password_every_address_is_answered_alike(world: World) -> None:
    alice = await world.owner()
    await alice.add()
    answers = []
    for name in ("alice", "bob", "nobody"):
        browser = world.browser(name)
        asked = await (await browser.sign_in("")).json()
        browser.user_id = asked["user_id"]
        started = await Owner(browser, alice.authenticator).start(asked["code"])
        answers.append((set(asked), len(asked["user_id"]), shape(await started.json())))

    assert answers[0] == answers[1] == answers[2]


async def test_what_an_address_is_answered_stays_the_same(world: World) -> None:
    first, second = [await (await world.browser("nobody").sign_in("")).json() for _ in range(2)]

    assert first["user_id"] == second["user_id"]


async def test_a_ceremony_is_good_once(world: World) -> None:
    alice = await world.owner()
    await alice.add()
    alice.person = world.browser()
    code = (await (await alice.person.sign_in()).json())["code"]
    started = await alice.start(code)

    again = await alice.start(code)
    finished = await alice.finish(started)
    replayed = await alice.finish(started)

    assert (again.status, finished.status, replayed.status) == (401, 202, 401)


async def test_a_challenge_is_good_for_a_minute(world: World) -> None:
    alice = await world.owner()
    await alice.add()
    alice.person = world.browser()
    started = await alice.start((await (await alice.person.sign_in()).json())["code"])

    world.advance(seconds=60)
    late = await alice.finish(started)

    assert late.status == 401


async def test_a_ceremony_belongs_to_its_person_and_its_browser(world: World) -> None:
    alice = await world.owner()
    await alice.add()
    alice.person = world.browser()
    code = (await (await alice.person.sign_in()).json())["code"]
    elsewhere = Owner(world.browser(), alice.authenticator)
    await elsewhere.person.begin()

    other_person = await alice.start(code, user_id=world.ids["bob"])
    alice_code = (await (await alice.person.sign_in()).json())["code"]
    other_browser = await elsewhere.start(alice_code)

    assert (other_person.status, other_browser.status) == (401, 401)


async def test_somebody_elses_passkey_signs_nobody_in(world: World) -> None:
    alice, bob = await world.owner(), await world.owner("bob")
    await alice.add()
    await bob.add()
    alice.person = world.browser()
    begun = await (await alice.start((await (await alice.person.sign_in()).json())["code"])).json()
    (credential_id,) = bob.authenticator.credentials

    data = bob.authenticator.get(begun["rcr"]["publicKey"], credential_id)
    refused = await alice.person.own("POST", "/webauthn/auth/finish", code=begun["code"], data=data)

    assert refused.status == 401
    assert "InvalidLogins" in await world.admin.typs()


@pytest.mark.parametrize(
    "spoilt",
    [
        pytest.param({"origin": "https://evil.example"}, id="another origin"),
        pytest.param({"step": -1}, id="a counter that went back"),
    ],
)
async def test_an_answer_that_does_not_hold_signs_nobody_in(world: World, *, spoilt: dict[str, Any]) -> None:
    alice = await world.owner()
    await alice.add()
    alice.person = world.browser()
    assert (await alice.sign_in()).status == 202

    for name, value in spoilt.items():
        setattr(alice.authenticator, name, value)
    refused = await alice.sign_in()

    assert refused.status == 401


async def test_an_authenticator_that_does_not_count_is_taken(world: World) -> None:
    alice = await world.owner()
    alice.authenticator.step = 0
    await alice.add()

    answers = [await alice.sign_in() for _ in range(2)]

    assert [answer.status for answer in answers] == [202, 202]


@pytest.mark.parametrize(
    "data",
    [
        {},
        [],
        {"id": "a", "rawId": "a", "type": "public-key", "response": {}},
        {"id": "YQ", "rawId": "YQ", "type": "public-key", "response": {"clientDataJSON": "e30"}},
        {
            "id": "YQ",
            "rawId": "YQ",
            "type": "public-key",
            "response": {"clientDataJSON": "e30", "authenticatorData": "AA", "signature": "AA"},
        },
    ],
)
async def test_nonsense_of_an_authenticator_is_refused(world: World, *, data: object) -> None:
    alice = await world.owner()
    await alice.add()
    begun = await (await alice.start((await (await alice.person.sign_in()).json())["code"])).json()

    refused = await alice.person.own("POST", "/webauthn/auth/finish", code=begun["code"], data=data)
    registered = await alice.person.own("POST", "/webauthn/register/finish", passkey_name="other", data=data)

    assert (refused.status, registered.status) == (401, 401)


async def test_a_passkey_needs_a_proof_of_a_moment_ago(world: World) -> None:
    alice = await world.owner()

    refused = await alice.add(proof="")

    assert refused.status == 400
    assert await alice.names() == []


async def test_a_passkey_is_such_a_proof(world: World) -> None:
    alice = await world.owner()
    await alice.add()
    started = await alice.person.own("POST", "/webauthn/auth/start", purpose="MfaModToken")

    shown = await (await alice.finish(started)).json()
    proved = await alice.person.own("POST", "/mfa_token", mfa_code=shown["code"])
    again = await alice.person.own("POST", "/mfa_token", mfa_code=shown["code"])
    added = await alice.add("phone", proof=(await proved.json())["id"])

    assert (proved.status, again.status, added.status) == (200, 401, 201)


async def test_a_test_proves_nothing(world: World) -> None:
    alice = await world.owner()
    await alice.add()
    started = await alice.person.own("POST", "/webauthn/auth/start", purpose="Test")

    tested = await alice.finish(started)

    assert (tested.status, await tested.json()) == (202, {})


async def test_a_name_is_a_persons_own_and_comes_once(world: World) -> None:
    alice, bob = await world.owner(), await world.owner("bob")
    await alice.add("Küche / 🗝")

    same = await alice.add("KÜCHE / 🗝")
    bobs = await bob.add("Küche / 🗝")
    too_long = await alice.add("x" * 33)

    assert (same.status, bobs.status, too_long.status) == (409, 201, 400)


async def test_an_authenticator_makes_no_second_passkey_of_an_account(world: World) -> None:
    alice = await world.owner()
    await alice.add("laptop")
    token = await alice.person.proof()

    started = await alice.person.own(
        "POST", "/webauthn/register/start", passkey_name="again", mfa_mod_token_id=token
    )

    options = (await started.json())["publicKey"]
    assert [alice.authenticator.knows(each["id"]) for each in options["excludeCredentials"]] == [True]
    assert options["user"]["name"] == "alice@example.com"


async def test_nobody_adds_a_passkey_to_another_account(world: World) -> None:
    alice = await world.owner()
    token = await alice.person.proof()
    path = f"/users/{world.ids['bob']}/webauthn/register/start"

    refused = await alice.person.send("POST", path, passkey_name="mine", mfa_mod_token_id=token)

    assert refused.status == 403


async def test_a_person_removes_a_passkey_by_its_name(world: World) -> None:
    alice = await world.owner()
    await alice.add("Küche / 🗝")
    await alice.add("phone")

    unproved = await alice.person.own("DELETE", "/webauthn/delete/phone")
    removed = await alice.person.own(
        "DELETE",
        "/webauthn/delete/K%C3%BCche%20%2F%20%F0%9F%97%9D",
        mfa_mod_token_id=await alice.person.proof(),
    )

    assert (unproved.status, removed.status) == (400, 200)
    assert await alice.names() == ["phone"]
    assert "PasskeyRemoved" in await world.admin.typs()


async def test_an_administrator_removes_a_passkey_that_was_lost(world: World) -> None:
    alice = await world.owner()
    await alice.add("lost")

    removed = await world.admin.send("DELETE", f"/users/{world.ids['alice']}/webauthn/delete/lost")

    assert removed.status == 200
    alice.person = world.browser()
    assert (await alice.person.sign_in()).status == 202


async def test_passkeys_stand_in_the_passwords_place(world: World) -> None:
    alice, elsewhere = await world.owner(), await world.owner()
    await alice.add()

    converted = await alice.person.own(
        "POST", "/self/convert_passkey", mfa_mod_token_id=await alice.person.proof()
    )

    assert converted.status == 200
    assert [await alice.person.is_signed_in(), await elsewhere.person.is_signed_in()] == [True, False]
    alice.person = world.browser()
    assert (await alice.person.sign_in()).status == 401
    assert (await alice.sign_in(password="")).status == 202


async def test_the_last_way_to_sign_in_stays(world: World) -> None:
    alice = await world.owner()
    await alice.add("only")
    await alice.person.own("POST", "/self/convert_passkey", mfa_mod_token_id=await alice.person.proof())
    started = await alice.person.own("POST", "/webauthn/auth/start", purpose="MfaModToken")
    code = (await (await alice.finish(started)).json())["code"]
    token = (await (await alice.person.own("POST", "/mfa_token", mfa_code=code)).json())["id"]

    refused = await alice.person.own("DELETE", "/webauthn/delete/only", mfa_mod_token_id=token)

    assert refused.status == 409
    assert await alice.names() == ["only"]


@pytest.mark.parametrize(
    ("traits", "status"), [pytest.param({"verifies_user": False}, 409, id="verifies nobody"), (None, 404)]
)
async def test_an_account_is_not_locked_out_by_giving_up_its_password(
    world: World, *, traits: dict[str, bool] | None, status: int
) -> None:
    alice = await world.owner(**(traits or {}))
    if traits is not None:
        await alice.add()

    refused = await alice.person.own(
        "POST", "/self/convert_passkey", mfa_mod_token_id=await alice.person.proof()
    )

    assert refused.status == status


async def test_a_removed_passkey_is_remembered_by_no_browser(world: World) -> None:
    alice = await world.owner(verifies_user=False)
    await alice.add("lost")
    assert (await alice.sign_in()).status == 202
    await world.admin.send("DELETE", f"/users/{world.ids['alice']}/webauthn/delete/lost")

    begun = await (await alice.start((await (await alice.person.sign_in("")).json())["code"])).json()

    assert not alice.authenticator.has_one_of(begun["rcr"]["publicKey"])


@pytest.mark.parametrize("is_configured", [True, False])
async def test_a_first_passkey_may_end_the_end_of_a_password(*, is_configured: bool) -> None:
    async with running(WebauthnConfig(no_password_expiry_with_passkey=is_configured)) as world:
        await world.admin.send("PUT", "/password_policy", json=POLICY | {"valid_days": 1})
        await world.admin.send(
            "PATCH",
            f"/users/{world.ids['alice']}",
            json={"put": [{"key": "password", "value": NEW}], "del": []},
        )
        alice = world.browser()
        await alice.sign_in(NEW)
        owner = Owner(alice, SoftwareAuthenticator(world.origin))
        await owner.add(proof=await alice.proof(NEW))

        world.advance(days=2)
        asked = await world.browser().sign_in(NEW)

        assert asked.status == (200 if is_configured else 403)


NEW = "another quite long secret"
POLICY = {"length_min": 15, "length_max": 256}


def shape(document: object) -> object:
    """Return the structure of a document, with the lengths of its texts."""
    match document:
        case dict():
            return {name: shape(value) for name, value in document.items()}
        case list():
            return [shape(each) for each in document]
        case str():
            return len(document)
        case _:
            return document


async def test_a_session_from_before_the_passkey_changes_nothing_by_the_password(world: World) -> None:
    older = world.browser()
    assert (await older.sign_in()).status == 202
    early = await older.proof()
    alice = await world.owner()
    assert (await alice.add()).status == 201

    refused = [
        await older.own("POST", "/mfa_token", password="correct horse battery staple"),
        await older.own("DELETE", "/webauthn/delete/laptop", mfa_mod_token_id=early),
        await older.own("POST", "/recovery_codes", mfa_mod_token_id=early),
        await older.own("POST", "/one_time_codes", name="phone", mfa_mod_token_id=early),
    ]

    answers = [(answer.status, (await answer.json())["error"]) for answer in refused]
    assert answers == [(403, "MfaRequired")] * 4
    assert await alice.names() == ["laptop"]


async def test_the_session_that_added_the_passkey_goes_on_with_the_password(world: World) -> None:
    alice = await world.owner()
    await alice.add()

    made = await alice.person.own("POST", "/recovery_codes", mfa_mod_token_id=await alice.person.proof())

    assert made.status == 201
