"""Signing keys that the deployments of a run share: a long RSA key takes a second to make, and each test has nine.

Each deployment takes those that were used longest ago, so its tenants and their rotations have keys that differ. All RSA
keys are short: relying parties of tests wait five seconds for a key set, which waits for its long keys.
"""

from collections import defaultdict, deque
from dataclasses import replace
from functools import partial
from threading import Lock

from identity.crypto.jose.algorithms import KIND_OF, KeyKind, PrivateKey, SigningAlgorithm
from identity.crypto.keys.key_maker import ThreadedKeyMaker

# Keys of an algorithm; a deployment of a test needs fewer.
MOST = 16


class RememberedKeyMaker:
    """Makes new keys in threads until there are enough, then takes them in turn."""

    def __init__(self) -> None:
        self._making = ThreadedKeyMaker()

    async def make(self, kind: KeyKind) -> PrivateKey:
        if kind.is_quick and kind.algorithm is not SigningAlgorithm.RS256:
            return await self._making.make(kind)
        return await self._making.make(replace(kind, generate=partial(_remembered, kind.algorithm)))

    def close(self) -> None:
        self._making.close()


_lock = Lock()
_keys: defaultdict[SigningAlgorithm, deque[PrivateKey]] = defaultdict(deque)


def _remembered(algorithm: SigningAlgorithm) -> PrivateKey:
    keys = _keys[algorithm]
    if len(keys) < MOST:
        made = KIND_OF[SigningAlgorithm.RS256].generate()
        with _lock:
            keys.append(made)
        return made
    with _lock:
        keys.rotate(-1)
        return keys[-1]
