"""Groups and roles over the process API: they are the records of the administration API."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import grpc
import pytest

from gnomon.directory.v1 import group_service_pb2, role_service_pb2
from gnomon.directory.v1.group_service_pb2_grpc import GroupServiceStub
from gnomon.directory.v1.role_service_pb2_grpc import RoleServiceStub
from identity.directory.labels import GROUPS, ROLES, DescribedLabel, Group, Role
from identity.directory.user import USERS, User
from identity.foundation.vocabulary import Permission
from server.platform.call import TenantId
from server.platform.errors import AlreadyExists, InvalidArgument, InvalidState, NotFound, TenantMismatch
from tests.identity.administration.process_api.directory import ACME, DEFAULT, Directory


@dataclass(frozen=True)
class Noun:
    """One of the two: `name` as in fields and events, `pb` and `stub` of its service."""

    name: str
    pb: Any
    stub: Any
    kind: Any
    built_in: Sequence[str]

    def request(self, verb: str, label_id: str = "auditors", **fields: Any) -> Any:
        request = getattr(self.pb, f"{verb}{self.name.title()}Request")
        return request(**{f"{self.name}_id": label_id}, **fields)

    def search(self, **fields: Any) -> Any:
        return getattr(self.pb, f"Search{self.name.title()}sRequest")(**fields)

    def of(self, response: Any) -> tuple[str, str, str | None]:
        """Id, name and description in a response."""
        return self.shown(getattr(response, self.name))

    def shown(self, label: Any) -> tuple[str, str, str | None]:
        description = label.description if label.HasField("description") else None
        return getattr(label, f"{self.name}_id"), label.name, description


GROUP = Noun("group", group_service_pb2, GroupServiceStub, GROUPS, ())
ROLE = Noun("role", role_service_pb2, RoleServiceStub, ROLES, ("admin", "rauthy_admin"))


@pytest.fixture(params=[GROUP, ROLE], ids=lambda noun: noun.name)
def noun(request: pytest.FixtureRequest) -> Noun:
    found: Noun = request.param
    return found


async def kept(directory: Directory, noun: Noun, tenant_id: TenantId = DEFAULT) -> Sequence[DescribedLabel]:
    labels: Sequence[DescribedLabel] = await directory.deployment.store.of(noun.kind).page(tenant_id)
    return labels


async def ids(directory: Directory, noun: Noun, request: Any, **options: Any) -> list[str]:
    found = await directory.call(noun.stub, request, **options)
    assert found.page.total_items >= len(found.items)
    return [noun.shown(item)[0] for item in found.items]


async def test_a_label_lives_from_creation_to_deletion(directory: Directory, noun: Noun) -> None:
    created = await directory.call(noun.stub, noun.request("Create", name="Auditing", description="Reads."))
    read = await directory.call(noun.stub, noun.request("Get"))
    changed = await directory.call(noun.stub, noun.request("Update", name="Revision"))
    await directory.call(noun.stub, noun.request("Delete"))

    assert noun.of(created) == noun.of(read) == ("auditors", "Auditing", "Reads.")
    assert noun.of(changed) == ("auditors", "Revision", None)
    assert await kept(directory, noun) == []
    assert isinstance(await directory.refusal(noun.stub, noun.request("Get")), NotFound)


async def test_every_change_is_an_entry_of_the_log_and_an_event(directory: Directory, noun: Noun) -> None:
    before = len(await directory.told())

    await directory.call(noun.stub, noun.request("Create", name="Auditing"))
    await directory.refusal(noun.stub, noun.request("Create", name="Auditing"))
    await directory.call(noun.stub, noun.request("Update", name="Revision"))
    await directory.call(noun.stub, noun.request("Delete"))
    await directory.refusal(noun.stub, noun.request("Delete"))

    entity = noun.name.upper()
    assert directory.noted() == [(verb, entity, "auditors") for verb in ("CREATE", "UPDATE", "DELETE")]
    told = (await directory.told())[before:]
    # Ids of events of one millisecond are random behind the time.
    assert sorted(told) == [(verb, f"{noun.name} auditors") for verb in ("Changed", "Created", "Deleted")]


async def test_of_two_creations_at_once_one_succeeds(directory: Directory, noun: Noun) -> None:
    creations = [directory.call(noun.stub, noun.request("Create", name=str(number))) for number in range(2)]

    results = await asyncio.gather(*creations, return_exceptions=True)

    assert sum(isinstance(result, grpc.RpcError) for result in results) == 1
    assert len(await kept(directory, noun)) == 1
    again = await directory.refusal(noun.stub, noun.request("Create", name="Again"))
    assert isinstance(again, AlreadyExists)


async def test_a_label_of_the_administration_is_shown_by_its_name(directory: Directory, noun: Noun) -> None:
    record = noun.kind.type(tenant_id=DEFAULT, id="r", name="staff")
    await directory.deployment.store.of(noun.kind).insert(record)

    read = await directory.call(noun.stub, noun.request("Get", "staff"))

    assert noun.of(read) == ("staff", "staff", None)


async def test_an_update_keeps_what_the_label_gives(directory: Directory) -> None:
    store = directory.deployment.store
    given = (Permission.HISTORY_READ,)
    await store.of(ROLES).insert(Role(tenant_id=DEFAULT, id="r", name="auditors", permissions=given))
    await store.of(GROUPS).insert(
        Group(tenant_id=DEFAULT, id="g", name="auditors", roles=("auditors",), tenant_ids=(ACME,))
    )

    for noun in (GROUP, ROLE):
        await directory.call(noun.stub, noun.request("Update", name="New"))

    assert await store.of(ROLES).get(DEFAULT, "r") == Role(
        tenant_id=DEFAULT, id="r", revision=2, name="auditors", display_name="New", permissions=given
    )
    group = await store.of(GROUPS).get(DEFAULT, "g")
    assert group
    assert (group.roles, group.tenant_ids) == (("auditors",), (ACME,))


async def test_deletion_takes_the_label_from_its_holders(directory: Directory, noun: Noun) -> None:
    await directory.call(noun.stub, noun.request("Create", name="Auditing"))
    users = directory.deployment.store.of(USERS)
    ada = User(tenant_id=DEFAULT, id="ada", email="ada@example.com")
    await users.insert(replace(ada, roles=("auditors",), groups=("auditors",)))

    await directory.call(noun.stub, noun.request("Delete"))

    left = await users.get(DEFAULT, "ada")
    assert left
    assert getattr(left, f"{noun.name}s") == ()


async def test_labels_are_searched_by_id_and_name_in_both_directions(
    directory: Directory, noun: Noun
) -> None:
    for label_id, name in (("ab", "Zoo"), ("cd", "Yard"), ("ef", "Zoo")):
        await directory.call(noun.stub, noun.request("Create", label_id, name=name))
    zoos = {"filter": {"name": {"eq": "Zoo"}}}
    first = {"limit": 2}

    assert await ids(directory, noun, noun.search()) == sorted(["ab", "cd", "ef", *noun.built_in])
    assert await ids(directory, noun, noun.search(**zoos)) == ["ab", "ef"]
    of_id = {"filter": {f"{noun.name}_id": {"like": "?d"}}}
    assert await ids(directory, noun, noun.search(**of_id)) == ["cd"]
    by_name = {
        "sort": [{"field": "name"}, {"field": f"{noun.name}Id", "order": 2}],
        "filter": {"name": {"in": ["Zoo", "Yard"]}},
    }
    page = await directory.call(noun.stub, noun.search(**by_name, page=first))
    assert [noun.shown(item)[0] for item in page.items] == ["cd", "ef"]
    after = noun.search(**by_name, page={"after": page.page.end_cursor})
    (last,) = (await directory.call(noun.stub, after)).items
    assert noun.shown(last)[0] == "ab"
    before = noun.search(**by_name, page={"before": page.page.end_cursor})
    assert await ids(directory, noun, before) == ["cd"]


async def test_another_tenants_label_does_not_exist(directory: Directory, noun: Noun) -> None:
    await directory.call(noun.stub, noun.request("Create", name="Auditing"))
    (label,) = await kept(directory, noun)

    for verb, fields in (("Get", {}), ("Update", {"name": "Mine"}), ("Delete", {})):
        refused = await directory.refusal(noun.stub, noun.request(verb, **fields), acting_in=ACME)
        assert isinstance(refused, NotFound)

    assert await ids(directory, noun, noun.search(), acting_in=ACME) == list(noun.built_in)
    assert await kept(directory, noun) == [label]


async def test_two_tenants_have_labels_of_one_id(directory: Directory, noun: Noun) -> None:
    for tenant_id in (DEFAULT, ACME):
        request = noun.request("Create", name=f"Of {tenant_id}")
        await directory.call(noun.stub, request, acting_in=tenant_id)

    await directory.call(noun.stub, noun.request("Delete"), acting_in=ACME)

    assert [label.display_name for label in await kept(directory, noun)] == ["Of default"]
    assert await kept(directory, noun, ACME) == []


async def test_a_client_keeps_no_directory_but_its_own(directory: Directory, noun: Noun) -> None:
    request = noun.request("Create", name="Auditing")

    assert isinstance(
        await directory.refusal(noun.stub, request, caller="clerk", acting_in=ACME), TenantMismatch
    )
    assert await kept(directory, noun, ACME) == []


@pytest.mark.parametrize("label_id", ["", "a", "..", "a" * 65, "a\nb", "a\0b", "ümlaut"])
async def test_an_id_that_no_label_may_have_is_refused(
    directory: Directory, noun: Noun, label_id: str
) -> None:
    refused = await directory.refusal(noun.stub, noun.request("Create", label_id, name="Auditing"))

    assert isinstance(refused, InvalidArgument)
    assert await kept(directory, noun) == []
    assert directory.notes == []


@pytest.mark.parametrize("label_id", ROLE.built_in)
async def test_a_built_in_role_is_shown_and_does_not_change(directory: Directory, label_id: str) -> None:
    read = await directory.call(ROLE.stub, ROLE.request("Get", label_id))

    assert ROLE.of(read) == (label_id, label_id, None)
    for verb, fields in (("Update", {"name": "Root"}), ("Delete", {})):
        refused = await directory.refusal(ROLE.stub, ROLE.request(verb, label_id, **fields))
        assert isinstance(refused, InvalidState)
    taken = await directory.refusal(ROLE.stub, ROLE.request("Create", label_id, name="Mine"))
    assert isinstance(taken, AlreadyExists)


async def test_a_tenant_may_have_more_than_a_page_of_them(directory: Directory, noun: Noun) -> None:
    records = directory.deployment.store.of(noun.kind)
    for number in range(1000):
        await records.insert(noun.kind.type(tenant_id=DEFAULT, id=str(number), name=f"n{number}"))

    await directory.call(noun.stub, noun.request("Create", name="One more"))

    assert (await directory.call(noun.stub, noun.request("Get"))).ListFields()
