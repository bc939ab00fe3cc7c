"""Python calls of the most frequent requests, from the dispatcher on.

Tokens have an algorithm that needs no thread, because the loop's own calls while it waits differ from run to run. Of
several requests the cheapest counts: timers of the loop may fire during one.
"""

from collections.abc import Awaitable, Callable
from functools import partial

from gnomon.identity.v1 import token_service_pb2 as pb
from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceStub
from identity.crypto.jose.algorithms import SigningAlgorithm
from server.platform.channels import LocalChannel
from tests.identity.protocol.provider import Provider
from tests.identity.protocol.test_servicers import AS_APP, FORM, channel
from tests.python_calls import python_calls

__all__ = ["channel"]


async def test_a_token_for_a_client_itself(channel: LocalChannel, provider: Provider) -> None:
    await provider.change_client(access_token_signed_response_alg=SigningAlgorithm.EDDSA)
    tokens, request = (
        TokenServiceStub(channel),
        pb.IssueTokenRequest(grant_type="client_credentials", scope="job:work", **FORM),
    )
    await tokens.IssueToken(request)

    assert await least_calls(partial(tokens.IssueToken, request)) <= 168


async def test_an_introspection(channel: LocalChannel) -> None:
    tokens = TokenServiceStub(channel)
    issued = await tokens.IssueToken(pb.IssueTokenRequest(grant_type="client_credentials", **FORM))
    request = pb.IntrospectTokenRequest(client=AS_APP, token=issued.access_token)
    await tokens.IntrospectToken(request)

    assert await least_calls(partial(tokens.IntrospectToken, request)) <= 76


async def least_calls(request: Callable[[], Awaitable[object]]) -> int:
    counts = []
    for _ in range(5):
        with python_calls() as calls:
            await request()
        counts.append(calls.count)
    return min(counts)
