"""Directories that are down, slow or hostile: bounded waits, other servers, and nobody else who waits."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from identity.authentication.ldap.person import MOST_GROUPS
from identity.delivery.ldap.pool import RETRY_AFTER
from identity.directory.tenants.ldap_directory import LdapGroupMapping
from server.platform.errors import Unauthenticated, Unavailable
from tests.identity.authentication.ldap.company import Company, fields_of
from tests.identity.browsers import PASSWORD, alice
from tests.identity.delivery.ldap.fake_server import DONE, FakeServer, entry, fake_server, result
from tests.slapd import GROUPS, SLAPD, USERS, Slapd, group, person, slapd


@pytest.fixture
async def company() -> AsyncIterator[Company]:
    made = Company()
    yield made
    await made.pools.close()


@pytest.fixture(scope="session")
def other() -> Iterator[Slapd]:
    """A second server of the same users, which tests stop and start."""
    if not SLAPD:
        pytest.skip("slapd of OpenLDAP is not installed")
    with slapd() as running:
        running.add(person("alice", "wonderland"))
        yield running


@asynccontextmanager
async def fakes(*servers: FakeServer) -> AsyncIterator[list[str]]:
    async with AsyncExitStack() as stack:
        yield [(await stack.enter_async_context(fake_server(server))).url for server in servers]


def known(number: int) -> bytes:
    values = {"entryUUID": [b"7"], "mail": [b"alice@example.com"], "uid": [b"alice"]}
    return entry(number, "uid=alice,dc=x", **values) + result(number, DONE)


async def test_the_next_server_is_asked_when_one_is_down(company: Company, server: Slapd) -> None:
    await company.use(fields_of(server, urls=("ldaps://127.0.0.1:1", server.ldaps)))

    assert (await company.sign_in("alice", "wonderland")).email == "alice@example.com"


async def test_a_server_that_comes_back_is_asked_again(company: Company, other: Slapd) -> None:
    await company.use(fields_of(other))
    await company.sign_in("alice", "wonderland")
    other.stop()
    try:
        with pytest.raises(Unavailable):
            await company.sign_in("alice", "wonderland")
    finally:
        other.start()
    with pytest.raises(Unavailable):
        await company.sign_in("alice", "wonderland")

    company.provider.clock.advance(RETRY_AFTER)

    assert (await company.sign_in("alice", "wonderland")).email == "alice@example.com"


async def test_a_server_that_was_restarted_costs_no_sign_in(company: Company, other: Slapd) -> None:
    await company.use(fields_of(other))
    await company.sign_in("alice", "wonderland")

    other.stop()
    other.start()

    assert (await company.sign_in("alice", "wonderland")).email == "alice@example.com"


async def test_while_all_servers_are_down_nobody_waits_for_them(company: Company, server: Slapd) -> None:
    silent = FakeServer(is_silent=True)
    async with fakes(silent) as urls:
        await company.use(fields_of(server, urls=tuple(urls), timeout_secs=1))
        with pytest.raises(Unavailable):
            await company.sign_in("alice", "wonderland")
        for _ in range(5):
            with pytest.raises(Unavailable):
                await company.sign_in("alice", "wonderland")

    assert silent.connections == 1


async def test_one_call_alone_tries_a_server_again(company: Company, server: Slapd) -> None:
    silent = FakeServer(is_silent=True)
    async with fakes(silent) as urls:
        await company.use(fields_of(server, urls=tuple(urls), timeout_secs=1, pool_size=8))
        with pytest.raises(Unavailable):
            await company.sign_in("alice", "wonderland")
        company.provider.clock.advance(RETRY_AFTER)

        await asyncio.gather(
            *(
                company.directories.find(company.provider.tenant, name="a", password="p", known=None)
                for _ in range(8)
            ),
            return_exceptions=True,
        )

    assert silent.connections == 2


async def test_accounts_with_their_own_password_do_not_wait(company: Company, server: Slapd) -> None:
    silent = FakeServer(is_silent=True)
    await company.provider.admit(alice(id="local", email="local@example.com"))
    async with fakes(silent) as urls:
        await company.use(fields_of(server, urls=tuple(urls), timeout_secs=30))
        waiting = asyncio.ensure_future(company.sign_in("alice", "wonderland"))
        async with asyncio.timeout(10):
            assert (await company.sign_in("local@example.com", PASSWORD)).id == "local"
        waiting.cancel()
        await asyncio.wait([waiting])


async def test_other_directories_do_not_wait(company: Company, server: Slapd) -> None:
    silent = FakeServer(is_silent=True)
    async with fakes(silent) as urls:
        slow = await company.use(fields_of(server, urls=tuple(urls), timeout_secs=30), directory_id="slow")
        quick = await company.use(fields_of(server), directory_id="quick")

        async def work(_connection: object) -> str:
            return "done"

        waiting = [asyncio.ensure_future(company.pools.of(slow).run(company_bind)) for _ in range(50)]
        async with asyncio.timeout(10):
            assert await company.pools.of(quick).run(work) == "done"
        for each in waiting:
            each.cancel()
        await asyncio.wait(waiting)


async def company_bind(connection: object) -> int:
    return int(await connection.bind("", ""))  # type: ignore[attr-defined]  # of a connection


async def test_a_guess_during_an_outage_counts_for_an_account_with_its_own_password(
    company: Company, server: Slapd
) -> None:
    await company.provider.admit(alice())
    await company.use(fields_of(server, urls=("ldaps://127.0.0.1:1",)))

    for _ in range(4):
        with pytest.raises(Unavailable):
            await company.sign_in("alice@example.com", "guess")

    assert company.provider.pauses.seconds == [6, 8]


async def test_users_of_a_directory_are_not_blocked_by_its_outage(company: Company, server: Slapd) -> None:
    await company.use(fields_of(server, urls=("ldaps://127.0.0.1:1",)))
    for _ in range(20):
        with pytest.raises(Unavailable):
            await company.sign_in("alice", "wonderland")

    await company.use(fields_of(server))

    assert (await company.sign_in("alice", "wonderland")).email == "alice@example.com"


async def test_an_unknown_user_costs_what_a_known_one_does(company: Company, server: Slapd) -> None:
    fake = FakeServer()
    async with fakes(fake) as urls:
        await company.use(fields_of(server, urls=tuple(urls)))
        await company.provider.admit(alice(password_hash=""), alice(id="local", email="local@example.com"))
        for name in ("nobody", "alice@example.com", "local@example.com", "\uff41lice"):
            before = fake.binds
            with pytest.raises(Unauthenticated):
                await company.sign_in(name, "guess")
            assert fake.binds == before + 2


async def test_an_answer_of_many_entries_signs_nobody_in(company: Company, server: Slapd) -> None:
    def everybody(number: int) -> bytes:
        return b"".join(entry(number, f"uid={each},dc=x", entryUUID=[b"7"]) for each in range(10_000))

    async with fakes(FakeServer(everybody)) as urls:
        await company.use(fields_of(server, urls=tuple(urls)))
        with pytest.raises(Unavailable):
            await company.sign_in("alice", "wonderland")


async def test_ten_thousand_groups_are_read(company: Company, server: Slapd) -> None:
    names = [f"cn=group{number},ou=groups,dc=x".encode() for number in range(MOST_GROUPS)]

    def answer(number: int) -> bytes:
        values = {"entryUUID": [b"7"], "mail": [b"alice@example.com"], "memberOf": names}
        return entry(number, "uid=alice,dc=x", **values) + result(number, DONE)

    mapping = LdapGroupMapping(group="CN=group9999,OU=groups,DC=x", roles=("worker",))
    async with fakes(FakeServer(answer)) as urls:
        await company.use(fields_of(server, urls=tuple(urls), mappings=(mapping,)))
        assert (await company.sign_in("alice", "wonderland")).roles == ("worker",)
        names.append(b"cn=one too many")

        with pytest.raises(Unavailable):
            await company.sign_in("alice", "wonderland")


async def test_groups_that_the_server_does_not_return_take_no_roles(company: Company, server: Slapd) -> None:
    erin = f"uid=erin,{USERS}"
    server.add(person("erin", "erins") + group("erin0", erin))
    mapping = LdapGroupMapping(group="erin0", roles=("worker",))
    # Others than its administrator get at most 500 entries.
    fields = fields_of(server, mappings=(mapping,), group_base=GROUPS, bind_dn=f"uid=bob,{USERS}")
    await company.use(fields, password="builder")  # of a test
    assert (await company.sign_in("erin", "erins")).roles == ("worker",)

    server.add("".join(group(f"erin{number}", erin) for number in range(1, 501)))
    with pytest.raises(Unavailable):
        await company.sign_in("erin", "erins")

    found = await company.provider.users.find_by_email(company.provider.tenant, "erin@example.com")
    assert found is not None
    assert found.roles == ("worker",)


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({"entryUUID": [b"7", b"8"]}, id="two ids"),
        pytest.param({"entryUUID": []}, id="no id"),
        pytest.param({"entryUUID": [b"7" * 300]}, id="a long id"),
        pytest.param({"userAccountControl": [b"514"]}, id="disabled"),
    ],
)
async def test_entries_that_sign_nobody_in(
    company: Company, server: Slapd, values: dict[str, list[bytes]]
) -> None:
    def answer(number: int) -> bytes:
        found = {"entryUUID": [b"7"], "mail": [b"alice@example.com"]} | values
        return entry(number, "uid=alice,dc=x", **found) + result(number, DONE)

    async with fakes(FakeServer(answer)) as urls:
        await company.use(fields_of(server, urls=tuple(urls)))
        with pytest.raises(Unauthenticated):
            await company.sign_in("alice", "wonderland")


async def test_active_directory_has_binary_ids(company: Company, server: Slapd) -> None:
    def answer(number: int) -> bytes:
        values = {
            "objectGUID": [bytes(range(16))],
            "mail": [b"a@example.com"],
            "userAccountControl": [b"512"],
        }
        return entry(number, "CN=Alice", **values) + result(number, DONE)

    async with fakes(FakeServer(answer)) as urls:
        await company.use(fields_of(server, urls=tuple(urls), id_attribute="objectGUID"))
        first = await company.sign_in("alice", "wonderland")
        second = await company.sign_in("a@example.com", "wonderland")

    links = await company.links()
    assert [link.id for link in links] == ["company 03020100-0504-0706-0809-0a0b0c0d0e0f"]
    assert first.id == second.id


async def test_a_part_of_the_groups_is_not_enough(company: Company, server: Slapd) -> None:
    def answer(number: int) -> bytes:
        values = {"entryUUID": [b"7"], "mail": [b"a@example.com"], "memberOf;range=0-1499": [b"cn=a"]}
        return entry(number, "CN=Alice", **values) + result(number, DONE)

    async with fakes(FakeServer(answer)) as urls:
        await company.use(fields_of(server, urls=tuple(urls)))
        with pytest.raises(Unavailable):
            await company.sign_in("alice", "wonderland")
