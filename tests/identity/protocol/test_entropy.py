"""Entropy of codes, tokens and secrets: RFC 6749 §10.10, RFC 6819 §5.1.4.2.2."""

import math
import re
import string
from collections.abc import Awaitable, Callable

import pytest

from identity.foundation.vocabulary import GrantType
from identity.protocol.backchannel.config import BackchannelConfig
from tests.identity.protocol.backchannel.bank import Bank
from tests.identity.protocol.provider import TENANT, Provider

SIXTEEN_OCTETS = 128
BITS = math.log2(len(string.ascii_letters + string.digits))


async def _refresh_token(provider: Provider) -> str:
    return (await provider.sign_in()).refresh_token.split(".")[1]


async def _device_code(provider: Provider) -> str:
    return (await provider.start_device()).device_code


async def _auth_req_id(provider: Provider) -> str:
    bank = Bank(provider, BackchannelConfig(open_requests=20, open_requests_of_user=20))
    return (await bank.start()).auth_req_id


async def _session_cookie(provider: Provider) -> str:
    cookie, _ = await provider.sessions.begin(TENANT, "192.0.2.7")
    return cookie


async def _csrf_token(provider: Provider) -> str:
    _, session = await provider.sessions.begin(TENANT, "192.0.2.7")
    return session.csrf_token


@pytest.mark.parametrize("made", [_refresh_token, _device_code, _auth_req_id, _session_cookie, _csrf_token])
async def test_a_secret_has_128_bits_and_never_comes_twice(
    provider: Provider, made: Callable[[Provider], Awaitable[str]]
) -> None:
    secrets = [await made(provider) for _ in range(20)]

    assert all(re.fullmatch(r"[A-Za-z0-9]+", secret) for secret in secrets)
    assert min(map(len, secrets)) * BITS >= SIXTEEN_OCTETS
    assert len(set(secrets)) == len(secrets)


async def test_two_access_tokens_never_have_the_same_id(provider: Provider) -> None:
    tokens = [(await provider.ask(GrantType.CLIENT_CREDENTIALS)).access_token for _ in range(20)]

    assert len({(await provider.claims(token))["jti"] for token in tokens}) == len(tokens)
