from collections.abc import Collection
from typing import Any, cast

import pytest

from gnomon.identity.v1 import caller_pb2
from gnomon.identity.v1 import key_set_service_pb2 as pb
from gnomon.identity.v1.key_set_service_pb2_grpc import KeySetServiceStub
from identity.access.callers import Actor, ActorKind
from identity.access.rpc.admission import Admission
from identity.crypto.jose.key_set import KeySet
from identity.crypto.keys.key_ring import KeyRing
from identity.foundation.tenants import Tenant, Tenants
from identity.protocol.rpc.key_set import KeySetServicer
from server.platform.call import TenantId
from server.platform.channels import LocalChannel
from server.platform.channels.failure import CallError
from server.platform.clock import VirtualClock
from server.platform.dispatch import Dispatcher
from server.platform.errors import NotFound, PermissionDenied
from server.platform.interceptors import interceptors
from server.platform.peer import LOCAL_EDGE
from server.platform.policy import Mode
from tests.identity.crypto.keys.rings import ACME, NOON, UMBRELLA, Deployment

TENANTS = Tenants("https://id.example.com", ACME, (UMBRELLA,))
ROBOT = Actor(ActorKind.API_KEY, "robot", "robot")
CALLER = caller_pb2.Caller(api_key="robot$s3cret")
SERVICE = pb.DESCRIPTOR.services_by_name["KeySetService"]


class OneKey:
    """Admits one API key, and no other caller."""

    async def expect(self, _tenant: Tenant, caller: caller_pb2.Caller, *_right: object) -> Actor:
        if caller.api_key != "robot$s3cret":
            raise PermissionDenied("the caller may not do this")
        return ROBOT


class QuickPublication:
    """Publishes the quick keys without waiting for the others."""

    def __init__(self, keys: KeyRing) -> None:
        self._keys = keys

    async def key_set(self, tenant_id: TenantId, _algorithms: Collection[str] = ()) -> KeySet:
        return await self._keys.key_set(tenant_id)


@pytest.fixture
def keys() -> KeySetServiceStub:
    ring = Deployment(VirtualClock(pinned=NOON)).process()
    admission = Admission(TENANTS, cast("Any", OneKey()))
    servicer = KeySetServicer(admission, ring, QuickPublication(ring))
    return KeySetServiceStub(
        LocalChannel(
            Dispatcher({SERVICE: servicer}, interceptors(Mode.EMBEDDED, lambda _: _nothing())),
            peer=LOCAL_EDGE,
        )
    )


async def _nothing() -> None:
    """Admit every call."""


async def kids(stub: KeySetServiceStub, tenant_id: TenantId) -> list[str]:
    return [key.kid for key in (await stub.GetKeySet(pb.GetKeySetRequest(tenant_id=tenant_id))).keys]


async def test_an_administrator_rotates_the_keys_of_the_tenant_that_it_names(keys: KeySetServiceStub) -> None:
    mine, others = await kids(keys, UMBRELLA), await kids(keys, ACME)

    await keys.RotateKeys(pb.RotateKeysRequest(tenant_id=UMBRELLA, caller=CALLER))

    assert others == await kids(keys, ACME)
    assert not set(mine) & set((await kids(keys, UMBRELLA))[:3])
    assert set(mine) <= set(await kids(keys, UMBRELLA))


@pytest.mark.parametrize(
    ("request_", "refusal"),
    [
        pytest.param(pb.RotateKeysRequest(tenant_id=ACME), PermissionDenied, id="no administrator"),
        pytest.param(pb.RotateKeysRequest(tenant_id="nowhere", caller=CALLER), NotFound, id="no provider"),
    ],
)
async def test_nobody_else_rotates_anything(
    keys: KeySetServiceStub, request_: pb.RotateKeysRequest, refusal: type[Exception]
) -> None:
    before = await kids(keys, ACME)

    with pytest.raises(CallError) as failure:
        await keys.RotateKeys(request_)

    assert isinstance(failure.value.error, refusal)
    assert before == await kids(keys, ACME)


async def test_a_key_is_published_by_its_kid(keys: KeySetServiceStub) -> None:
    published = (await keys.GetKeySet(pb.GetKeySetRequest())).keys[0]

    assert published == (await keys.GetKey(pb.GetKeyRequest(kid=published.kid))).key


@pytest.mark.parametrize("tenant_id", [ACME, UMBRELLA, TenantId("nowhere")])
async def test_a_kid_that_a_provider_does_not_publish_is_not_found(
    keys: KeySetServiceStub, tenant_id: TenantId
) -> None:
    with pytest.raises(CallError, match="there is no such"):
        await keys.GetKey(pb.GetKeyRequest(kid="another", tenant_id=tenant_id))
