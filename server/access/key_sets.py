"""The providers' published keys, fetched on demand and cached.

An unknown key id causes another fetch, so that a key rotation is noticed at once. A minimum pause between
fetches protects the provider from invented key ids.
"""

import asyncio
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

import grpc
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, Key

from gnomon.identity.v1 import key_set_service_pb2 as pb
from gnomon.identity.v1.key_set_service_pb2_grpc import KeySetServiceStub
from server.access.config import AccessConfig
from server.access.lru import Lru
from server.platform.channels import Channel, error_of
from server.platform.clock import Clock
from server.platform.errors import NotFound, Unauthenticated

if TYPE_CHECKING:
    from gnomon.identity.v1.key_set_service_pb2_grpc import KeySetServiceAsyncStub

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class _KeySet:
    keys: Mapping[str, Key] = field(default_factory=dict)
    fetched_at: datetime = _NEVER
    fetching: asyncio.Lock = field(default_factory=asyncio.Lock)


class KeySets:
    def __init__(self, channel: Channel, config: AccessConfig, clock: Clock) -> None:
        self._stub: KeySetServiceAsyncStub = KeySetServiceStub(cast("grpc.aio.Channel", channel))
        self._config = config
        self._clock = clock
        self._key_sets = Lru[str, _KeySet](config.max_key_sets)

    async def key(self, tenant_id: str, kid: str) -> Key:
        """Return a key of a tenant's provider; raises Unauthenticated, and the errors of fetching."""
        key_set = self._key_sets.get(tenant_id)
        if key_set is None:
            key_set = _KeySet()
            self._key_sets.put(tenant_id, key_set)
        if self._is_due(key_set, kid):
            # Concurrent callers wait for the same response.
            async with key_set.fetching:
                if self._is_due(key_set, kid):
                    await self._fetch(tenant_id, key_set)
        if kid not in key_set.keys:
            raise Unauthenticated("the token's key is not known")
        return key_set.keys[kid]

    def _is_due(self, key_set: _KeySet, kid: str) -> bool:
        age = (self._clock.now() - key_set.fetched_at).total_seconds()
        config = self._config
        return age >= (config.key_set_seconds if kid in key_set.keys else config.key_set_pause_seconds)

    async def _fetch(self, tenant_id: str, key_set: _KeySet) -> None:
        request = pb.GetKeySetRequest(tenant_id=tenant_id, algorithms=self._config.algorithms)
        try:
            response = await self._stub.GetKeySet(request, timeout=self._config.call_timeout_seconds)
        except grpc.RpcError as failure:
            error = error_of(failure)
            if not isinstance(error, NotFound):
                raise error from failure
            response = pb.GetKeySetResponse()
        key_set.keys = dict(_usable(response.keys, self._config.algorithms))
        key_set.fetched_at = self._clock.now()


def _usable(jwks: Collection[pb.Jwk], algorithms: Collection[str]) -> Iterator[tuple[str, Key]]:
    for jwk in jwks:
        if jwk.alg not in algorithms:
            continue
        members = {member.json_name: value for member, value in jwk.ListFields()}
        try:
            yield jwk.kid, JWKRegistry.import_key(members)
        except JoseError:
            # RFC 7517 §5: unknown kinds of keys are ignored.
            continue
