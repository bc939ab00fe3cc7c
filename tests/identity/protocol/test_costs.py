"""Python calls of the most frequent requests, from the dispatcher on.

Tokens have an algorithm that needs no thread, because the loop's own calls while it waits differ from run to run.
"""

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

    with python_calls() as calls:
        await tokens.IssueToken(request)

    assert calls.count <= 168


async def test_an_introspection(channel: LocalChannel) -> None:
    tokens = TokenServiceStub(channel)
    issued = await tokens.IssueToken(pb.IssueTokenRequest(grant_type="client_credentials", **FORM))
    request = pb.IntrospectTokenRequest(client=AS_APP, token=issued.access_token)
    await tokens.IntrospectToken(request)

    with python_calls() as calls:
        await tokens.IntrospectToken(request)

    assert calls.count <= 76
