"""Tenants over the process API: they are those of the administration API."""

import asyncio
from typing import Any

import grpc
import pytest

from gnomon.directory.v1 import tenant_service_pb2 as pb
from gnomon.directory.v1.tenant_service_pb2_grpc import TenantServiceStub
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS
from identity.directory.user import USERS, User
from server.platform.call import TenantId
from server.platform.errors import (
    AlreadyExists,
    InvalidArgument,
    InvalidState,
    NotFound,
    PermissionDenied,
    ServiceError,
    TenantMismatch,
)
from tests.identity.administration.process_api.directory import Directory

LAB = {"tenant_id": "lab", "name": "Laboratory", "description": "Tests."}


async def call(directory: Directory, request: Any, *, caller: str = "service", **options: Any) -> Any:
    """Call as the client of the deployment, which administers it."""
    return await directory.call(TenantServiceStub, request, caller=caller, **options)


async def refusal(
    directory: Directory, request: Any, *, caller: str = "service", **options: Any
) -> ServiceError:
    return await directory.refusal(TenantServiceStub, request, caller=caller, **options)


def shown(tenant: Any) -> tuple[str, str, str | None]:
    return tenant.tenant_id, tenant.name, tenant.description if tenant.HasField("description") else None


async def test_a_tenant_lives_from_creation_to_deletion(directory: Directory) -> None:
    created = await call(directory, pb.CreateTenantRequest(**LAB))
    read = await call(directory, pb.GetTenantRequest(tenant_id="lab"))
    changed = await call(directory, pb.UpdateTenantRequest(tenant_id="lab", name="Lab"))
    await call(directory, pb.DeleteTenantRequest(tenant_id="lab"))

    assert shown(created.tenant) == shown(read.tenant) == ("lab", "Laboratory", "Tests.")
    assert shown(changed.tenant) == ("lab", "Lab", None)
    assert isinstance(await refusal(directory, pb.GetTenantRequest(tenant_id="lab")), NotFound)
    assert directory.noted() == [(verb, "TENANT", "lab") for verb in ("CREATE", "UPDATE", "DELETE")]
    told = [event for event in await directory.told() if event[1] == "lab"]
    assert sorted(told) == [("TenantChanged", "lab"), ("TenantCreated", "lab"), ("TenantDeleted", "lab")]


async def test_a_change_keeps_what_only_the_administration_knows(directory: Directory) -> None:
    await call(directory, pb.CreateTenantRequest(**LAB))
    records = directory.deployment.store.of(TENANTS)
    before = await records.get(DEPLOYMENT, "lab")

    await call(directory, pb.UpdateTenantRequest(tenant_id="lab", name="Lab", description="New."))

    after = await records.get(DEPLOYMENT, "lab")
    assert before
    assert after
    assert (after.settings, after.created_at, after.is_enabled) == (before.settings, before.created_at, True)
    assert (after.name, after.description) == ("Lab", "New.")


async def test_of_two_creations_at_once_one_succeeds(directory: Directory) -> None:
    creations = [call(directory, pb.CreateTenantRequest(**LAB)) for _ in range(2)]

    results = await asyncio.gather(*creations, return_exceptions=True)

    assert sum(isinstance(result, grpc.RpcError) for result in results) == 1
    assert isinstance(await refusal(directory, pb.CreateTenantRequest(**LAB)), AlreadyExists)


@pytest.mark.parametrize("tenant_id", ["", "Lab", "users", "a b", "-a", "a" * 33])
async def test_an_id_that_no_tenant_may_have_is_refused(directory: Directory, tenant_id: str) -> None:
    refused = await refusal(directory, pb.CreateTenantRequest(tenant_id=tenant_id, name="Lab"))

    assert isinstance(refused, InvalidArgument)
    assert directory.notes == []


@pytest.mark.parametrize("caller", ["operator", "clerk"])
async def test_only_administrators_of_the_deployment_keep_tenants(directory: Directory, caller: str) -> None:
    requests = [
        pb.CreateTenantRequest(**LAB),
        pb.UpdateTenantRequest(tenant_id="default", name="Mine"),
        pb.DeleteTenantRequest(tenant_id="acme"),
    ]

    for request in requests:
        assert isinstance(await refusal(directory, request, caller=caller), PermissionDenied)

    found = await call(directory, pb.SearchTenantsRequest())
    assert [tenant.tenant_id for tenant in found.items] == ["acme", "default", "umbrella"]


@pytest.mark.parametrize(
    ("caller", "tenants"),
    [
        ("service", ["acme", "default", "umbrella"]),
        ("operator", ["acme", "default", "umbrella"]),
        ("clerk", ["default"]),
    ],
)
async def test_a_caller_sees_the_tenants_in_which_it_may_act(
    directory: Directory, caller: str, tenants: list[str]
) -> None:
    found = await call(directory, pb.SearchTenantsRequest(), caller=caller)

    assert [tenant.tenant_id for tenant in found.items] == tenants
    for tenant_id in ("acme", "unheard-of"):
        read = pb.GetTenantRequest(tenant_id=tenant_id)
        if caller == "clerk":
            assert isinstance(await refusal(directory, read, caller=caller), TenantMismatch)


async def test_tenants_are_searched(directory: Directory) -> None:
    await call(directory, pb.CreateTenantRequest(**LAB))

    async def found(**fields: Any) -> list[str]:
        response = await call(directory, pb.SearchTenantsRequest(**fields))
        return [tenant.tenant_id for tenant in response.items]

    assert await found(filter={"name": {"eq": "Laboratory"}}) == ["lab"]
    assert await found(sort=[{"field": "name"}], page={"limit": 1}) == ["lab"]
    assert await found(sort=[{"field": "key", "order": 2}], page={"limit": 2}) == ["umbrella", "lab"]


async def test_a_tenant_with_users_and_the_default_one_stay(directory: Directory) -> None:
    lab = TenantId("lab")
    await call(directory, pb.CreateTenantRequest(**LAB))
    await directory.deployment.store.of(USERS).insert(
        User(tenant_id=lab, id="eve", email="eve@example.com", tenant_ids=(lab,))
    )

    for tenant_id in ("lab", "default"):
        refused = await refusal(directory, pb.DeleteTenantRequest(tenant_id=tenant_id))
        assert isinstance(refused, InvalidState)

    await call(directory, pb.GetTenantRequest(tenant_id="lab"))
