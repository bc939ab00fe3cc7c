"""Key sets of all tenants: each provider has its own, so that no tenant's key speaks for another.

A set is generated, or read, in a worker thread when it is first asked for; whoever needs it meanwhile waits, the loop does not.
"""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from identity.jose.key_set import KeySet, generate_key_set
from identity.key_files import stored_key_set
from identity.randomness import Randomness
from server.platform.call import TenantId

_KID_LENGTH = 24


class KeyRing:
    def __init__(self, randomness: Randomness, folder: Path | None = None) -> None:
        """Keys are kept in the folder's files, or for the life of this process when there is none."""
        self._randomness = randomness
        self._folder = folder
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="signing-keys")
        self._key_sets: dict[TenantId, Future[KeySet]] = {}

    def prepare(self, tenant_id: TenantId) -> Future[KeySet]:
        """Begin to generate a tenant's keys unless that has begun."""
        if tenant_id not in self._key_sets:
            self._key_sets[tenant_id] = self._worker.submit(self._load, tenant_id)
        return self._key_sets[tenant_id]

    async def key_set(self, tenant_id: TenantId) -> KeySet:
        generation = self.prepare(tenant_id)
        if generation.done():
            return generation.result()
        # One caller that gives up must not take the keys from the others.
        return await asyncio.shield(asyncio.wrap_future(generation))

    def close(self) -> None:
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _load(self, tenant_id: TenantId) -> KeySet:
        if self._folder is None:
            return generate_key_set(self._new_kid)
        return stored_key_set(self._folder, tenant_id, self._new_kid)

    def _new_kid(self) -> str:
        return self._randomness.alphanumeric(_KID_LENGTH)
