"""Signs tokens in threads where that takes long, so that the event loop serves other requests meanwhile.

OpenSSL signs without the interpreter's lock. An RSA signature takes nearly half of a token request; signatures of other
algorithms take less time than the hand-over to a thread.
"""

from joserfc.jwk import RSAKey

from identity.crypto.jose.signing_key import SigningKey
from identity.foundation.shield import MOST_CALLS
from server.platform.cores import available_cores
from server.platform.threads import Threads


class Signatures:
    """A thread for each core beside that of the event loop; `close` ends them."""

    def __init__(self) -> None:
        threads = max(available_cores() - 1, 1)
        # Each running call waits for one signature at a time.
        self._threads = Threads("signatures", threads, most_waiting=MOST_CALLS)

    async def sign(self, signing_key: SigningKey, payload: bytes, *, typ: str = "JWT") -> str:
        """Sign like `SigningKey.sign`."""
        if isinstance(signing_key.private_key, RSAKey):
            return await self._threads.run(signing_key.sign, payload, typ=typ)
        return signing_key.sign(payload, typ=typ)

    def close(self) -> None:
        self._threads.close()
