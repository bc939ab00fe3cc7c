"""Python calls of the most frequent requests, from the dispatcher on."""

from gnomon.identity.v1 import token_service_pb2 as pb
from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceStub
from server.platform.channels import LocalChannel
from tests.identity.protocol.test_servicers import AS_APP, FORM, channel
from tests.python_calls import python_calls

__all__ = ["channel"]


async def test_a_token_for_a_client_itself(channel: LocalChannel) -> None:
    tokens, request = (
        TokenServiceStub(channel),
        pb.IssueTokenRequest(grant_type="client_credentials", scope="job:work", **FORM),
    )
    await tokens.IssueToken(request)

    with python_calls() as calls:
        await tokens.IssueToken(request)

    assert calls.count <= 170


async def test_an_introspection(channel: LocalChannel) -> None:
    tokens = TokenServiceStub(channel)
    issued = await tokens.IssueToken(pb.IssueTokenRequest(grant_type="client_credentials", **FORM))
    request = pb.IntrospectTokenRequest(client=AS_APP, token=issued.access_token)
    await tokens.IntrospectToken(request)

    with python_calls() as calls:
        await tokens.IntrospectToken(request)

    assert calls.count <= 80
