"""The metadata in the document of a client, and the addresses of such documents.

OAuth Client ID Metadata Document, §3 and §4: the id in the document equals its address, and no secret is in it.
"""

import re
from typing import Annotated, Any

import msgspec

from identity.clients.dynamic.metadata import ClientMetadata
from identity.delivery.http.destinations import is_loopback
from identity.directory.client import Client
from identity.foundation.absolute_uris import absolute_uri
from identity.foundation.errors import InvalidClientMetadata
from identity.foundation.vocabulary import AuthenticationMethod, GrantType
from server.platform.json_members import expect_unique_members

MOST_CHARACTERS = 256
"""Length of a client id."""

_MOST_OF_NAME = 128
_DOT_SEGMENT = re.compile(r"/(\.|%2e){1,2}(/|$)", re.IGNORECASE)
_METHODS = frozenset({AuthenticationMethod.NONE, AuthenticationMethod.PRIVATE_KEY_JWT})
_GRANT_TYPES = frozenset({GrantType.AUTHORIZATION_CODE, GrantType.REFRESH_TOKEN})

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
_Text = Annotated[str, msgspec.Meta(max_length=2048)]
_Words = Annotated[tuple[_Text, ...], msgspec.Meta(max_length=20)]


class _Document(msgspec.Struct, kw_only=True):
    """Other members are ignored: RFC 7591 §2."""

    client_id: str
    client_name: _Name
    redirect_uris: Annotated[tuple[_Text, ...], msgspec.Meta(min_length=1, max_length=20)]
    grant_types: _Words = (GrantType.AUTHORIZATION_CODE.value,)
    response_types: _Words = ("code",)
    token_endpoint_auth_method: _Text = AuthenticationMethod.NONE.value
    token_endpoint_auth_signing_alg: _Text = ""
    scope: _Text = ""
    application_type: _Text = ""
    client_uri: _Text = ""
    policy_uri: _Text = ""
    tos_uri: _Text = ""
    post_logout_redirect_uris: _Words = ()
    jwks: dict[str, Any] | None = None
    jwks_uri: _Text = ""
    client_secret: msgspec.Raw | None = None


def is_document_address(client_id: str) -> bool:
    """Whether a client id is the address of a document: https with a path, or http on this machine."""
    parts = absolute_uri(client_id) if len(client_id) <= MOST_CHARACTERS else None
    if parts is None or not parts.hostname or len(parts.path) <= 1 or "@" in parts.netloc:
        return False
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))
    return is_safe and _DOT_SEGMENT.search(parts.path) is None


def metadata_in(text: str, client: Client) -> ClientMetadata:
    """Return the metadata; the name has the host, which nobody else can have. Raises InvalidClientMetadata."""
    try:
        document = msgspec.json.decode(text, type=_Document)
        expect_unique_members(text.encode())
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise InvalidClientMetadata("expected the metadata of a client") from error
    if document.client_id != client.id:
        raise InvalidClientMetadata("client_id: expected the address of the document")
    if document.client_secret is not None or document.token_endpoint_auth_method not in _METHODS:
        raise InvalidClientMetadata("expected a client without a secret")
    if GrantType.AUTHORIZATION_CODE not in document.grant_types:
        raise InvalidClientMetadata("grant_types: expected authorization_code")
    parts = absolute_uri(client.id)
    name = f"{document.client_name} ({parts.netloc if parts else client.id})"
    if len(name) > _MOST_OF_NAME:
        raise InvalidClientMetadata(
            f"client_name: expected {_MOST_OF_NAME} characters at most, with the host"
        )
    return ClientMetadata(
        redirect_uris=document.redirect_uris,
        # RFC 7591 §2: a server leaves out grants that it does not support.
        grant_types=tuple(each for each in document.grant_types if each in _GRANT_TYPES),
        response_types=document.response_types,
        token_endpoint_auth_method=document.token_endpoint_auth_method,
        client_name=name,
        scope=document.scope,
        application_type=document.application_type,
        authorization_details_types=client.authorization_details_types,
        others=lambda: {
            "token_endpoint_auth_signing_alg": document.token_endpoint_auth_signing_alg,
            "client_uri": document.client_uri,
            "policy_uri": document.policy_uri,
            "tos_uri": document.tos_uri,
            "post_logout_redirect_uris": document.post_logout_redirect_uris,
            "jwks": "" if document.jwks is None else msgspec.json.encode(document.jwks).decode(),
            "jwks_uri": document.jwks_uri,
        },
    )
