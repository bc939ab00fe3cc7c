"""One-time and recovery codes over HTTP, from the authenticator program to the records: RFC 6238."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import ClientResponse
from pyotp import TOTP

from identity.authentication.one_time_codes.factors import CODE_FACTORS
from identity.directory.client import CLIENTS
from identity.directory.own_clients import PAGES_CLIENT_ID
from server.platform.call import TenantId
from tests.edge.oidc.people.owners import Owner, World, running
from tests.edge.oidc.people.somebody import PASSWORD, Somebody
from tests.edge.oidc.protocol.provider import hidden_fields, page_of
from tests.identity.authentication.passkeys.authenticator import SoftwareAuthenticator
from tests.people.proof_of_work import solved

AUTHORIZE = "/oidc/authorize/one_time_code"


@dataclass
class Coder:
    """A user with a browser and an authenticator program."""

    world: World
    person: Somebody
    secret: str = ""
    generator_id: str = ""

    def code(self, steps: int = 0) -> str:
        """Return the code of the program, now or this number of time steps later."""
        then = self.world.admin.deployment.clock.now() + timedelta(seconds=30 * steps)
        return TOTP(self.secret).at(then)

    async def begin(self, name: str = "phone", proof: str | None = None) -> ClientResponse:
        token = await self.person.proof() if proof is None else proof
        begun = await self.person.own("POST", "/one_time_codes", name=name, mfa_mod_token_id=token)
        if begun.status == 201:
            members = await begun.json()
            self.secret, self.generator_id = members["secret"], members["id"]
        return begun

    async def confirm(self, code: str) -> ClientResponse:
        path = f"/one_time_codes/{self.generator_id}/confirm"
        return await self.person.own("POST", path, one_time_code=code)

    async def add(self, name: str = "phone") -> None:
        """Add a program; the clock advances, because its first code is used up."""
        assert (await self.begin(name)).status == 201
        confirmed = await self.confirm(self.code())
        assert confirmed.status == 201, await confirmed.text()
        self.world.advance(seconds=60)

    async def recovery_codes(self) -> list[str]:
        made = await self.person.own("POST", "/recovery_codes", mfa_mod_token_id=await self.person.proof())
        assert made.status == 201, await made.text()
        return list((await made.json())["recovery_codes"])

    async def asked(self, password: str | None = PASSWORD) -> dict[str, Any]:
        """Sign in with the password, and return the response that asks for a second factor."""
        answer = await self.person.sign_in(password)
        assert answer.status == 200, await answer.text()
        return dict(await answer.json())

    async def give(self, asked: dict[str, Any], code: str) -> ClientResponse:
        answer = await self.person.send("POST", AUTHORIZE, code=asked["code"], one_time_code=code)
        self.person.csrf_token = answer.headers.get("x-csrf-token", self.person.csrf_token)
        return answer


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running() as found:
        yield found


@pytest.fixture
async def alice(world: World) -> Coder:
    """Alice, signed in, without a second factor."""
    return Coder(world, (await world.owner()).person)


@pytest.fixture
async def coder(world: World, alice: Coder) -> Coder:
    """Alice with an authenticator program, at a new browser."""
    await alice.add()
    alice.person = world.browser()
    return alice


async def listed(person: Somebody) -> list[dict[str, Any]]:
    return list(await (await person.own("GET", "/one_time_codes")).json())


async def recovery(person: Somebody) -> dict[str, Any]:
    return dict(await (await person.own("GET", "/recovery_codes")).json())


async def test_a_person_adds_a_program_and_sees_it(world: World, alice: Coder) -> None:
    begun = await alice.begin("my phone")
    before = await listed(alice.person)

    confirmed = await alice.confirm(alice.code())

    uri = urlsplit((await begun.json())["otpauth_uri"])
    assert (uri.scheme, uri.netloc, uri.path) == ("otpauth", "totp", "/Gnomon:alice%40example.com")
    assert parse_qs(uri.query) == {"secret": [alice.secret], "issuer": ["Gnomon"]}
    assert (before, confirmed.status) == ([], 201)
    (generator,) = await listed(alice.person)
    assert (generator["id"], generator["name"], "last_used" in generator) == (
        alice.generator_id,
        "my phone",
        False,
    )
    assert "OneTimeCodesAdded" in await world.admin.typs()


async def test_after_the_password_a_code_is_asked_for(coder: Coder) -> None:
    asked = await coder.asked()
    before = await coder.person.is_signed_in()

    signed_in = await coder.give(asked, coder.code())

    assert asked["methods"] == ["one_time_code"]
    assert asked["exp"] == 300
    assert (before, signed_in.status) == (False, 202)
    assert "code=" in signed_in.headers["location"]
    assert await coder.person.is_signed_in()
    (generator,) = await listed(coder.person)
    assert generator["last_used"] > generator["added"]


async def test_a_session_by_password_and_code_took_several_factors(world: World, coder: Coder) -> None:
    await coder.give(await coder.asked(), coder.code())

    _, sessions = await world.admin.ask("GET", "/sessions")

    mine = [each["is_mfa"] for each in sessions if each["user_id"] == coder.person.user_id]
    assert sorted(mine) == [False, True]


async def test_a_code_that_was_used_is_refused(world: World, coder: Coder) -> None:
    code = coder.code()
    first = await coder.give(await coder.asked(), code)
    coder.person = world.browser()

    second = await coder.give(await coder.asked(), code)

    assert (first.status, second.status) == (202, 401)
    assert (await second.json())["error"] == "WrongCode"
    assert second.headers["WWW-Authenticate"] == "OAuth"
    assert not await coder.person.is_signed_in()
    assert "InvalidLogins" in await world.admin.typs()


async def test_a_code_of_before_is_not_taken_after_a_later_one(world: World, coder: Coder) -> None:
    early, late = coder.code(-1), coder.code(1)
    assert (await coder.give(await coder.asked(), late)).status == 202
    coder.person = world.browser()

    assert (await coder.give(await coder.asked(), early)).status == 401


@pytest.mark.parametrize("steps", [-2, 2])
async def test_a_code_of_another_time_is_refused(coder: Coder, steps: int) -> None:
    assert (await coder.give(await coder.asked(), coder.code(steps))).status == 401


async def test_the_code_that_confirmed_a_program_signs_nobody_in(world: World, alice: Coder) -> None:
    await alice.begin()
    code = alice.code()
    await alice.confirm(code)
    alice.person = world.browser()

    assert (await alice.give(await alice.asked(), code)).status == 401


async def test_who_mistypes_may_try_again(coder: Coder) -> None:
    asked = await coder.asked()

    wrong = await coder.give(asked, "000000" if coder.code() != "000000" else "111111")
    right = await coder.give(asked, f" {coder.code()[:3]} {coder.code()[3:]} ")

    assert (wrong.status, right.status) == (401, 202)


async def test_a_question_is_answered_once_in_its_browser_and_in_time(world: World, coder: Coder) -> None:
    asked = await coder.asked()
    stranger = Coder(world, world.browser(), coder.secret)
    await stranger.person.begin()

    elsewhere = await stranger.give(asked, coder.code())
    answered = await coder.give(asked, coder.code())
    once_more = await coder.give(asked, coder.code(1))
    coder.person = world.browser()
    late = await coder.asked()
    world.advance(seconds=300)

    assert [each.status for each in (elsewhere, answered, once_more)] == [401, 202, 401]
    assert (await coder.give(late, coder.code())).status == 401


async def test_a_question_ends_with_the_password_that_it_followed(world: World, coder: Coder) -> None:
    asked = await coder.asked()
    change = {"put": [{"key": "password", "value": "a new and quite long one"}], "del": []}
    changed = await world.admin.send("PATCH", f"/users/{coder.person.user_id}", json=change)
    assert changed.status == 200, await changed.text()

    refused = await coder.give(asked, coder.code())

    assert (refused.status, (await refused.json())["error"]) == (401, "Unauthorized")


async def test_a_page_that_is_not_ours_answers_no_question(coder: Coder) -> None:
    asked = await coder.asked()
    coder.person.csrf_token = "forged"

    assert (await coder.give(asked, coder.code())).status == 401


async def test_without_script_a_code_is_given_by_a_form(coder: Coder) -> None:
    page, http = await _code_page(coder), coder.person.http

    wrong = await http.post(page["action"], data={**page["fields"], "one_time_code": "x"})
    again = hidden_fields(await page_of(wrong))
    right = await http.post(
        page["action"], data={**again, "one_time_code": coder.code()}, allow_redirects=False
    )

    assert (wrong.status, again) == (401, page["fields"])
    assert "form-action 'self' https://id.example.com;" in wrong.headers["Content-Security-Policy"]
    assert (right.status, "code=" in right.headers["location"]) == (303, True)
    assert await coder.person.is_signed_in()


async def _code_page(coder: Coder) -> dict[str, Any]:
    """Return the form for the code after the credentials' form."""
    http, asked = coder.person.http, await coder.person.begin()
    parameters = {
        **{name: value for name, value in asked.items() if name != "scopes"},
        "scope": "openid",
        "response_type": "code",
    }
    sign_in = hidden_fields(await page_of(await http.get("/auth/v1/oidc/authorize", params=parameters)))
    challenge = await (await http.post("/auth/v1/pow")).text()
    credentials = {"email": coder.person.email, "password": PASSWORD, "pow": solved(challenge)}
    answer = await http.post("/auth/v1/oidc/authorize", data={**sign_in, **credentials})
    page = await page_of(answer)
    (form,) = page.xpath("//form")
    assert form.xpath(".//input[@name='one_time_code']/@autocomplete") == ["one-time-code"]
    return {"action": form.get("action"), "fields": hidden_fields(page)}


async def test_who_has_a_passkey_too_may_show_it_or_give_a_code(world: World) -> None:
    owner = await world.owner()
    await owner.add()
    coder = Coder(world, owner.person)
    await coder.add()
    statuses = []
    for by_code in (False, True):
        coder.person = owner.person = world.browser()
        asked = await coder.asked()
        if by_code:
            await owner.start(asked["code"])
            answer = await coder.give(asked, coder.code())
        else:
            answer = await owner.finish(await owner.start(asked["code"]))
        statuses.append((answer.status, await owner.person.is_signed_in(), asked["methods"]))

    assert statuses == [(202, True, ["passkey", "one_time_code"])] * 2


async def test_a_code_alone_is_no_password(coder: Coder) -> None:
    asked = await coder.asked(password=None)

    refused = await coder.give(asked, coder.code())

    assert (asked["methods"], refused.status) == (["passkey"], 401)


@pytest.mark.usefixtures("coder")
async def test_without_a_password_nothing_tells_who_has_codes(world: World) -> None:
    answers = [await Coder(world, world.browser(name)).asked(None) for name in ("alice", "bob", "nobody")]

    assert len({(*each, len(each["user_id"]), *each["methods"], each["exp"]) for each in answers}) == 1


async def test_a_browser_that_took_a_code_needs_no_password(world: World, coder: Coder) -> None:
    await coder.give(await coder.asked(), coder.code())
    world.advance(seconds=60)

    asked = await coder.asked(password=None)
    remembered = await coder.give(asked, coder.code())
    world.advance(hours=2161)
    forgotten = await coder.asked(password=None)

    assert (asked["methods"], remembered.status) == (["one_time_code"], 202)
    assert forgotten["methods"] == ["passkey"]
    assert (await coder.give(forgotten, coder.code())).status == 401


async def test_who_has_no_codes_any_more_gains_nothing_by_a_remembered_browser(
    world: World, coder: Coder
) -> None:
    await coder.give(await coder.asked(), coder.code())
    path = f"/users/{coder.person.user_id}/one_time_codes/{coder.generator_id}"
    assert (await world.admin.send("DELETE", path)).status == 200

    asked = await coder.asked(password=None)

    assert asked["methods"] == ["passkey"]
    assert (await coder.give(asked, coder.code(1))).status == 401


async def test_with_a_new_password_no_browser_is_remembered(coder: Coder) -> None:
    await coder.give(await coder.asked(), coder.code())
    change = {"password_new": "a new and quite long one", "password_current": PASSWORD}
    changed = await coder.person.own("PUT", "/self", **change)

    coder.person.csrf_token = changed.headers["x-csrf-token"]
    assert (await coder.asked(password=None))["methods"] == ["passkey"]


async def test_a_recovery_code_is_good_once_and_makes_no_browser_remembered(
    world: World, coder: Coder
) -> None:
    await coder.give(await coder.asked(), coder.code())
    codes = await coder.recovery_codes()
    coder.person = world.browser()

    asked = await coder.asked()
    used = await coder.give(asked, codes[3].lower())
    left = await recovery(coder.person)
    cookies = [cookie.key for cookie in coder.person.http.session.cookie_jar]
    coder.person = world.browser()
    again = await coder.give(await coder.asked(), codes[3])

    assert asked["methods"] == ["one_time_code", "recovery_code"]
    assert len({*codes}) == 10
    assert (used.status, left["left"], again.status) == (202, 9, 401)
    assert cookies == ["GnomonSession", "GnomonDevice"]
    assert {"RecoveryCodesMade", "RecoveryCodeUsed"} <= {*await world.admin.typs()}


async def test_new_recovery_codes_stand_in_the_place_of_the_old_ones(world: World, coder: Coder) -> None:
    await coder.give(await coder.asked(), coder.code())
    old, new = [await coder.recovery_codes() for _ in range(2)]
    coder.person = world.browser()
    asked = await coder.asked()

    assert (await coder.give(asked, old[0])).status == 401
    assert (await coder.give(asked, new[0])).status == 202


async def test_recovery_codes_stand_in_for_a_passkey(world: World) -> None:
    owner = await world.owner()
    await owner.add()
    coder = Coder(world, owner.person)
    codes = await coder.recovery_codes()
    coder.person = world.browser()

    asked = await coder.asked()

    assert asked["methods"] == ["passkey", "recovery_code"]
    assert (await coder.give(asked, codes[0])).status == 202


async def test_a_remembered_browser_and_a_recovery_code_are_not_enough(coder: Coder) -> None:
    await coder.give(await coder.asked(), coder.code())
    codes = await coder.recovery_codes()

    asked = await coder.asked(password=None)

    assert asked["methods"] == ["one_time_code"]
    assert (await coder.give(asked, codes[0])).status == 401
    assert (await recovery(coder.person))["left"] == 10


async def test_who_has_no_second_factor_gets_no_recovery_codes(alice: Coder) -> None:
    refused = await alice.person.own("POST", "/recovery_codes", mfa_mod_token_id=await alice.person.proof())

    assert (refused.status, await recovery(alice.person)) == (409, {"left": 0})


async def test_with_the_last_factor_the_recovery_codes_go(world: World, coder: Coder) -> None:
    await coder.give(await coder.asked(), coder.code())
    await coder.recovery_codes()
    proof = await coder.person.proof()

    removed = await coder.person.own(
        "DELETE", f"/one_time_codes/{coder.generator_id}", mfa_mod_token_id=proof
    )

    assert (removed.status, await listed(coder.person)) == (200, [])
    assert await recovery(coder.person) == {"left": 0}
    assert (await world.browser().sign_in()).status == 202
    assert "OneTimeCodesRemoved" in await world.admin.typs()


async def test_with_the_last_passkey_the_recovery_codes_go(world: World) -> None:
    owner = await world.owner()
    await owner.add("laptop")
    await Coder(world, owner.person).recovery_codes()

    await world.admin.send("DELETE", f"/users/{owner.person.user_id}/webauthn/delete/laptop")

    assert await recovery(owner.person) == {"left": 0}


async def test_a_code_proves_once_more_who_asks(world: World, coder: Coder) -> None:
    await coder.give(await coder.asked(), coder.code())
    world.advance(seconds=60)
    code = coder.code()

    proved = await coder.person.own("POST", "/mfa_token", mfa_code=code)
    again = await coder.person.own("POST", "/mfa_token", mfa_code=code)
    begun = await coder.begin("tablet", proof=(await proved.json())["id"])

    assert (proved.status, again.status, begun.status) == (200, 401, 201)


@pytest.mark.parametrize(
    ("method", "path", "members"),
    [
        ("POST", "/one_time_codes", {"name": "tablet"}),
        ("PUT", "/one_time_codes/{id}", {"name": "tablet"}),
        ("DELETE", "/one_time_codes/{id}", {}),
        ("POST", "/recovery_codes", {}),
        ("DELETE", "/recovery_codes", {}),
    ],
)
async def test_every_change_of_factors_needs_a_proof_of_a_moment_ago(
    coder: Coder, method: str, path: str, members: dict[str, str]
) -> None:
    await coder.give(await coder.asked(), coder.code())
    await coder.recovery_codes()
    before = await listed(coder.person), await recovery(coder.person)

    path = path.format(id=coder.generator_id)
    refused = await coder.person.own(method, path, **members, mfa_mod_token_id="unheard-of")
    unproved = await coder.person.own(method, path, **members)

    assert (refused.status, unproved.status) == (400, 400)
    assert (await listed(coder.person), await recovery(coder.person)) == before


@pytest.mark.parametrize(
    ("method", "path", "members"),
    [
        ("POST", "/one_time_codes", {"name": "tablet"}),
        ("POST", "/one_time_codes/{id}/confirm", {"one_time_code": "123456"}),
        ("PUT", "/one_time_codes/{id}", {"name": "tablet"}),
        ("DELETE", "/one_time_codes/{id}", {}),
        ("POST", "/recovery_codes", {}),
        ("DELETE", "/recovery_codes", {}),
    ],
)
async def test_a_page_that_is_not_ours_changes_no_factor(
    coder: Coder, method: str, path: str, members: dict[str, str]
) -> None:
    await coder.give(await coder.asked(), coder.code())
    coder.person.csrf_token = "forged"

    refused = await coder.person.own(method, path.format(id=coder.generator_id), **members)

    assert refused.status == 401


async def test_a_person_renames_a_program(coder: Coder) -> None:
    await coder.give(await coder.asked(), coder.code())
    await coder.add("tablet")
    path = f"/one_time_codes/{coder.generator_id}"

    renamed = await coder.person.own("PUT", path, name="Küche", mfa_mod_token_id=await coder.person.proof())
    taken = await coder.person.own("PUT", path, name="PHONE", mfa_mod_token_id=await coder.person.proof())

    assert (renamed.status, taken.status) == (200, 409)
    assert [each["name"] for each in await listed(coder.person)] == ["phone", "Küche"]


async def test_a_secret_that_nobody_confirms_is_forgotten(world: World, alice: Coder) -> None:
    await alice.begin()

    world.advance(seconds=600)

    assert (await alice.confirm(alice.code())).status == 404
    assert (await world.browser().sign_in()).status == 202


async def test_a_wrong_first_code_adds_nothing_and_may_be_corrected(alice: Coder) -> None:
    await alice.begin()

    wrong, other = await alice.confirm(alice.code(3)), await alice.confirm("sechs")
    right = await alice.confirm(alice.code())

    assert [each.status for each in (wrong, other, right)] == [400, 400, 201]


async def test_a_secret_is_confirmed_where_it_was_made(world: World, alice: Coder) -> None:
    elsewhere = Coder(world, (await world.owner()).person)
    await alice.begin()
    elsewhere.secret, elsewhere.generator_id = alice.secret, alice.generator_id

    assert (await elsewhere.confirm(alice.code())).status == 404


async def test_a_name_comes_once_and_there_are_five_at_most(alice: Coder) -> None:
    for name in ("a", "b", "c", "d", "e"):
        await alice.add(name)

    too_many = await alice.begin("f")
    removed = await alice.person.own(
        "DELETE", f"/one_time_codes/{alice.generator_id}", mfa_mod_token_id=await alice.person.proof()
    )

    assert (too_many.status, removed.status) == (409, 200)
    assert [(await alice.begin(name)).status for name in ("A", "", "x" * 33)] == [409, 400, 400]


async def test_nobody_adds_a_program_to_another_account(world: World, alice: Coder) -> None:
    path = f"/users/{world.ids['bob']}/one_time_codes"

    refused = await alice.person.send("POST", path, name="mine", mfa_mod_token_id=await alice.person.proof())

    assert refused.status == 403


async def test_nobody_sees_or_removes_what_another_person_has(world: World, coder: Coder) -> None:
    bob = (await world.owner("bob")).person
    path = f"/users/{coder.person.user_id}/one_time_codes"

    seen = await bob.send("GET", path)
    removed = await bob.send("DELETE", f"{path}/{coder.generator_id}")
    recovery_codes = await bob.send("DELETE", f"/users/{coder.person.user_id}/recovery_codes")

    assert [each.status for each in (seen, removed, recovery_codes)] == [403, 403, 403]


async def test_an_administrator_removes_the_codes_of_who_lost_them(world: World, coder: Coder) -> None:
    await coder.give(await coder.asked(), coder.code())
    await coder.recovery_codes()
    user = f"/users/{coder.person.user_id}"

    _, generators = await world.admin.ask("GET", f"{user}/one_time_codes")
    recovery_codes = await world.admin.send("DELETE", f"{user}/recovery_codes")
    again = await world.admin.send("DELETE", f"{user}/recovery_codes")
    removed = await world.admin.send("DELETE", f"{user}/one_time_codes/{generators[0]['id']}")

    assert [each.status for each in (recovery_codes, again, removed)] == [200, 404, 200]
    assert (await world.browser().sign_in()).status == 202
    assert {"OneTimeCodesRemoved", "RecoveryCodesRemoved"} <= {*await world.admin.typs()}


async def test_with_the_account_its_codes_go(world: World, coder: Coder) -> None:
    await world.admin.send("DELETE", f"/users/{coder.person.user_id}")

    assert await world.admin.deployment.store.of(CODE_FACTORS).page(TenantId("default")) == []


async def test_a_client_that_forces_a_second_factor_takes_a_code(world: World, coder: Coder) -> None:
    clients = world.admin.deployment.store.of(CLIENTS)
    client = await clients.get(TenantId("default"), PAGES_CLIENT_ID)
    assert client is not None
    await clients.replace(replace(client, requires_mfa=True))

    without = await world.browser("bob").sign_in()
    with_code = await coder.give(await coder.asked(), coder.code())
    world.advance(seconds=60)
    remembered = await coder.give(await coder.asked(password=None), coder.code())

    assert (without.status, with_code.status) == (406, 202)
    # A remembered browser is not a factor: the code was the only one.
    assert remembered.status == 406


async def test_an_account_without_a_password_has_no_codes(world: World) -> None:
    owner = Owner((await world.owner()).person, SoftwareAuthenticator(world.origin))
    await owner.add()
    token = await owner.person.proof()
    await owner.person.own("POST", "/self/convert_passkey", mfa_mod_token_id=token)

    started = await owner.person.own("POST", "/webauthn/auth/start", purpose="MfaModToken")
    shown = await (await owner.finish(started)).json()
    proved = await owner.person.own("POST", "/mfa_token", mfa_code=shown["code"])
    proof = (await proved.json())["id"]
    refused = await Coder(world, owner.person).begin(proof=proof)

    assert refused.status == 409
