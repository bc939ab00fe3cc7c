"""Credentials of clients, from requests and connections."""

from collections.abc import Mapping

from gnomon.identity.v1 import token_service_pb2 as pb
from identity.access.client_authentication.authenticator import ClientCredentials
from identity.foundation.vocabulary import AuthenticationMethod
from server.platform.call import Call
from server.platform.mutual_tls import certificate_of

_METHODS: Mapping[int, AuthenticationMethod] = {
    pb.CLIENT_AUTHENTICATION_SECRET_BASIC: AuthenticationMethod.CLIENT_SECRET_BASIC,
    pb.CLIENT_AUTHENTICATION_SECRET_POST: AuthenticationMethod.CLIENT_SECRET_POST,
    pb.CLIENT_AUTHENTICATION_PRIVATE_KEY_JWT: AuthenticationMethod.PRIVATE_KEY_JWT,
}


def method_of(method: int) -> AuthenticationMethod:
    return _METHODS.get(method, AuthenticationMethod.NONE)


def credentials_of(client: pb.ClientProof, call: Call) -> ClientCredentials:
    return ClientCredentials(
        method_of(client.method),
        client.client_id,
        client.client_secret,
        client.client_assertion,
        certificate_of(call),
    )
