"""Clients made over the API get permissions, from callers who have them."""

from dataclasses import replace
from typing import Any

import grpc
import pytest
from aiohttp import encode_basic_auth

from gnomon.identity.v1 import membership_service_pb2
from gnomon.identity.v1.membership_service_pb2_grpc import MembershipServiceStub
from identity.directory.client import CLIENTS, Client
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from server.platform.call import TenantId
from server.platform.channels import error_of
from server.platform.errors import PermissionDenied
from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.administration.test_clients import WHOLE
from tests.identity.deployment import Deployment

OWN = WHOLE | {
    "flows_enabled": ["client_credentials"],
    "access_token_signed_response_alg": "RS256",
    "claims": None,
    "claims_at_root": False,
}
READING, WORKING, DEPLOYING = "history:read", "job:work", "process:deploy"


async def made(administrator: Administrator, client_id: str, *scopes: str) -> str:
    """Create a client that requests these scopes in its own name, and return its secret."""
    new = {"id": client_id, "name": client_id, "confidential": True, "redirect_uris": []}
    created = await administrator.send("POST", "clients", new)
    secret = str((await created.json())["secret"])
    changed = await put(administrator, client_id, *scopes)
    assert changed == 200
    return secret


async def put(caller: Administrator, client_id: str, *scopes: str) -> int:
    body = OWN | {"id": client_id, "scopes": ["openid", *scopes], "default_scopes": ["openid"]}
    return (await caller.send("PUT", f"clients/{client_id}", body)).status


async def granted(
    administrator: Administrator, client_id: str, secret: str, scope: str = ""
) -> dict[str, Any]:
    answer = await administrator.http.post(
        "/auth/v1/oidc/token",
        data={"grant_type": "client_credentials"} | ({"scope": scope} if scope else {}),
        headers={"Authorization": encode_basic_auth(client_id, secret)},
    )
    return dict(await answer.json())


async def keeper(administrator: Administrator) -> Administrator:
    """A program with the permission to administer and to read, and no others."""
    secret = await made(administrator, "keeper", "identity:write", READING)
    token = (await granted(administrator, "keeper", secret))["access_token"]
    return replace(administrator, authorization=f"Bearer {token}")


async def assigned(caller: Administrator, deployment: Deployment, rpc: str, **ids: str) -> type | None:
    """Assign over the process API; returns the error, None on success."""
    request = getattr(membership_service_pb2, f"{rpc}Request")(**ids)
    metadata = (("authorization", caller.authorization),)
    try:
        await getattr(MembershipServiceStub(deployment.channel), rpc)(request, metadata=metadata)
    except grpc.RpcError as failure:
        return type(error_of(failure))
    return None


async def kept(deployment: Deployment, client_id: str) -> Client:
    client = await deployment.store.of(CLIENTS).get(TenantId("default"), client_id)
    assert client is not None
    return client


async def test_a_client_asks_in_its_own_name_for_what_its_scopes_permit(administrator: Administrator) -> None:
    secret = await made(administrator, "robot", READING, WORKING)

    everything = await granted(administrator, "robot", secret)
    narrow = await granted(administrator, "robot", secret, READING)
    beyond = await granted(administrator, "robot", secret, DEPLOYING)

    assert set(everything["scope"].split()) == {"openid", READING, WORKING}
    assert narrow["scope"] == f"{READING} openid"
    assert beyond["error"] == "invalid_scope"


async def test_a_scope_that_is_taken_away_permits_nothing_any_more(
    administrator: Administrator, deployment: Deployment
) -> None:
    await made(administrator, "robot", READING, WORKING)

    assert await put(administrator, "robot", WORKING) == 200

    assert (await kept(deployment, "robot")).permissions == (WORKING,)


@pytest.mark.parametrize("by", ["role", "group"])
async def test_a_client_asks_for_what_its_roles_and_groups_permit(
    administrator: Administrator, deployment: Deployment, by: str
) -> None:
    secret = await made(administrator, "robot")
    await administrator.send("POST", "roles", {"role": "reader", "permissions": [READING]})
    await administrator.send("POST", "groups", {"group": "readers", "roles": ["reader"]})
    assign, ids = {
        "role": ("AssignRoleToClient", {"role_id": "reader"}),
        "group": ("AssignClientToGroup", {"group_id": "readers"}),
    }[by]

    refusal = await assigned(administrator, deployment, assign, client_id="robot", **ids)

    assert refusal is None
    assert (await granted(administrator, "robot", secret))["scope"] == f"openid {READING}"
    assert (await granted(administrator, "robot", secret, READING))["scope"] == f"{READING} openid"


async def test_a_caller_gives_a_client_what_it_may_do_itself(
    administrator: Administrator, deployment: Deployment
) -> None:
    caller = await keeper(administrator)
    await made(administrator, "robot", DEPLOYING)

    statuses = [
        await put(caller, "robot", DEPLOYING, READING),
        await put(caller, "robot", DEPLOYING, READING, WORKING),
        await put(caller, "robot", READING),
        await put(caller, "robot", READING, DEPLOYING),
    ]

    assert statuses == [200, 403, 200, 403]
    assert (await kept(deployment, "robot")).permissions == (READING,)


async def test_a_narrowed_token_gives_no_more_than_it_permits(administrator: Administrator) -> None:
    secret = await made(administrator, "keeper", "identity:write", READING)
    await made(administrator, "robot")
    token = (await granted(administrator, "keeper", secret, "identity:write"))["access_token"]

    status = await put(replace(administrator, authorization=f"Bearer {token}"), "robot", READING)

    assert status == 403


async def test_an_api_key_gives_a_client_no_permission_and_leaves_those_that_it_has(
    administrator: Administrator, deployment: Deployment
) -> None:
    await made(administrator, "robot", READING)
    key = await administrator.key("all", Clients=["update"], Scopes=["update"], Secrets=["update"])

    assert [await put(key, "robot", READING, WORKING), await put(key, "robot", READING)] == [403, 200]
    assert (await kept(deployment, "robot")).permissions == (READING,)


async def test_a_caller_makes_no_role_of_what_it_may_not_do_itself(administrator: Administrator) -> None:
    caller = await keeper(administrator)

    async def status(method: str, path: str, *permissions: str) -> int:
        return (await caller.send(method, path, {"role": "clerk", "permissions": permissions})).status

    await administrator.send("POST", "roles", {"role": "deployer", "permissions": [DEPLOYING]})
    clerk = await caller.send("POST", "roles", {"role": "clerk", "permissions": [READING]})
    path = f"roles/{(await clerk.json())['id']}"

    assert await status("POST", "roles", READING, WORKING) == 403
    assert await status("PUT", path, READING, DEPLOYING) == 403
    assert await status("PUT", path, READING, "identity:write") == 200
    grouped = await caller.send("POST", "groups", {"group": "staff", "roles": ["clerk", "deployer"]})
    assert grouped.status == 403


async def test_an_api_key_makes_no_role_that_permits_anything(administrator: Administrator) -> None:
    key = await administrator.key("roles", Roles=["create"])

    permitting = await key.send("POST", "roles", {"role": "clerk", "permissions": [READING]})
    naming = await key.send("POST", "roles", {"role": "clerk"})

    assert (permitting.status, naming.status) == (403, 200)


@pytest.mark.parametrize(
    ("rpc", "label", "member"),
    [
        ("AssignRoleToClient", {"role_id": "{}"}, {"client_id": "robot"}),
        ("AssignRoleToGroup", {"role_id": "{}"}, {"group_id": "staff"}),
        ("AssignRoleToMappingRule", {"role_id": "{}"}, {"mapping_rule_id": "rule"}),
        ("AssignClientToGroup", {"group_id": "{}s"}, {"client_id": "robot"}),
        ("AssignMappingRuleToGroup", {"group_id": "{}s"}, {"mapping_rule_id": "rule"}),
    ],
)
async def test_a_caller_assigns_no_label_that_permits_more_than_it_may(
    administrator: Administrator,
    deployment: Deployment,
    rpc: str,
    label: dict[str, str],
    member: dict[str, str],
) -> None:
    caller = await keeper(administrator)
    await made(administrator, "robot")
    await administrator.send("POST", "groups", {"group": "staff"})
    rule = MappingRule(tenant_id=TenantId("default"), id="rule", name="r", claim_name="c", claim_value="v")
    await deployment.store.of(MAPPING_RULES).insert(rule)
    for name, permission in (("reader", READING), ("deployer", DEPLOYING)):
        await administrator.send("POST", "roles", {"role": name, "permissions": [permission]})
        await administrator.send("POST", "groups", {"group": f"{name}s", "roles": [name]})

    refusals = [
        await assigned(
            caller, deployment, rpc, **{field: text.format(name) for field, text in label.items()}, **member
        )
        for name in ("reader", "deployer")
    ]

    assert refusals == [None, PermissionDenied]
