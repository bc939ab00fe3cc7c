"""Cluster variables over every channel, in every mode."""

import pytest

from gnomon.engine.v1 import cluster_variable_pb2 as entity_pb
from server.bpmn.builder import process
from server.platform.errors import (
    AlreadyExists,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    TenantMismatch,
)
from tests.server.rpc.caller import Caller

GLOBAL = entity_pb.CLUSTER_VARIABLE_SCOPE_GLOBAL
TENANT = entity_pb.CLUSTER_VARIABLE_SCOPE_TENANT


async def test_a_global_variable_is_created_read_changed_and_deleted(caller: Caller) -> None:
    created = await caller("CreateGlobalClusterVariable", name="url", value=b'{"host": "all"}')

    expected = entity_pb.ClusterVariable(name="url", scope=GLOBAL, value='{"host":"all"}')
    assert created.variable == expected
    assert (await caller("GetGlobalClusterVariable", name="url")).variable == expected
    with pytest.raises(AlreadyExists):
        await caller("CreateGlobalClusterVariable", name="url", value=b"1")

    await caller("UpdateGlobalClusterVariable", name="url", value=b"null")
    assert (await caller("GetGlobalClusterVariable", name="url")).variable.value == "null"

    await caller("DeleteGlobalClusterVariable", name="url")
    for rpc, fields in (("Get", {}), ("Update", {"value": b"1"}), ("Delete", {})):
        with pytest.raises(NotFound):
            await caller(f"{rpc}GlobalClusterVariable", name="url", **fields)
    assert (await caller("CreateGlobalClusterVariable", name="url", value=b"2")).variable.value == "2"


async def test_a_variable_of_a_tenant_is_created_read_changed_and_deleted(caller: Caller) -> None:
    created = await caller("CreateTenantClusterVariable", tenant_id="default", name="url", value=b"1")

    expected = entity_pb.ClusterVariable(name="url", scope=TENANT, tenant_id="default", value="1")
    assert created.variable == expected
    assert (await caller("GetTenantClusterVariable", name="url", tenant_id="default")).variable == expected
    with pytest.raises(NotFound):
        await caller("GetGlobalClusterVariable", name="url")

    await caller("UpdateTenantClusterVariable", tenant_id="default", name="url", value=b"2")
    assert (await caller("GetTenantClusterVariable", tenant_id="default", name="url")).variable.value == "2"

    await caller("DeleteTenantClusterVariable", tenant_id="default", name="url")
    with pytest.raises(NotFound):
        await caller("GetTenantClusterVariable", tenant_id="default", name="url")


async def test_processes_see_a_change_as_soon_as_it_is_answered(caller: Caller) -> None:
    script = process("p").start().script_task("script", expression="=camunda.vars.env.rate", result="rate")
    await caller.deploy(script.service_task("wait", type="wait").end())
    await caller("CreateGlobalClusterVariable", name="rate", value=b"1")
    await caller("CreateTenantClusterVariable", tenant_id="default", name="rate", value=b"2")

    for _ in range(4):
        await caller.start("p")

    assert [job.variables for job in await caller.activate("wait")] == [b'{"rate":2}'] * 4


async def test_expressions_of_callers_see_them(caller: Caller) -> None:
    await caller("CreateGlobalClusterVariable", name="rate", value=b"1")
    await caller("CreateTenantClusterVariable", tenant_id="default", name="rate", value=b"2")
    text = "= [camunda.vars.cluster.rate, camunda.vars.tenant.rate, camunda.vars.env.rate]"

    answer = await caller("EvaluateExpression", expression=text)
    hidden = await caller("EvaluateExpression", expression="camunda", variables=b'{"camunda": 7}')

    assert (answer.result, hidden.result) == (b"[1,2,2]", b"7")


async def test_searches_find_global_ones_and_those_of_the_tenant(caller: Caller) -> None:
    await caller("CreateGlobalClusterVariable", name="url", value=b'"all"')
    await caller("CreateGlobalClusterVariable", name="long", value=b'"%s"' % (b"x" * 9000))
    await caller("CreateTenantClusterVariable", tenant_id="default", name="url", value=b'"own"')
    stranger = caller.signed_in_as("stranger")
    await stranger("CreateTenantClusterVariable", tenant_id="other", name="secret", value=b"1")

    async def found(**filters: object) -> list[tuple[str, int]]:
        sort = [{"field": "name"}, {"field": "scope"}]
        answer = await caller("SearchClusterVariables", filter=filters, sort=sort)
        return [(each.name, each.scope) for each in answer.items]

    assert await found() == [("long", GLOBAL), ("url", GLOBAL), ("url", TENANT)]
    assert await found(scope={"eq": TENANT}) == [("url", TENANT)]
    assert await found(tenant_id={"exists": False}) == [("long", GLOBAL), ("url", GLOBAL)]
    assert await found(value={"like": '"o*'}) == [("url", TENANT)]
    assert await found(is_truncated=True) == [("long", GLOBAL)]
    (long,) = (await caller("SearchClusterVariables", filter={"is_truncated": True})).items
    assert (long.is_truncated, len(long.value)) == (True, 8191)
    theirs = (await stranger("SearchClusterVariables")).items
    assert {each.name for each in theirs} == {"url", "long", "secret"}


async def test_callers_change_variables_of_their_own_tenant_alone(caller: Caller) -> None:
    stranger = caller.signed_in_as("stranger")
    await caller("CreateGlobalClusterVariable", name="url", value=b"1")

    for rpc, fields in (("Create", {"value": b"1"}), ("Update", {"value": b"1"}), ("Delete", {})):
        with pytest.raises(PermissionDenied):
            await stranger(f"{rpc}GlobalClusterVariable", name="url", **fields)
    for rpc, fields in (
        ("Create", {"value": b"1"}),
        ("Get", {}),
        ("Update", {"value": b"1"}),
        ("Delete", {}),
    ):
        with pytest.raises((PermissionDenied, TenantMismatch)):
            await stranger(f"{rpc}TenantClusterVariable", tenant_id="default", name="url", **fields)
    assert (await stranger("GetGlobalClusterVariable", name="url")).variable.value == "1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("", b"1", id="no name"),
        pytest.param("a b", b"1", id="a space"),
        pytest.param(".", b"1", id="this place in paths"),
        pytest.param("..", b"1", id="the place above in paths"),
        pytest.param("n" * 257, b"1", id="a long name"),
        pytest.param("a", b"", id="no value"),
        pytest.param("a", b'"%s"' % (b"x" * 32767), id="a long value"),
        pytest.param("a", b"{", id="no JSON"),
        pytest.param("a", b"[" * 501 + b"]" * 501, id="deep JSON"),
    ],
)
async def test_names_and_values_have_bounds(caller: Caller, name: str, value: bytes) -> None:
    with pytest.raises(InvalidArgument):
        await caller("CreateGlobalClusterVariable", name=name, value=value)


async def test_the_longest_name_and_value_are_taken(caller: Caller) -> None:
    value = b'"%s"' % (b"x" * 32766)

    answer = await caller("CreateGlobalClusterVariable", name="n" * 256, value=value)

    assert answer.variable.value == value.decode()
