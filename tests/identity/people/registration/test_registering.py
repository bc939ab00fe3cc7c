"""Self-registration, and facts that its responses must not reveal."""

import pytest

from identity.access.login_protection.equal_duration import LEAST_SECONDS
from identity.directory.config import UsersConfig
from identity.directory.labels import Group
from identity.directory.password_config import PasswordConfig
from identity.directory.passwords import Passwords
from identity.directory.tenants.settings import TenantSettings
from identity.directory.user import User
from identity.people.registration.confirmation import Status
from identity.people.user_changes import UserChange
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied, ResourceExhausted
from tests.identity.administration.administration import ROOT
from tests.identity.administration.tenants.domains import Provider as UpstreamProvider
from tests.identity.browsers import NOON, alice, app
from tests.identity.people.registration.desk import EVE, OPEN, OTHER_PASSWORD, PASSWORD, Desk

ALICE = "alice@example.com"


def unconfirmed(**fields: object) -> User:
    registered = {"id": "eve", "email": EVE, "is_email_verified": False, "is_self_registered": True}
    return alice(**registered | fields)


async def test_whoever_registers_has_an_account_that_waits_for_its_address(desk: Desk) -> None:
    await desk.register(given_name="Eve", family_name="Moss")

    user = await desk.known()
    assert (user.email, user.given_name, user.family_name) == (EVE, "Eve", "Moss")
    assert (user.must_confirm_email, user.is_email_verified, user.created_at) == (True, False, NOON)
    assert (user.tenant_ids, user.account_type) == ((desk.tenant.tenant_id,), "password")
    assert await desk.has_password(PASSWORD)
    assert await desk.told_of() == {("NewUserRegistered", EVE), ("UserConfirmationSent", None)}


async def test_a_letter_has_the_link_of_the_tenant(desk: Desk) -> None:
    await desk.register()

    (letter,) = desk.letters
    assert (letter.to, letter.subject) == (EVE, "Confirm your email address")
    assert desk.link.issuer == desk.tenant.issuer
    assert desk.link.user_id == (await desk.known()).id
    assert "within 24 hours" in letter.text


async def test_r4_names_may_be_left_out(desk: Desk) -> None:
    await desk.register()

    user = await desk.known()
    assert (user.given_name, user.family_name, user.preferred_username) == ("", "", "")


async def test_r1_while_nobody_may_register_nobody_does() -> None:
    desk = Desk(UsersConfig())

    with pytest.raises(PermissionDenied):
        await desk.register()

    assert (await desk.everybody(), desk.letters) == ([], [])
    desk.close()


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"email": ""}, id="no address"),
        pytest.param({"email": "eve"}, id="no domain"),
        pytest.param({"email": "eve@example.com\r\nBcc: x@example.com"}, id="two headers"),
        pytest.param({"email": "eve\N{RIGHT-TO-LEFT OVERRIDE}@example.com"}, id="direction turned"),
        pytest.param({"password": ""}, id="no password"),
        pytest.param({"proof_of_work": ""}, id="no proof of work"),
        pytest.param({"email": "e\u200bve@example.com"}, id="an address that looks like another one"),
        pytest.param({"given_name": "Eve\r\nBcc: x@example.com"}, id="a name of two lines"),
        pytest.param({"given_name": "E\u202eve"}, id="a name that is read backwards"),
        pytest.param({"family_name": "x" * 65}, id="a name that is too long"),
        pytest.param({"preferred_username": "No Username"}, id="a username that is none"),
        pytest.param({"preferred_username": "root"}, id="a reserved username"),
        pytest.param(
            {"client_id": "app", "redirect_uri": "https://evil.example.com/"}, id="a stranger's address"
        ),
    ],
)
async def test_a_form_that_is_wrong_makes_no_account(desk: Desk, fields: dict[str, str]) -> None:
    await desk.add_client(app())

    with pytest.raises(InvalidArgument):
        await desk.register(**fields)

    assert (await desk.everybody(), desk.letters) == ([], [])


async def test_r3_a_username_is_asked_for_where_it_is_required() -> None:
    desk = Desk(UsersConfig(registration_enabled=True, preferred_username_required=True))

    with pytest.raises(InvalidArgument, match="preferred_username"):
        await desk.register()
    await desk.register(preferred_username="eve")

    assert (await desk.known()).preferred_username == "eve"
    desk.close()


@pytest.mark.parametrize("email", [EVE, ALICE, "new@example.com"])
async def test_r3_a_taken_username_is_told_of_whatever_the_address(desk: Desk, email: str) -> None:
    await desk.provider.admit(alice(preferred_username="taken"), unconfirmed())

    with pytest.raises(InvalidArgument, match="there is a user with this name"):
        await desk.register(email, preferred_username="taken")

    assert desk.letters == []


@pytest.mark.parametrize("email", [EVE, ALICE, "new@example.com"])
@pytest.mark.parametrize(
    ("password", "message"),
    [("too short", "Minimum password length is 15"), ("qwertyuiopasdfghjkl", "easily guessed")],
)
async def test_r5_a_weak_password_is_told_of_before_the_address_is_looked_up(
    desk: Desk, email: str, password: str, message: str
) -> None:
    await desk.provider.admit(alice(), unconfirmed())

    with pytest.raises(InvalidArgument, match=message):
        await desk.register(email, password=password)

    assert desk.letters == []


async def test_r6_the_owner_of_an_account_is_told_seldom_and_nothing_changes(desk: Desk) -> None:
    await desk.provider.admit(alice())

    for _ in range(3):
        await desk.register(ALICE, password=OTHER_PASSWORD, given_name="Eve")

    (letter,) = desk.letters
    assert (letter.to, letter.subject) == (ALICE, "You already have an account")
    assert await desk.known(ALICE) == alice(revision=1)
    desk.advance(days=1)
    await desk.register(ALICE)
    assert len(desk.letters) == 2


@pytest.mark.parametrize(
    "user", [alice(is_enabled=False), alice(valid_until=NOON)], ids=["disabled", "ended"]
)
async def test_an_account_that_is_over_gets_no_letter(desk: Desk, user: User) -> None:
    await desk.provider.admit(user)

    await desk.register(ALICE)

    assert desk.letters == []


async def test_r7_who_registers_a_waiting_address_again_does_not_change_its_account(desk: Desk) -> None:
    await desk.register(given_name="First")
    first = desk.link

    await desk.register(password=OTHER_PASSWORD, given_name="Second")

    assert (await desk.known()).given_name == "First"
    assert await desk.has_password(PASSWORD)
    with pytest.raises(NotFound):
        await desk.confirm(first)
    assert not (await desk.known()).is_email_verified


async def test_r7_of_an_address_that_was_registered_twice_no_password_counts(desk: Desk) -> None:
    """The owner sent one of the two forms, and it is unknown which."""
    await desk.register(given_name="First", preferred_username="first")
    await desk.register(password=OTHER_PASSWORD, given_name="Second", family_name="Time")

    confirmation = await desk.confirm(desk.link)

    user = await desk.known()
    assert (user.given_name, user.family_name, user.preferred_username) == ("Second", "Time", "first")
    assert (user.is_email_verified, user.has_no_way_in) == (True, True)
    assert confirmation.password_uri == f"https://id.example.com/auth/v1/users/{user.id}/reset/code"
    assert desk.password_links.made == [(EVE, "")]


async def test_r7_another_link_for_the_last_attempt_leads_to_a_password_too(desk: Desk) -> None:
    await desk.register()
    await desk.register(password=OTHER_PASSWORD)

    await desk.ask_again()
    await desk.confirm(desk.link)

    assert (await desk.known()).has_no_way_in


async def test_r7_the_password_of_the_only_form_counts_however_often_its_link_is_sent(desk: Desk) -> None:
    await desk.register()
    await desk.ask_again()

    confirmation = await desk.confirm(desk.link)

    assert (confirmation.password_uri, desk.password_links.made) == ("", [])
    assert await desk.has_password(PASSWORD)


async def test_r7_a_link_that_is_followed_once_more_leads_to_no_other_password(desk: Desk) -> None:
    await desk.register()
    await desk.register(password=OTHER_PASSWORD)
    await desk.confirm(desk.link)

    again = await desk.confirm(desk.link)

    assert (again.status, again.password_uri) == (Status.CONFIRMED, "")
    assert len(desk.password_links.made) == 1


async def test_r7_the_letter_says_that_several_forms_were_sent(desk: Desk) -> None:
    await desk.register()
    await desk.register(password=OTHER_PASSWORD)
    await desk.ask_again()

    told = ["registered more than once" in letter.text for letter in desk.letters]

    assert told == [False, True, True]


async def test_r7_an_address_gets_so_many_letters_and_no_more(desk: Desk) -> None:
    for _ in range(7):
        await desk.register()

    assert len(desk.letters) == 5
    desk.advance(hours=1)
    await desk.register()
    assert len(desk.letters) == 6
    await desk.confirm(desk.link)


async def test_an_account_that_is_in_use_is_nobody_elses_to_register(desk: Desk) -> None:
    await desk.provider.admit(unconfirmed(last_login_at=NOON))

    await desk.register(password=OTHER_PASSWORD)

    assert [letter.subject for letter in desk.letters] == ["You already have an account"]
    assert await desk.known() == unconfirmed(last_login_at=NOON, revision=1)


async def test_r8_where_nothing_is_to_be_confirmed_the_account_is_good_at_once(desk: Desk) -> None:
    await desk.ask_of(TenantSettings(requires_email_confirmation=False))

    await desk.register()
    await desk.register(password=OTHER_PASSWORD)

    assert [letter.subject for letter in desk.letters] == [
        "Confirm your email address",
        "You already have an account",
    ]
    assert not (await desk.known()).is_email_verified
    assert await desk.has_password(PASSWORD)


async def test_r28_default_groups_are_those_that_there_are(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    await desk.administration.groups.add(
        desk.tenant, Group(tenant_id=desk.tenant.tenant_id, id="", name="people"), ROOT
    )
    await desk.ask_of(TenantSettings(default_groups=("people", "gone")))

    await desk.register()
    made = await desk.administration.users.create(desk.tenant, UserChange(email="bob@example.com"), ROOT)

    assert (await desk.known()).groups == ("people",)
    assert made.groups == ()
    assert "default groups do not exist" in caplog.messages


@pytest.mark.parametrize("email", ["new@company.example.com", "bob@company.example.com"])
async def test_r29_people_of_a_company_sign_in_there(desk: Desk, email: str) -> None:
    company = UpstreamProvider("corp")
    desk.company.providers["company.example.com"] = company
    await desk.provider.admit(alice(id="bob", email="bob@company.example.com"))

    found = await desk.register(email)

    assert found == company
    assert [user.id for user in await desk.everybody()] == ["bob"]
    assert desk.letters == []


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        pytest.param("Eve@Example.COM", "eve@example.com", True, id="case"),
        pytest.param("eve@bücher.example", "eve@xn--bcher-kva.example", True, id="internationalized"),
        pytest.param("eve@example.com", "eve@example.com.", True, id="a final dot"),
        pytest.param("eve+a@example.com", "eve+b@example.com", False, id="plus"),
    ],
)
async def test_r32_which_addresses_are_the_same(
    desk: Desk, first: str, second: str, *, is_same: bool
) -> None:
    await desk.register(first)
    await desk.register(second)

    assert len(await desk.everybody()) == (1 if is_same else 2)


async def test_r35_a_proof_of_work_is_good_once_and_goes_first(desk: Desk) -> None:
    proof = desk.provider.solution()
    await desk.register(proof_of_work=proof)

    with pytest.raises(NotFound):
        await desk.register("bob@example.com", proof_of_work=proof, password="too short")
    with pytest.raises(PermissionDenied):
        await desk.register("bob@example.com", proof_of_work="x", password="too short")

    assert len(await desk.everybody()) == 1


async def test_r36_one_network_address_registers_so_many_in_an_hour() -> None:
    desk = Desk(UsersConfig(registration_enabled=True, registration_limit=2))
    await desk.register("1@example.com")
    await desk.ask_again("1@example.com")

    with pytest.raises(ResourceExhausted) as refusal:
        await desk.register("2@example.com")
    await desk.register("3@example.com", peer_address="192.0.2.8")
    desk.advance(hours=1)
    await desk.register("4@example.com")

    assert refusal.value.metadata == {"retry_after_secs": "3600"}
    assert {user.email[0] for user in await desk.everybody()} == {"1", "3", "4"}
    desk.close()


async def test_r36_a_network_of_the_newer_kind_counts_as_one_address() -> None:
    desk = Desk(UsersConfig(registration_enabled=True, registration_limit=1))
    await desk.register("1@example.com", peer_address="2001:db8::1")

    with pytest.raises(ResourceExhausted):
        await desk.register("2@example.com", peer_address="2001:db8::2")

    desk.close()


class CountedPasswords(Passwords):
    hashed = 0

    async def hash(self, tenant_id: str, password: str) -> str:
        self.hashed += 1
        return await super().hash(tenant_id, password)


@pytest.mark.parametrize("email", [EVE, ALICE, "new@example.com"])
async def test_every_address_costs_one_hash_and_the_same_time(email: str) -> None:
    passwords = CountedPasswords(PasswordConfig(memory_kib=8, iterations=1, lanes=1, workers=1))
    desk = Desk(OPEN, passwords)
    await desk.provider.admit(alice(), unconfirmed())

    await desk.register(email, password=OTHER_PASSWORD)

    assert passwords.hashed == 1
    (pause,) = desk.pauses.seconds
    assert 0 < pause <= LEAST_SECONDS
    passwords.close()
    desk.close()


async def test_r38_nothing_that_was_typed_stands_in_a_letter(desk: Desk) -> None:
    await desk.provider.admit(alice())
    typed = {"given_name": "Visit evil.example.com", "family_name": "www.evil.example.com"}

    for email in (EVE, ALICE):
        await desk.register(email, preferred_username=f"{email[:3]}.evil.example.com", **typed)

    assert len(desk.letters) == 2
    for letter in desk.letters:
        assert "evil" not in f"{letter.subject}{letter.text}".lower()
        assert letter.to in {EVE, ALICE}
        assert letter.to not in letter.text
