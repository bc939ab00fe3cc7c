import pytest

from gnomon.identity.v1 import key_set_service_pb2 as pb
from gnomon.identity.v1.key_set_service_pb2_grpc import KeySetServiceStub
from identity.rpc.key_set import KeySetServicer
from identity.tenants import Tenants
from server.platform.call import Principal, TenantId
from server.platform.channels import LocalChannel
from server.platform.channels.failure import CallError
from server.platform.clock import VirtualClock
from server.platform.dispatch import Dispatcher
from server.platform.errors import NotFound, PermissionDenied
from server.platform.interceptors import interceptors
from server.platform.policy import Mode
from tests.identity.keys.rings import ACME, NOON, UMBRELLA, Deployment

TENANTS = Tenants("https://id.example.com", ACME, (UMBRELLA,))
SERVICE = pb.DESCRIPTOR.services_by_name["KeySetService"]
ADMINISTRATOR = frozenset({"identity:write"})


def stub(permissions: frozenset[str], tenant_id: TenantId) -> KeySetServiceStub:
    servicer = KeySetServicer(TENANTS, Deployment(VirtualClock(pinned=NOON)).process())
    dispatcher = Dispatcher({SERVICE: servicer}, interceptors(Mode.EMBEDDED, lambda _: _nothing()))
    return KeySetServiceStub(LocalChannel(dispatcher, Principal("p", frozenset({tenant_id}), permissions)))


async def _nothing() -> None:
    """The caller's principal came with its channel."""


async def kids(stub: KeySetServiceStub, tenant_id: TenantId) -> list[str]:
    return [key.kid for key in (await stub.GetKeySet(pb.GetKeySetRequest(tenant_id=tenant_id))).keys]


async def test_an_administrator_rotates_the_keys_of_the_tenant_it_acts_in() -> None:
    keys = stub(ADMINISTRATOR, UMBRELLA)
    mine, others = await kids(keys, UMBRELLA), await kids(keys, ACME)

    await keys.RotateKeys(pb.RotateKeysRequest())

    assert others == await kids(keys, ACME)
    assert not set(mine) & set((await kids(keys, UMBRELLA))[:3])
    assert set(mine) <= set(await kids(keys, UMBRELLA))


@pytest.mark.parametrize(
    ("permissions", "tenant_id", "refusal"),
    [
        pytest.param(frozenset({"identity:read"}), ACME, PermissionDenied, id="no administrator"),
        pytest.param(ADMINISTRATOR, TenantId("nowhere"), NotFound, id="no provider"),
    ],
)
async def test_nobody_else_rotates_anything(
    permissions: frozenset[str], tenant_id: TenantId, refusal: type[Exception]
) -> None:
    keys = stub(permissions, tenant_id)
    before = await kids(keys, ACME)

    with pytest.raises(CallError) as failure:
        await keys.RotateKeys(pb.RotateKeysRequest())

    assert isinstance(failure.value.error, refusal)
    assert before == await kids(keys, ACME)


async def test_a_key_is_published_by_its_kid() -> None:
    keys = stub(frozenset(), ACME)
    published = (await keys.GetKeySet(pb.GetKeySetRequest())).keys[0]

    assert published == (await keys.GetKey(pb.GetKeyRequest(kid=published.kid))).key


@pytest.mark.parametrize("tenant_id", [ACME, UMBRELLA, TenantId("nowhere")])
async def test_a_kid_that_a_provider_does_not_publish_is_not_found(tenant_id: TenantId) -> None:
    with pytest.raises(CallError, match="there is no such"):
        await stub(frozenset(), ACME).GetKey(pb.GetKeyRequest(kid="another", tenant_id=tenant_id))
