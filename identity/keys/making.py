"""Where new keys come from."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from identity.jose.algorithms import KeyKind, PrivateKey

# One may be at slow keys for seconds while the other makes the quick ones of a new tenant.
_WORKERS = 2


class KeyMaking(Protocol):
    async def make(self, kind: KeyKind) -> PrivateKey: ...

    def close(self) -> None: ...


class ThreadedKeyMaking:
    """In threads, which the event loop does not wait for."""

    def __init__(self) -> None:
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="signing-keys")

    async def make(self, kind: KeyKind) -> PrivateKey:
        return await asyncio.get_running_loop().run_in_executor(self._workers, kind.generate)

    def close(self) -> None:
        self._workers.shutdown(wait=False, cancel_futures=True)
