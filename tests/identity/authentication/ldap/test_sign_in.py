"""Sign-in with the password of a directory, at a real server."""

from collections.abc import AsyncIterator

import pytest

from identity.authentication.ldap.person import person_of
from identity.delivery.http.destinations import Destinations
from identity.delivery.ldap.messages import Entry
from identity.directory.tenants.ldap_directory import LdapFields, LdapGroupMapping
from identity.directory.user import AccountType
from server.platform.errors import PermissionDenied, ResourceExhausted, Unauthenticated, Unavailable
from tests.identity.authentication.ldap.company import Company, fields_of
from tests.identity.browsers import PASSWORD, alice
from tests.slapd import ALICE, GROUPS, STAFF, Slapd, group, person

WRONG = "the e-mail address or the password is wrong"


@pytest.fixture
async def company() -> AsyncIterator[Company]:
    made = Company()
    yield made
    await made.pools.close()


@pytest.mark.parametrize("name", ["alice", "Alice", "alice@example.com"])
async def test_a_user_of_the_directory_signs_in_and_has_an_account(
    company: Company, server: Slapd, name: str
) -> None:
    await company.use(fields_of(server))

    user = await company.sign_in(name, "wonderland")

    assert (user.email, user.preferred_username) == ("alice@example.com", "alice")
    assert (user.given_name, user.family_name, user.is_email_verified) == ("Alice", "Liddell", True)
    assert (user.account_type, user.password_hash) == (AccountType.FEDERATED, "")


async def test_the_same_user_has_the_same_account_by_each_name(company: Company, server: Slapd) -> None:
    await company.use(fields_of(server))

    first = await company.sign_in("alice", "wonderland")
    second = await company.sign_in("alice@example.com", "wonderland")

    assert first.id == second.id


@pytest.mark.parametrize("scheme", ["ldaps", "start_tls"])
async def test_connections_are_encrypted(company: Company, server: Slapd, scheme: str) -> None:
    urls = (server.ldaps,) if scheme == "ldaps" else (server.ldap,)
    await company.use(fields_of(server, urls=urls, starts_tls=scheme == "start_tls"))

    assert (await company.sign_in("alice", "wonderland")).email == "alice@example.com"


@pytest.mark.parametrize("scheme", ["ldaps", "start_tls"])
async def test_a_server_with_a_certificate_of_another_authority_is_not_asked(
    company: Company, server: Slapd, scheme: str
) -> None:
    urls = (server.ldaps,) if scheme == "ldaps" else (server.ldap,)
    await company.use(fields_of(server, urls=urls, starts_tls=scheme == "start_tls", ca_certificates=""))

    with pytest.raises(Unavailable):
        await company.sign_in("alice", "wonderland")


async def test_a_certificate_of_another_host_is_refused(company: Company, server: Slapd) -> None:
    elsewhere = server.ldaps.replace("127.0.0.1", "127.0.0.2")
    await company.use(fields_of(server, urls=(elsewhere,)))

    with pytest.raises(Unavailable):
        await company.sign_in("alice", "wonderland")


@pytest.mark.parametrize(
    ("name", "password"),
    [
        pytest.param("alice", "wrong", id="wrong password"),
        pytest.param("nobody", "wonderland", id="unknown name"),
        pytest.param("*", "wonderland", id="any name"),
        pytest.param("alice)(uid=*", "wonderland", id="another filter"),
        pytest.param("alice\\2a", "wonderland", id="escaped"),
        pytest.param("alice ", "wrong", id="a space"),
        pytest.param("a\u200dlice", "wonderland", id="invisible"),
        pytest.param("\uff41lice", "wonderland", id="another width"),
    ],
)
async def test_refusals_are_alike(company: Company, server: Slapd, name: str, password: str) -> None:
    await company.use(fields_of(server))

    with pytest.raises(Unauthenticated) as refusal:
        await company.sign_in(name, password)

    assert str(refusal.value) == WRONG


async def test_an_empty_password_never_binds(company: Company, server: Slapd) -> None:
    await company.use(fields_of(server))

    with pytest.raises(Unauthenticated):
        await company.sign_in("alice", "")


async def test_an_account_with_its_own_password_stays_here(company: Company, server: Slapd) -> None:
    await company.use(fields_of(server, links=True))
    await company.provider.admit(alice())

    assert (await company.sign_in("alice@example.com", PASSWORD)).id == "alice"
    with pytest.raises(Unauthenticated):
        await company.sign_in("alice@example.com", "wonderland")
    with pytest.raises(PermissionDenied) as refusal:
        await company.sign_in("alice", "wonderland")
    assert refusal.value.metadata == {"cause": "NO_ACCOUNT"}


async def test_an_existing_account_is_linked_where_administrators_say_so(
    company: Company, server: Slapd
) -> None:
    await company.provider.admit(alice(password_hash=""))
    await company.use(fields_of(server))
    with pytest.raises(PermissionDenied):
        await company.sign_in("alice", "wonderland")

    await company.use(fields_of(server, links=True))

    assert (await company.sign_in("alice", "wonderland")).id == "alice"


async def test_the_account_of_an_administrator_is_not_linked(company: Company, server: Slapd) -> None:
    await company.provider.admit(alice(password_hash="", roles=("admin",)))
    await company.use(fields_of(server, links=True))

    with pytest.raises(PermissionDenied):
        await company.sign_in("alice", "wonderland")


async def test_a_registration_that_nobody_confirmed_does_not_keep_the_address(
    company: Company, server: Slapd
) -> None:
    await company.provider.admit(alice(is_email_verified=False, is_self_registered=True))
    await company.use(fields_of(server, links=True))

    user = await company.sign_in("alice@example.com", "wonderland")

    assert (user.id, user.password_hash, user.is_email_verified) == ("alice", "", True)
    assert company.ended.user_ids == ["alice"]


async def test_users_get_no_account_where_administrators_make_them(company: Company, server: Slapd) -> None:
    await company.use(fields_of(server, onboards=False))

    with pytest.raises(PermissionDenied) as refusal:
        await company.sign_in("alice", "wonderland")

    assert refusal.value.metadata == {"cause": "NO_ACCOUNT"}


async def test_an_account_that_is_disabled_here_stays_so(company: Company, server: Slapd) -> None:
    await company.use(fields_of(server))
    user = await company.sign_in("alice", "wonderland")
    found = await company.provider.users.find(company.provider.tenant, user.user_id)
    assert found is not None
    await company.provider.users.replace(
        alice(id=user.id, revision=found.revision, is_enabled=False, password_hash="")
    )

    with pytest.raises(Unauthenticated):
        await company.sign_in("alice", "wonderland")


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="by the entry"),
        pytest.param({"group_base": GROUPS}, id="by a search"),
    ],
)
async def test_groups_give_roles_and_groups_at_each_sign_in(
    company: Company, server: Slapd, fields: dict[str, object]
) -> None:
    mapping = LdapGroupMapping(group=STAFF.replace(",", " , ").upper(), roles=("worker",), groups=("team",))
    await company.use(fields_of(server, mappings=(mapping,), **fields))
    await company.use(fields_of(server, mappings=(mapping,), **fields))

    assert (await company.sign_in("alice", "wonderland")).roles == ("worker",)
    user = await company.sign_in("bob", "builder")
    assert (user.roles, user.groups) == ((), ())


async def test_a_membership_that_ended_takes_the_role(company: Company, server: Slapd) -> None:
    server.add(person("carol", "carols"))
    server.add(group("former", ALICE, f"uid=carol,{ALICE.partition(',')[2]}"))
    mapping = LdapGroupMapping(group="former", roles=("worker",))
    await company.use(fields_of(server, mappings=(mapping,), group_base=GROUPS))
    before = await company.sign_in("carol", "carols")

    server.modify(
        f"dn: cn=former,{GROUPS}\nchangetype: modify\ndelete: member\nmember: uid=carol,{ALICE.partition(',')[2]}\n"
    )
    after = await company.sign_in("carol", "carols")

    assert (before.id, before.roles, after.roles) == (after.id, ("worker",), ())
    assert company.version.advances == 2


async def test_names_and_address_follow_the_directory(company: Company, server: Slapd) -> None:
    server.add(person("dave", "daves", givenName="Dave"))
    await company.use(fields_of(server))
    before = await company.sign_in("dave", "daves")

    server.modify(
        f"dn: uid=dave,{ALICE.partition(',')[2]}\nchangetype: modify\nreplace: mail\nmail: David@Example.com\n"
        "-\nreplace: givenName\ngivenName: David\n"
    )
    after = await company.sign_in("dave", "daves")

    assert (after.id, after.email, after.given_name) == (before.id, "david@example.com", "David")


async def test_guesses_are_counted(company: Company, server: Slapd) -> None:
    await company.use(fields_of(server))
    for _ in range(7):
        with pytest.raises(Unauthenticated):
            await company.sign_in("alice", "guess")

    with pytest.raises(ResourceExhausted):
        await company.sign_in("alice", "wonderland")


async def test_a_server_at_a_private_address_is_not_connected_to(server: Slapd) -> None:
    company = Company(Destinations())
    await company.use(fields_of(server))

    with pytest.raises(Unavailable):
        await company.sign_in("alice", "wonderland")


def test_an_entry_gives_names_of_all_visible_characters_and_no_others() -> None:
    attributes = {
        "entryuuid": [b"1"],
        "uid": ["a\u200bda".encode()],
        "mail": ["ada\u200b@example.com".encode()],
        "givenname": ["Renée (Nina)".encode()],
        "sn": ["Da\u202evis".encode()],
    }

    found = person_of(
        Entry("uid=ada", attributes), LdapFields(name="Company", is_enabled=True, urls=(), user_base="")
    )

    assert found is not None
    assert (found.username, found.email) == ("", "")
    assert (found.given_name, found.family_name) == ("Renée (Nina)", "")
