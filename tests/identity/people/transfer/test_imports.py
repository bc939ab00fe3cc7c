"""Import of accounts: what becomes of each, and that no existing account changes."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from identity.authentication.one_time_codes.factors import CODE_FACTORS
from identity.directory.labels import GROUPS, ROLES, Group, Role, UserAttribute
from identity.directory.password_hashes.costliest import CostliestHashes
from identity.directory.password_hashes.foreign_hash import cost_of, decoy_of
from identity.directory.provider import PROVIDER_LINKS, PROVIDERS, Provider, ProviderLink, link_id_of
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, TenantRecord
from identity.directory.user import AccountType
from identity.foundation.vocabulary import Permission
from identity.people.transfer.account import ImportedGenerator, ImportedLink
from identity.people.transfer.imports import ImportOptions, Outcome
from server.platform.records import AlreadyThere
from tests.identity.administration.administration import KEY, ROOT
from tests.identity.authentication.federation.upstream import FIELDS
from tests.identity.browsers import NOON
from tests.identity.directory.password_hashes.hashes import MADE, PASSWORD
from tests.identity.people.transfer.imported import BOB, Transfer, bob

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
DRY = ImportOptions(is_dry_run=True)
WITH_LABELS = ImportOptions(creates_labels=True)


async def test_an_account_comes_with_all_that_it_had(transfer: Transfer) -> None:
    administration = transfer.administration
    for label in (Group(tenant_id=transfer.tenant.tenant_id, id="", name="staff"),):
        await administration.groups.add(transfer.tenant, label, ROOT)
    await administration.attributes.add(
        UserAttribute(tenant_id=transfer.tenant.tenant_id, id="department"), ROOT
    )
    imported = bob(
        "Bob@Example.com",
        MADE["bcrypt 2b"](),
        preferred_username="bob",
        given_name="Bob",
        groups=("staff",),
        language="de",
        is_email_verified=True,
    )

    (result,) = await transfer.run(
        replace(
            imported,
            attributes='{"department": ["sales", 1], "nothing": null}',
            created_at=datetime(2020, 1, 1, tzinfo=UTC),
        )
    )

    user = await transfer.by_email()
    assert user is not None
    assert (result.outcome, result.user_id) == (Outcome.CREATED, user.id)
    assert (user.preferred_username, user.given_name, user.language) == ("bob", "Bob", "de")
    assert (user.groups, user.attributes) == (("staff",), {"department": '["sales", 1]'})
    assert (user.created_at, user.confirmed_at) == (datetime(2020, 1, 1, tzinfo=UTC), NOON)
    assert user.account_type is AccountType.PASSWORD
    assert ("NewUserRegistered", BOB) in await administration.told_of()
    assert administration.mail.letters == []


async def test_the_costliest_imported_hash_is_noted(transfer: Transfer) -> None:
    tenant_id, cheap, costly = transfer.tenant.tenant_id, MADE["PBKDF2 of Django"](), MADE["argon2i"]()
    record = TenantRecord(tenant_id=DEPLOYMENT, id=tenant_id, name="Default", created_at=NOON)
    await transfer.store.of(TENANTS).insert(record)

    await transfer.run(bob(password_hash=cheap), bob(email="ada@example.com", password_hash=costly))

    assert await CostliestHashes(transfer.store).of(tenant_id) == max(
        decoy_of(cheap), decoy_of(costly), key=cost_of
    )


@pytest.mark.parametrize("kind", MADE)
async def test_the_password_of_any_kind_of_hash_is_right(transfer: Transfer, kind: str) -> None:
    await transfer.run(bob(password_hash=MADE[kind]()))

    user = await transfer.by_email()
    assert user is not None
    assert await transfer.administration.provider.passwords.verify("default", user.password_hash, PASSWORD)


async def test_the_same_file_twice_changes_nothing(transfer: Transfer) -> None:
    users = [bob(f"u{number}@example.com", given_name="Una") for number in range(3)]
    await transfer.run(*users)
    before = await transfer.users.page(transfer.tenant.tenant_id)
    told = await transfer.administration.told_of()

    assert await transfer.outcomes(*users) == [Outcome.UNCHANGED] * 3

    assert await transfer.users.page(transfer.tenant.tenant_id) == before
    assert await transfer.administration.told_of() == told


async def test_what_the_user_changed_since_is_no_other_account(transfer: Transfer) -> None:
    await transfer.run(bob(password_hash=MADE["argon2i"](), given_name="Bob"))
    user = await transfer.by_email()
    assert user is not None
    await transfer.users.replace(replace(user, password_hash="$argon2id$ours", is_email_verified=True))

    assert await transfer.outcomes(bob(password_hash=MADE["argon2i"](), given_name="Bob")) == [
        Outcome.UNCHANGED
    ]


async def test_an_existing_account_is_never_changed(transfer: Transfer) -> None:
    alice = await transfer.by_email("alice@example.com")

    reason = await transfer.reason(
        bob("alice@example.com", MADE["bcrypt 2b"](), given_name="Mallory", is_enabled=False)
    )

    assert reason == "there is a user with this email and another given_name, enabled"
    assert await transfer.by_email("alice@example.com") == alice


async def test_a_taken_name_is_told(transfer: Transfer) -> None:
    await transfer.run(bob(preferred_username="bob"))

    reason = await transfer.reason(bob("other@example.com", preferred_username="bob"))

    assert reason == "there is a user with this preferred_username"


async def test_accounts_of_one_call_are_compared_with_each_other(transfer: Transfer) -> None:
    outcomes = await transfer.outcomes(
        bob(preferred_username="bob"),
        bob("BOB@example.com"),
        bob(given_name="Other"),
        bob("b@example.com", preferred_username="bob"),
    )

    refused = Outcome.REFUSED
    assert outcomes == [Outcome.CREATED, Outcome.UNCHANGED, refused, refused]


REFUSED = [
    pytest.param(bob(""), "email", id="no address"),
    pytest.param(bob("bob"), "email", id="a wrong address"),
    pytest.param(bob(password_hash="$1$salt$hash"), "password_hash", id="an unknown hash"),
    pytest.param(bob(password_hash=f"$2b$31${'a' * 53}"), "password_hash", id="a hash that costs too much"),
    pytest.param(bob(groups=("none",)), "groups", id="an unknown group"),
    pytest.param(bob(roles=("none",)), "roles", id="an unknown role"),
    pytest.param(bob(preferred_username="admin"), "preferred_username", id="a reserved name"),
    pytest.param(replace(bob(), attributes='{"none": 1}'), "attributes", id="an unknown attribute"),
    pytest.param(replace(bob(), attributes="[]"), "attributes", id="attributes that are no object"),
    pytest.param(replace(bob(), attributes='{"a": nul}'), "attributes", id="attributes that are no JSON"),
    pytest.param(replace(bob(), links=(ImportedLink("none", "1"),)), "links", id="an unknown provider"),
    pytest.param(
        replace(bob(), generators=(ImportedGenerator("", SECRET),)), "generators", id="codes without password"
    ),
    pytest.param(
        replace(bob(password_hash=MADE["argon2id"]()), generators=(ImportedGenerator("", "AAAA"),)),
        "generators",
        id="a short secret",
    ),
    pytest.param(
        replace(bob(password_hash=MADE["argon2id"]()), generators=(ImportedGenerator("", "1" * 32),)),
        "generators",
        id="a secret that is no base32",
    ),
]


@pytest.mark.parametrize(("user", "member"), REFUSED)
@pytest.mark.parametrize("options", [ImportOptions(), DRY])
async def test_a_refused_account_leaves_the_others(
    transfer: Transfer, user: object, member: str, options: ImportOptions
) -> None:
    results = await transfer.run(user, bob("other@example.com"), options=options)  # type: ignore[arg-type]  # a row

    assert [result.outcome for result in results] == [Outcome.REFUSED, Outcome.CREATED]
    assert f"{member}:" in results[0].reason
    assert await transfer.by_email() is None


async def test_a_dry_run_makes_nothing(transfer: Transfer) -> None:
    before = await transfer.users.page(transfer.tenant.tenant_id)
    options = ImportOptions(is_dry_run=True, creates_labels=True)

    outcomes = await transfer.outcomes(
        bob(groups=("new group",), roles=("new-role",)),
        bob(given_name="Other"),
        bob("alice@example.com", groups=("x",)),
        options=options,
    )

    assert outcomes == [Outcome.CREATED, Outcome.REFUSED, Outcome.REFUSED]
    assert await transfer.users.page(transfer.tenant.tenant_id) == before
    assert await transfer.store.of(GROUPS).page(transfer.tenant.tenant_id) == []
    assert await transfer.administration.told_of() == set()


async def test_labels_that_do_not_exist_are_made_where_that_is_wanted(transfer: Transfer) -> None:
    users = [
        replace(
            bob(f"u{number}@example.com", groups=("staff", f"g{number}"), roles=("clerk",)),
            attributes='{"department": 1}',
        )
        for number in range(2)
    ]

    assert await transfer.outcomes(*users, options=WITH_LABELS) == [Outcome.CREATED] * 2

    groups = await transfer.store.of(GROUPS).page(transfer.tenant.tenant_id)
    assert sorted(group.name for group in groups) == ["g0", "g1", "staff"]
    roles = await transfer.store.of(ROLES).page(transfer.tenant.tenant_id)
    assert [(role.name, role.permissions) for role in roles] == [("clerk", ())]


async def test_a_label_that_cannot_be_made_refuses_its_account(transfer: Transfer) -> None:
    outcomes = await transfer.outcomes(bob(groups=("<>",)), bob("b@example.com"), options=WITH_LABELS)

    assert outcomes == [Outcome.REFUSED, Outcome.CREATED]


@pytest.mark.parametrize("role", ["admin", "keeper"])
async def test_a_file_makes_nobody_an_administrator_unless_it_may(transfer: Transfer, role: str) -> None:
    permissions = (Permission.IDENTITY_WRITE,)
    keeper = Role(tenant_id=transfer.tenant.tenant_id, id="", name="keeper", permissions=permissions)
    await transfer.administration.roles.add(transfer.tenant, keeper, ROOT)
    allowed = ImportOptions(allows_administrators=True)

    assert "administrator" in await transfer.reason(bob(roles=(role,)))
    assert "API key" in await transfer.reason(bob(roles=(role,)), options=allowed, actor=KEY)
    assert await transfer.outcomes(bob(roles=(role,)), options=allowed) == [Outcome.CREATED]

    assert ("NewAdministrator", BOB) in await transfer.administration.told_of()


async def test_other_calls_take_their_turns_during_an_import(transfer: Transfer) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(others())
        await transfer.run(*(bob(f"u{number}@example.com") for number in range(500)))
        task.cancel()

    assert turns >= 500 / 20 * 2


async def test_an_authenticator_program_comes_along(transfer: Transfer) -> None:
    generators = (ImportedGenerator("Phone", SECRET), ImportedGenerator("phone", SECRET.lower()))
    await transfer.run(replace(bob(password_hash=MADE["argon2id"]()), generators=generators))

    user = await transfer.by_email()
    assert user is not None
    assert user.has_one_time_codes
    factors = await transfer.store.of(CODE_FACTORS).get(user.tenant_id, user.id)
    assert factors is not None
    assert [each.name for each in factors.generators] == ["Phone", "phone 2"]
    assert [transfer.secrets.open(factors, each) for each in factors.generators] == [SECRET, SECRET]


@pytest.fixture
async def upstream(transfer: Transfer) -> Provider:
    provider = Provider(tenant_id=transfer.tenant.tenant_id, id="p1", fields=replace(FIELDS, name="corp"))
    return await transfer.store.of(PROVIDERS).insert(provider)


@pytest.mark.parametrize("name", ["p1", "corp"])
async def test_a_user_of_an_upstream_provider_is_linked(
    transfer: Transfer, upstream: Provider, name: str
) -> None:
    await transfer.run(replace(bob(), links=(ImportedLink(name, "sub-1"),)))

    user = await transfer.by_email()
    assert user is not None
    assert user.account_type is AccountType.FEDERATED
    link = await transfer.store.of(PROVIDER_LINKS).get(user.tenant_id, link_id_of(upstream, "sub-1"))
    assert link is not None
    assert link.user_id == user.id


@pytest.mark.usefixtures("upstream")
async def test_a_user_of_a_provider_is_linked_to_one_account(transfer: Transfer) -> None:
    link = (ImportedLink("corp", "sub-1"),)
    first, second = replace(bob(), links=link), replace(bob("b@example.com"), links=link)

    assert await transfer.outcomes(first, second) == [Outcome.CREATED, Outcome.REFUSED]
    assert await transfer.outcomes(second, options=DRY) == [Outcome.REFUSED]
    assert await transfer.outcomes(second) == [Outcome.REFUSED]
    assert await transfer.by_email("b@example.com") is None


async def test_a_link_of_an_import_that_was_interrupted_is_taken_over(
    transfer: Transfer, upstream: Provider
) -> None:
    left = ProviderLink(
        tenant_id=upstream.tenant_id,
        id=link_id_of(upstream, "sub-1"),
        provider_id=upstream.id,
        user_id="gone",
    )
    await transfer.store.of(PROVIDER_LINKS).insert(left)

    outcomes = await transfer.outcomes(replace(bob(), links=(ImportedLink("corp", "sub-1"),)))

    assert outcomes == [Outcome.CREATED]


@pytest.mark.usefixtures("upstream")
async def test_an_account_that_another_caller_makes_meanwhile_is_refused_with_its_records(
    transfer: Transfer,
) -> None:
    async def none(_records: object) -> list[object]:
        return []

    async def taken(_record: object) -> None:
        raise AlreadyThere("user", "email")

    class Busy:
        """Users that another caller inserts between the comparison and the insertion."""

        def __getattr__(self, name: str) -> object:
            return {"insert_all": none, "insert": taken}.get(name) or getattr(transfer.users, name)

    busy = replace(transfer.imports, users=Busy())  # type: ignore[arg-type]  # by its methods
    generators = (ImportedGenerator("", SECRET),)
    imported = replace(
        bob(password_hash=MADE["argon2id"]()), generators=generators, links=(ImportedLink("corp", "1"),)
    )

    (result,) = await busy.run(transfer.tenant, [imported], ROOT, ImportOptions())

    assert result.outcome is Outcome.REFUSED
    assert await transfer.store.of(PROVIDER_LINKS).page(transfer.tenant.tenant_id) == []
    assert await transfer.store.of(CODE_FACTORS).page(transfer.tenant.tenant_id) == []
