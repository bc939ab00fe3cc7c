"""Renewal of access tokens: before their end, one at a time."""

import asyncio

import grpc
import pytest

from gnomon.client.back_off import BackOff
from gnomon.client.credentials import IssuedTokens
from gnomon.client.errors import RequestFailed
from gnomon.identity.v1.token_service_pb2 import IssueTokenResponse

LIFETIME = 100


class Issuer:
    """Gives numbered tokens that live LIFETIME seconds, unless it is down; time is its own."""

    def __init__(self) -> None:
        self.now = 0.0
        self.issued = 0
        self.is_down = False
        self.tokens = IssuedTokens(self.issue, lambda: self.now)

    async def issue(self) -> IssueTokenResponse:
        if self.is_down:
            raise RequestFailed(grpc.StatusCode.UNAVAILABLE, "UNAVAILABLE", "down")
        await asyncio.sleep(0)
        self.issued += 1
        return IssueTokenResponse(access_token=f"token-{self.issued}", expires_in=LIFETIME)


@pytest.mark.parametrize(
    ("seconds", "token"), [(0, "token-1"), (79, "token-1"), (80, "token-2"), (500, "token-2")]
)
async def test_a_token_is_renewed_after_four_fifths_of_its_life(seconds: float, token: str) -> None:
    issuer = Issuer()
    await issuer.tokens.current()

    issuer.now = seconds

    assert await issuer.tokens.current() == token


async def test_a_hundred_calls_at_once_cause_one_renewal() -> None:
    issuer = Issuer()

    found = await asyncio.gather(*(issuer.tokens.current() for _ in range(100)))

    assert set(found) == {"token-1"}
    assert issuer.issued == 1


async def test_a_token_stays_in_use_until_its_end_while_the_issuer_is_down() -> None:
    issuer = Issuer()
    await issuer.tokens.current()
    issuer.is_down = True

    issuer.now = LIFETIME - 1
    assert await issuer.tokens.current() == "token-1"

    issuer.now = LIFETIME
    with pytest.raises(RequestFailed):
        await issuer.tokens.current()


async def test_a_refused_token_is_renewed_once_for_all_who_used_it() -> None:
    issuer = Issuer()
    token = await issuer.tokens.current()

    issuer.tokens.reject(token)
    renewed = await issuer.tokens.current()
    issuer.tokens.reject(token)

    assert renewed == await issuer.tokens.current() == "token-2"


@pytest.mark.parametrize(("failures", "bound"), [(1, 0.05), (2, 0.1), (8, 5.0), (10_000, 5.0)])
def test_a_pause_is_anything_from_nothing_to_a_bound_that_doubles(failures: int, bound: float) -> None:
    back_off = BackOff(first=0.05, longest=5.0)

    assert back_off.seconds(failures, lambda: 0.0) == 0
    assert back_off.seconds(failures, lambda: 1.0) == pytest.approx(bound)
