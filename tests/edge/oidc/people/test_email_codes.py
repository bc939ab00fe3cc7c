"""Codes by e-mail as a second factor, over HTTP, from the setting of the tenant to the mail."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

import pytest
from aiohttp import ClientResponse
from pyotp import TOTP

from identity.access.login_protection.config import LoginProtectionConfig
from identity.access.sessions.session import SESSIONS
from identity.config import EventsSection
from identity.directory.user import USERS
from server.platform.call import TenantId
from tests.edge.oidc.people.mailed import Mailed, mailed
from tests.edge.oidc.people.provider import BASE
from tests.edge.oidc.people.somebody import PASSWORD, Somebody
from tests.edge.oidc.protocol.provider import page_of
from tests.identity.mailbox import text_of
from tests.people.proof_of_work import solved
from tests.waits import until

if TYPE_CHECKING:
    from email.message import EmailMessage

DEFAULT = TenantId("default")
CODE = "/oidc/authorize/one_time_code"
SEND = "/oidc/authorize/email_code"
SUBJECT = "Your code to sign in"
_DIGITS = re.compile(r"^\d{6}\r?$", re.MULTILINE)


@dataclass
class Reader:
    """Alice, who reads her mail."""

    world: Mailed
    person: Somebody
    seen: list[str] = field(default_factory=list)

    async def asked(self) -> dict[str, Any]:
        answer = await self.person.sign_in(PASSWORD)
        assert answer.status == 200, await answer.text()
        return dict(await answer.json())

    async def give(self, asked: dict[str, Any], code: str) -> ClientResponse:
        answer = await self.person.send("POST", CODE, code=asked["code"], one_time_code=code)
        self.person.csrf_token = answer.headers.get("x-csrf-token", self.person.csrf_token)
        return answer

    async def send(self, asked: dict[str, Any]) -> ClientResponse:
        return await self.person.send("POST", SEND, code=asked["code"])

    def codes(self) -> list[str]:
        """Return the codes of all mails, oldest first."""
        paths = sorted(self.world.letters.directory.glob("*.eml"), key=lambda path: path.stat().st_mtime_ns)
        letters = [
            cast("EmailMessage", message_from_bytes(path.read_bytes(), policy=default)) for path in paths
        ]
        texts = [text_of(letter) for letter in letters if letter["Subject"] == SUBJECT]
        return [code for text in texts for code in map(str.strip, _DIGITS.findall(text))]

    async def code(self, number: int = 1) -> str:
        """Return a code that was not seen yet, once there are so many mails."""
        await until(lambda: len(self.codes()) >= number)
        new = self.codes()
        for code in self.seen:
            new.remove(code)
        self.seen += new
        return new[-1]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[Mailed]:
    # Answers to wrong codes are not delayed, so that the pause of the account alone counts.
    events = EventsSection(login_protection=LoginProtectionConfig(allowed_networks=("127.0.0.0/8",)))
    async with mailed(tmp_path / "letters", events=events) as found:
        await verify(found)
        yield found


@pytest.fixture
async def reader(world: Mailed) -> Reader:
    """Alice with codes by mail, at a new browser."""
    await allow(world, "optional")
    turned_on = await turn_on(await world.signed_in())
    assert turned_on.status == 201, await turned_on.text()
    return Reader(world, world.alice())


async def verify(world: Mailed) -> None:
    users = world.admin.deployment.store.of(USERS)
    user = await users.get(DEFAULT, world.user_id)
    assert user is not None
    if not user.is_email_verified:
        status, _ = await world.admin.ask(
            "PATCH", f"/users/{world.user_id}", json={"put": [{"key": "email_verified", "value": True}]}
        )
        assert status == 200


async def allow(world: Mailed, email_codes: str) -> None:
    settings = {"sign_in": {"email_codes": email_codes}, "registration": {}, "clients": {}}
    changed = await world.admin.send("PUT", "/tenants/default/settings", json=settings)
    assert changed.status == 200, await changed.text()


async def turn_on(person: Somebody) -> ClientResponse:
    return await person.own("POST", "/email_codes", mfa_mod_token_id=await person.proof())


async def state(person: Somebody) -> dict[str, bool]:
    return dict(await (await person.own("GET", "/email_codes")).json())


async def sessions(world: Mailed) -> list[Any]:
    found = await world.admin.deployment.store.of(SESSIONS).page(DEFAULT)
    return [session.authentication for session in found if session.authentication is not None]


async def test_a_code_is_mailed_after_the_password_and_signs_in(world: Mailed, reader: Reader) -> None:
    asked = await reader.asked()

    answer = await reader.give(asked, await reader.code())

    assert asked["methods"] == ["email_code"]
    assert answer.status == 202, await answer.text()
    authentications = await sessions(world)
    assert ("pwd", "email", "mfa") in [each.amr for each in authentications]
    assert "urn:gnomon:acr:mfa" in [each.acr for each in authentications]
    assert "phr" not in [each.acr for each in authentications]


async def test_the_message_has_both_parts_in_the_language_of_the_user(world: Mailed, reader: Reader) -> None:
    changed = await world.admin.send(
        "PATCH", f"/users/{world.user_id}", json={"put": [{"key": "language", "value": "de"}]}
    )
    assert changed.status == 200, await changed.text()
    await reader.asked()

    await until(lambda: "Ihr Code zum Anmelden" in [letter["Subject"] for letter in world.letters.all()])

    (letter,) = [each for each in world.letters.all() if each["Subject"] == "Ihr Code zum Anmelden"]
    assert letter["Content-Language"] == "de"
    assert {part.get_content_type() for part in letter.walk()} >= {"text/plain", "text/html"}
    assert _DIGITS.search(text_of(letter))


async def test_a_code_counts_once(reader: Reader) -> None:
    asked = await reader.asked()
    code = await reader.code()

    first, second = await reader.give(asked, code), await reader.give(asked, code)

    assert (first.status, second.status) == (202, 401)


async def test_a_code_belongs_to_one_sign_in(world: Mailed, reader: Reader) -> None:
    await reader.asked()
    code = await reader.code()
    other = Reader(world, world.alice())
    asked = await other.asked()
    await other.code(2)

    answer = await other.give(asked, code)

    assert (answer.status, (await answer.json())["error"]) == (401, "WrongCode")


async def test_a_code_ends(world: Mailed, reader: Reader) -> None:
    asked = await reader.asked()
    code = await reader.code()
    world.admin.deployment.clock.advance(timedelta(minutes=10))

    assert (await reader.give(asked, code)).status == 401


async def test_a_new_code_replaces_the_one_before(reader: Reader) -> None:
    asked = await reader.asked()
    before = await reader.code()
    sent = await reader.send(asked)
    after = await reader.code(2)

    assert sent.status == 204, await sent.text()
    if before != after:
        assert (await reader.give(asked, before)).status == 401
    assert (await reader.give(asked, after)).status == 202


async def test_few_codes_are_mailed_in_a_quarter_of_an_hour(world: Mailed, reader: Reader) -> None:
    asked = await reader.asked()
    statuses = [(await reader.send(asked)).status for _ in range(5)]

    assert statuses == [204, 204, 204, 204, 429]
    world.admin.deployment.clock.advance(timedelta(minutes=15))
    assert (await reader.asked())["methods"] == ["email_code"]
    await reader.code(6)


async def test_wrong_codes_pause_all_codes_of_the_account(reader: Reader) -> None:
    asked = await reader.asked()
    code = await reader.code()
    wrong = f"{(int(code) + 1) % 10**6:06}"

    statuses = [(await reader.give(asked, wrong)).status for _ in range(5)]
    paused = await reader.give(asked, code)

    assert set(statuses) == {401}
    assert paused.status == 429


async def test_nobody_else_has_a_code_sent(world: Mailed, reader: Reader) -> None:
    asked = await reader.asked()
    stranger = world.alice()
    await stranger.begin()

    answers = [
        await stranger.send("POST", SEND, code=asked["code"]),
        await reader.person.send("POST", SEND, code="unheard-of"),
    ]

    assert [answer.status for answer in answers] == [401, 401]


async def test_a_browser_is_not_remembered_for_a_code_by_mail(reader: Reader) -> None:
    asked = await reader.asked()
    answer = await reader.give(asked, await reader.code())

    assert not any("Mfa" in cookie for cookie in answer.headers.getall("Set-Cookie", []))


@pytest.mark.parametrize("email_codes", ["off", "required"])
async def test_the_tenant_decides(world: Mailed, email_codes: str) -> None:
    await allow(world, email_codes)
    person = world.alice()

    answer = await person.sign_in(PASSWORD)

    assert answer.status == (202 if email_codes == "off" else 200)
    if email_codes == "off":
        assert await state(person) == {"enabled": False, "available": False}
        assert (await turn_on(person)).status == 409


async def test_a_user_with_another_factor_is_not_required_to_read_mail(world: Mailed) -> None:
    await allow(world, "required")
    users = world.admin.deployment.store.of(USERS)
    user = await users.get(DEFAULT, world.user_id)
    assert user is not None
    reader = Reader(world, world.alice())
    asked = await reader.asked()
    assert (await reader.give(asked, await reader.code())).status == 202

    assert await state(reader.person) == {"enabled": False, "available": True}


async def test_turning_on_and_off_needs_a_proof_of_a_moment_ago(world: Mailed) -> None:
    await allow(world, "optional")
    person = await world.signed_in()

    without = await person.own("POST", "/email_codes")
    turned_on = await turn_on(person)
    off_without = await person.own("DELETE", "/email_codes", mfa_mod_token_id="")
    administered = await world.admin.send("DELETE", f"/users/{world.user_id}/email_codes")

    assert (without.status, turned_on.status, off_without.status) == (400, 201, 403)
    assert administered.status == 200, await administered.text()
    assert await state(person) == {"enabled": False, "available": True}
    assert (await world.admin.send("DELETE", f"/users/{world.user_id}/email_codes")).status == 404
    typs = await world.admin.typs()
    assert typs.count("OneTimeCodesAdded") == typs.count("OneTimeCodesRemoved") == 1


async def test_the_user_turns_them_off_in_a_session_that_gave_a_code(reader: Reader) -> None:
    asked = await reader.asked()
    await reader.give(asked, await reader.code())
    person = reader.person

    off = await person.own("DELETE", "/email_codes", mfa_mod_token_id=await person.proof())

    assert off.status == 200, await off.text()
    assert await state(person) == {"enabled": False, "available": True}


async def test_a_mailbox_does_not_replace_a_stronger_factor(world: Mailed, reader: Reader) -> None:
    asked = await reader.asked()
    await reader.give(asked, await reader.code())
    person = reader.person
    begun = await person.own("POST", "/one_time_codes", name="phone", mfa_mod_token_id=await person.proof())
    generator = await begun.json()
    now = world.admin.deployment.clock.now()
    confirmed = await person.own(
        "POST",
        f"/one_time_codes/{generator['id']}/confirm",
        one_time_code=TOTP(generator["secret"]).at(now),
    )
    assert confirmed.status == 201, await confirmed.text()

    attacker = Reader(world, world.alice(), seen=reader.seen)
    asked = await attacker.asked()
    assert asked["methods"] == ["one_time_code", "email_code"]
    assert (await attacker.send(asked)).status == 204
    assert (await attacker.give(asked, await attacker.code(2))).status == 202
    refused = await attacker.person.own("POST", "/mfa_token", password=PASSWORD)

    assert (refused.status, (await refused.json())["error"]) == (403, "MfaRequired")


async def test_without_script_the_page_asks_for_the_code_and_sends_another(reader: Reader) -> None:
    asked = await reader.person.begin()
    query = urlencode({**asked, "scope": "openid", "response_type": "code"} | {"scopes": ""})
    page = await page_of(await reader.person.http.get(f"{BASE}/oidc/authorize?{query}"))
    hidden = {each.name: each.value for each in page.xpath("//form[@id='sign-in']//input[@type='hidden']")}
    challenge = await (await reader.person.http.post(f"{BASE}/pow")).text()
    credentials = {"email": "alice@example.com", "password": PASSWORD, "pow": solved(challenge)}
    step = await page_of(await reader.person.http.post(f"{BASE}/oidc/authorize", data=hidden | credentials))
    fields = {each.name: each.value for each in step.xpath("//form[@id='email-code-send']//input")}

    await reader.code()
    again = await page_of(await reader.person.http.post(f"{BASE}{SEND}", data=fields))
    answer = await reader.person.http.post(
        f"{BASE}{CODE}", data=fields | {"one_time_code": await reader.code(2)}, allow_redirects=False
    )

    assert "A code is on its way to your email address." in again.text_content()
    assert answer.status == 303, await answer.text()
