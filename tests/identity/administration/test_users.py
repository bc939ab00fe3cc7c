from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from identity.access.callers import Actor, ActorKind
from identity.directory.chosen_password import ChosenPassword
from identity.directory.client import ClientId
from identity.directory.labels import Group, Role
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from identity.directory.provider import PROVIDER_LINKS, ProviderLink
from identity.directory.user import USERS, AccountType, User, UserId
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import Permission
from identity.people.user_changes import NEVER_EXPIRES, UserChange
from server.platform.errors import (
    AlreadyExists,
    InvalidArgument,
    InvalidState,
    NotFound,
    PermissionDenied,
)
from tests.identity.administration.administration import ALICE, KEY, ROOT, Administration
from tests.identity.browsers import ADDRESS, NOON, PASSWORD, alice, app

NEW_PASSWORD = "a new and quite long one"
BOB = UserChange(email="Bob@Example.com")


async def update(administration: Administration, change: UserChange, actor: Actor = ROOT) -> None:
    await administration.users.update(administration.tenant, ALICE, change, actor=actor)


async def test_an_account_that_is_made_has_nothing_to_confirm_and_no_password(
    administration: Administration,
) -> None:
    bob = await administration.users.create(administration.tenant, BOB, ROOT)

    assert (bob.email, bob.account_type, bob.password_hash) == ("bob@example.com", AccountType.NEW, "")
    assert not bob.must_confirm_email
    assert bob == await administration.user(bob.id)
    assert ("NewUserRegistered", "bob@example.com") in await administration.told_of()


async def test_an_account_with_a_password_can_be_signed_in_to(administration: Administration) -> None:
    bob = await administration.users.create(administration.tenant, replace(BOB, password=PASSWORD), ROOT)

    assert bob.account_type is AccountType.PASSWORD
    assert await administration.provider.passwords.verify("default", bob.password_hash, PASSWORD)


async def test_two_accounts_do_not_share_an_address(administration: Administration) -> None:
    with pytest.raises(AlreadyExists):
        await administration.users.create(administration.tenant, UserChange(email="ALICE@example.com"), ROOT)


async def test_an_account_needs_an_address(administration: Administration) -> None:
    with pytest.raises(InvalidArgument):
        await administration.users.create(administration.tenant, UserChange(given_name="Bob"), ROOT)


async def test_people_come_in_pages_by_id(administration: Administration) -> None:
    await administration.provider.admit(*(alice(id=f"u{n}", email=f"u{n}@example.com") for n in range(4)))

    page = await administration.users.page(administration.tenant, after="u0", most=2)

    assert [user.id for user in page] == ["u1", "u2"]


async def test_somebody_is_found_by_an_address_in_any_case(administration: Administration) -> None:
    found = await administration.users.get_by_email(administration.tenant, "Alice@Example.COM")

    assert found.id == ALICE


async def test_what_is_not_named_stays(administration: Administration) -> None:
    before = await administration.user()

    await update(administration, UserChange(given_name="Alice"))

    after = await administration.user()
    assert after.given_name == "Alice"
    assert after == replace(before, given_name="Alice", revision=after.revision, changed_at=NOON)


async def test_an_empty_text_takes_a_member_away(administration: Administration) -> None:
    await update(administration, UserChange(given_name="Alice", values={"locality": "Oxford"}))

    await update(administration, UserChange(given_name="", values={"locality": ""}))

    after = await administration.user()
    assert (after.given_name, after.values) == ("", {})


@pytest.mark.parametrize(
    "name", ["Davis, Jr.", "Renée (Nina)", "O\u2019Neill", "María-José", "John 3rd", 'Ada "Byron" <King>/λ']
)
async def test_people_have_names_of_all_visible_characters(administration: Administration, name: str) -> None:
    await update(administration, UserChange(given_name=name, family_name=name))

    after = await administration.user()
    assert (after.given_name, after.family_name) == (name, name)


async def test_stored_texts_with_characters_that_nobody_sees_stay_and_are_found(
    administration: Administration,
) -> None:
    email, name = "a\u200bda@example.com", "A\u200bda"
    await administration.provider.admit(alice(id="ada", email=email, given_name=name))
    tenant, users = administration.tenant, administration.users
    change = UserChange(email=email, given_name=name, family_name="King")

    await users.update(tenant, UserId("ada"), change, actor=ROOT)

    found = await users.get_by_email(tenant, email)
    assert (found.given_name, found.family_name) == (name, "King")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(UserChange(email="no address"), id="e-mail"),
        pytest.param(UserChange(email="a" * 250 + "@example.com"), id="long e-mail"),
        pytest.param(UserChange(email="al\u200bice@example.com"), id="e-mail with a zero-width space"),
        pytest.param(UserChange(email="al\u202eice@example.com"), id="e-mail that is read backwards"),
        pytest.param(UserChange(email="alice@exa\u00admple.com"), id="e-mail with a soft hyphen"),
        pytest.param(UserChange(preferred_username="al\u200bice"), id="username with a zero-width space"),
        pytest.param(UserChange(given_name="Ada\n"), id="name with a line feed"),
        pytest.param(UserChange(given_name="A\u200bda"), id="name with a zero-width space"),
        pytest.param(UserChange(values={"locality": "Ox\u202eford"}), id="town that is read backwards"),
        pytest.param(UserChange(family_name="a\u202eb"), id="name that is read backwards"),
        pytest.param(UserChange(family_name="a" * 65), id="long name"),
        pytest.param(UserChange(language="english please"), id="language"),
        pytest.param(UserChange(preferred_username="root"), id="reserved username"),
        pytest.param(UserChange(values={"birthdate": "yesterday"}), id="birthdate"),
        pytest.param(UserChange(values={"phone_number": "0123"}), id="phone"),
        pytest.param(UserChange(password="seven77"), id="short password"),
        pytest.param(UserChange(password="x" * 257), id="long password"),
        pytest.param(UserChange(roles=("unheard-of",)), id="role that there is not"),
        pytest.param(UserChange(groups=("unheard-of",)), id="group that there is not"),
    ],
)
async def test_what_nobody_can_be_is_refused(administration: Administration, change: UserChange) -> None:
    before = await administration.user()

    with pytest.raises(InvalidArgument):
        await update(administration, change)

    assert await administration.user() == before


@pytest.mark.parametrize("name", ["Łukasz", "François-Xavier", "O'Brien", "محمد", "ณัฐ", "김민준"])
async def test_names_are_of_every_script(administration: Administration, name: str) -> None:
    await update(administration, UserChange(given_name=name))

    assert (await administration.user()).given_name == name


async def test_roles_and_groups_are_those_that_there_are(administration: Administration) -> None:
    tenant_id = administration.tenant.tenant_id
    await administration.roles.add(
        administration.tenant, Role(tenant_id=tenant_id, id="", name="clerk"), ROOT
    )
    await administration.groups.add(
        administration.tenant, Group(tenant_id=tenant_id, id="", name="readers"), ROOT
    )

    await update(administration, UserChange(roles=("clerk", "clerk"), groups=("readers",)))

    user = await administration.user()
    assert (user.roles, user.groups) == (("clerk",), ("readers",))


async def test_an_administrator_marks_an_address_confirmed(administration: Administration) -> None:
    await administration.provider.admit(
        alice(id="eve", email="eve@example.com", is_email_verified=False, is_self_registered=True)
    )

    after = await administration.users.update(
        administration.tenant, UserId("eve"), UserChange(is_email_verified=True), actor=ROOT
    )

    assert (after.must_confirm_email, after.confirmed_at) == (False, NOON)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(UserChange(password=NEW_PASSWORD), id="new password"),
        pytest.param(UserChange(is_enabled=False), id="disabled"),
        pytest.param(UserChange(valid_until=NOON), id="ended"),
    ],
)
async def test_whose_credentials_change_is_signed_out_everywhere(
    administration: Administration, change: UserChange
) -> None:
    await administration.provider.register(app(backchannel_logout_uri="https://app.example.com/logout"))
    session = await administration.sign_in(ALICE, "app")
    await administration.grant()

    await update(administration, change)

    assert (await administration.live_sessions(), await administration.live_token_sets()) == ([], [])
    [logout] = await administration.logouts()
    assert (logout.client_id, logout.sid) == (ClientId("app"), session.sid)


@pytest.mark.parametrize(
    "change",
    [UserChange(given_name="Alice"), UserChange(valid_until=NOON + timedelta(days=1))],
    ids=["name", "a later end"],
)
async def test_whose_credentials_stay_stays_signed_in(
    administration: Administration, change: UserChange
) -> None:
    session = await administration.sign_in()

    await update(administration, change)

    assert await administration.live_sessions() == [session]


async def test_a_new_password_replaces_the_old_one(administration: Administration) -> None:
    await administration.store.of(USERS).replace(
        replace(await administration.user(), account_type=AccountType.NEW, password_until=NOON)
    )

    await update(administration, UserChange(password=NEW_PASSWORD))

    user, passwords = await administration.user(), administration.provider.passwords
    assert (user.account_type, user.password_until) == (AccountType.PASSWORD, None)
    assert await passwords.verify("default", user.password_hash, NEW_PASSWORD)
    assert not await passwords.verify("default", user.password_hash, PASSWORD)
    assert ("UserPasswordReset", "alice@example.com") in await administration.told_of()


@pytest.mark.parametrize("end", [NOON + timedelta(days=1), NEVER_EXPIRES], ids=["a time", "never"])
async def test_an_account_ends_when_it_is_told(administration: Administration, end: datetime) -> None:
    await update(administration, UserChange(valid_until=NOON + timedelta(hours=1)))

    await update(administration, UserChange(valid_until=end))

    assert (await administration.user()).valid_until == (None if end is NEVER_EXPIRES else end)


async def test_changes_say_whose_doing_they_were(administration: Administration) -> None:
    await update(administration, UserChange(email="alice@example.org"), actor=KEY)

    events = await administration.events()
    assert ("UserEmailChange", "alice@example.com → alice@example.org") in await administration.told_of()
    assert {(event.actor and event.actor.id, event.user_id) for event in events} == {("robot", ALICE)}


async def test_whoever_changes_its_own_password_is_told_of_with_address_and_session(
    administration: Administration,
) -> None:
    session = await administration.sign_in()
    herself = Actor(ActorKind.USER, ALICE, "alice@example.com", session=session.sid, peer_address=ADDRESS)

    await update(administration, UserChange(password=NEW_PASSWORD), actor=herself)

    (event,) = [event for event in await administration.events() if event.type == "UserPasswordChanged"]
    assert (event.user_id, event.ip, event.session) == (ALICE, ADDRESS, session.sid)
    assert [each.sid for each in await administration.live_sessions()] == [session.sid]


async def test_who_becomes_an_administrator_is_told_of(administration: Administration) -> None:
    await update(administration, UserChange(roles=("admin",)))

    assert ("NewAdministrator", "alice@example.com") in await administration.told_of()


async def test_an_api_key_makes_no_administrators(administration: Administration) -> None:
    with pytest.raises(PermissionDenied):
        await update(administration, UserChange(roles=("admin",)), actor=KEY)
    with pytest.raises(PermissionDenied):
        await administration.users.create(administration.tenant, replace(BOB, roles=("admin",)), KEY)


async def test_an_api_key_gives_no_role_that_makes_administrators(administration: Administration) -> None:
    owner = Role(
        tenant_id=administration.tenant.tenant_id,
        id="",
        name="owner",
        permissions=(Permission.IDENTITY_WRITE,),
    )
    await administration.roles.add(administration.tenant, owner, ROOT)

    with pytest.raises(PermissionDenied):
        await update(administration, UserChange(roles=("owner",)), actor=KEY)


async def test_an_api_key_does_not_touch_administrators(administration: Administration) -> None:
    await update(administration, UserChange(roles=("admin",)))

    with pytest.raises(PermissionDenied):
        await update(administration, UserChange(password=NEW_PASSWORD), actor=KEY)
    with pytest.raises(PermissionDenied):
        await administration.users.delete(administration.tenant, ALICE, KEY)


@pytest.mark.parametrize(
    ("claim", "change"),
    [
        ("email", UserChange(email="boss@example.com")),
        ("groups", UserChange(groups=("board",))),
        ("email_verified", UserChange(is_email_verified=True)),
    ],
    ids=["address", "group", "confirmed address"],
)
async def test_an_api_key_changes_nobody_to_meet_a_rule_that_makes_administrators(
    administration: Administration, claim: str, change: UserChange
) -> None:
    tenant_id = administration.tenant.tenant_id
    await administration.groups.add(
        administration.tenant, Group(tenant_id=tenant_id, id="", name="board"), ROOT
    )
    await administration.provider.admit(alice(id="carol", email="carol@example.com", is_email_verified=False))
    met = {"email": "boss@example.com", "groups": "board", "email_verified": "true"}
    rule = MappingRule(
        tenant_id=tenant_id,
        id="rule",
        name="rule",
        claim_name=claim,
        claim_value=met[claim],
        roles=("admin",),
    )
    await administration.store.of(MAPPING_RULES).insert(rule)
    carol = UserId("carol")

    with pytest.raises(PermissionDenied):
        await administration.users.update(administration.tenant, carol, change, actor=KEY)
    assert (await administration.user(carol)).email == "carol@example.com"
    await administration.users.update(administration.tenant, carol, change, actor=ROOT)


async def test_who_is_removed_leaves_nothing(administration: Administration) -> None:
    await administration.sign_in()
    await administration.grant()
    await administration.device("phone")
    await administration.store.of(PROVIDER_LINKS).insert(
        ProviderLink(tenant_id=administration.tenant.tenant_id, id="p1 7", provider_id="p1", user_id=ALICE)
    )

    await administration.users.delete(administration.tenant, ALICE, ROOT)

    with pytest.raises(NotFound):
        await administration.user()
    assert (await administration.live_sessions(), await administration.live_token_sets()) == ([], [])
    assert await administration.devices.of_user(administration.tenant, ALICE) == []
    assert await administration.store.of(PROVIDER_LINKS).page(administration.tenant.tenant_id) == []
    assert ("Deleted", "user alice@example.com") in await administration.told_of()


async def test_the_address_of_who_is_removed_is_free(administration: Administration) -> None:
    await administration.users.delete(administration.tenant, ALICE, ROOT)

    created = await administration.users.create(
        administration.tenant, UserChange(email="alice@example.com"), ROOT
    )

    assert created.id != ALICE


class ChosenMeanwhile:
    """Another administrator changes the user while the password is hashed."""

    def __init__(self, administration: Administration) -> None:
        self._administration = administration

    async def choose(self, tenant: Tenant, user: User, password: str) -> ChosenPassword:
        await update(self._administration, UserChange(password="chosen by somebody else"))
        return await self._administration.users.password_choice.choose(tenant, user, password)


async def test_a_password_does_not_replace_one_that_came_meanwhile(administration: Administration) -> None:
    slower = replace(administration.users, password_choice=ChosenMeanwhile(administration))

    with pytest.raises(InvalidState):
        await slower.update(administration.tenant, ALICE, UserChange(password=NEW_PASSWORD), actor=ROOT)

    user = await administration.user()
    assert await administration.provider.passwords.verify(
        "default", user.password_hash, "chosen by somebody else"
    )


async def test_whose_account_ends_is_signed_out_also_where_it_ends_it(administration: Administration) -> None:
    session = await administration.sign_in()

    herself = Actor(ActorKind.USER, ALICE, "alice@example.com", is_administrator=True, session=session.sid)
    await update(administration, UserChange(is_enabled=False), actor=herself)

    assert await administration.live_sessions() == []
