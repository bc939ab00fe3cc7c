"""Changes over the process API write an audit log entry in the same transaction."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import grpc
import pytest

from gnomon.identity.v1 import mapping_rule_service_pb2 as rule_pb
from gnomon.identity.v1.mapping_rule_service_pb2_grpc import MappingRuleServiceStub
from identity.directory.user import USERS, User
from server.platform.audit import AuditNote
from server.platform.call import Principal, TenantId
from server.platform.clock import VirtualClock
from server.platform.records.memory import MemoryRecordStore
from tests.identity.deployment import CONFIG, NOON, Deployment, deployed
from tests.identity.directory.test_memberships import CLERK, IDS, PAIRS, RPCS, call, furnish, refusal, request

ENTITIES = {
    "role_id": "ROLE",
    "group_id": "GROUP",
    "mapping_rule_id": "MAPPING_RULE",
    "client_id": "CLIENT",
    "username": "USER",
    "tenant_id": "TENANT",
}


@dataclass(frozen=True)
class Audited:
    deployment: Deployment
    notes: list[AuditNote]


@pytest.fixture
async def audited() -> AsyncIterator[Audited]:
    notes: list[AuditNote] = []
    store = MemoryRecordStore(VirtualClock(pinned=NOON), notes.append)
    bootstrap = replace(CONFIG.bootstrap, clients=(*CONFIG.bootstrap.clients, CLERK))
    async with deployed(replace(CONFIG, bootstrap=bootstrap), store) as deployment:
        await furnish(deployment)
        yield Audited(deployment, notes)


def names(rpc: str) -> list[str]:
    """Return the fields of the request: the label and the member."""
    return [field.name for field in request(rpc).DESCRIPTOR.fields]


def said(note: AuditNote) -> tuple[str | None, ...]:
    return (
        note.operation_type,
        note.entity_type,
        note.entity_id,
        note.related_entity_type,
        note.related_entity_id,
    )


@pytest.mark.parametrize(("assign", "unassign"), PAIRS)
async def test_a_membership_names_both_entities(audited: Audited, assign: str, unassign: str) -> None:
    of, member = names(assign)
    both = (ENTITIES[of], IDS[of], ENTITIES[member], IDS[member])

    await call(audited.deployment, assign)
    await call(audited.deployment, unassign)

    assert [said(note) for note in audited.notes] == [("ASSIGN", *both), ("UNASSIGN", *both)]
    for note in audited.notes:
        assert (note.tenant_id, note.actor_type, note.actor_id) == ("default", "CLIENT", "operator")
        assert note.request_id


async def test_what_is_there_already_is_noted_too(audited: Audited) -> None:
    for rpc in ("AssignRoleToGroup", "AssignRoleToGroup", "UnassignRoleFromGroup", "UnassignRoleFromGroup"):
        await call(audited.deployment, rpc)

    operations = [note.operation_type for note in audited.notes]
    assert operations == ["ASSIGN", "ASSIGN", "UNASSIGN", "UNASSIGN"]


@pytest.mark.parametrize("rpc", RPCS)
async def test_a_refused_membership_is_not_noted(audited: Audited, rpc: str) -> None:
    _, member = names(rpc)

    await refusal(audited.deployment, rpc, **{member: "nobody"})

    assert audited.notes == []


async def test_the_life_of_a_mapping_rule_is_noted(audited: Audited) -> None:
    token = (await audited.deployment.issue(client_id="operator")).access_token
    metadata = (("authorization", f"Bearer {token}"), ("x-tenant-id", "default"))
    rules = MappingRuleServiceStub(audited.deployment.channel)
    fields = {"mapping_rule_id": "new", "name": "New", "claim_name": "a", "claim_value": "b"}

    await rules.CreateMappingRule(rule_pb.CreateMappingRuleRequest(**fields), metadata=metadata)
    with pytest.raises(grpc.RpcError):
        await rules.CreateMappingRule(rule_pb.CreateMappingRuleRequest(**fields), metadata=metadata)
    await rules.UpdateMappingRule(rule_pb.UpdateMappingRuleRequest(**fields), metadata=metadata)
    deletion = rule_pb.DeleteMappingRuleRequest(mapping_rule_id="new")
    await rules.DeleteMappingRule(deletion, metadata=metadata)
    with pytest.raises(grpc.RpcError):
        await rules.DeleteMappingRule(deletion, metadata=metadata)

    assert [said(note) for note in audited.notes] == [
        (operation, "MAPPING_RULE", "new", None, None) for operation in ("CREATE", "UPDATE", "DELETE")
    ]


async def test_a_person_is_a_user_in_the_log(audited: Audited) -> None:
    home = TenantId("default")
    await audited.deployment.store.of(USERS).insert(User(tenant_id=home, id="boss", email="boss@example.com"))
    person = Principal("boss", frozenset({home}), frozenset({"identity:write"}), is_person=True)
    rules = MappingRuleServiceStub(audited.deployment.channel_of(person))

    await rules.DeleteMappingRule(rule_pb.DeleteMappingRuleRequest(mapping_rule_id="rule"))

    (note,) = audited.notes
    assert (note.actor_type, note.actor_id) == ("USER", "boss")
