"""Long signatures are made in threads."""

import asyncio
from collections.abc import Iterator

import pytest

from identity.access.tokens.signatures import Signatures
from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.crypto.signed_jwt import parse
from tests.identity.protocol.provider import FixedKeys

PAYLOAD = b'{"sub":"service"}'


@pytest.fixture
def signatures() -> Iterator[Signatures]:
    signatures = Signatures()
    yield signatures
    signatures.close()


@pytest.mark.parametrize(
    ("algorithm", "is_done"), [(SigningAlgorithm.RS256, False), (SigningAlgorithm.ES256, True)]
)
async def test_the_event_loop_goes_on_during_an_rsa_signature_only(
    signatures: Signatures, keys: FixedKeys, algorithm: SigningAlgorithm, *, is_done: bool
) -> None:
    key = keys.keys.signing_key(algorithm)
    signing = asyncio.ensure_future(signatures.sign(key, PAYLOAD, typ="at+jwt"))
    # The task begins before this one goes on, and a thread can end it only afterwards.
    await asyncio.sleep(0)

    assert signing.done() is is_done
    signed = parse(await signing)
    assert signed.header["typ"] == "at+jwt"
    assert signed.is_signed_by(key.public_key, (algorithm.value,))
