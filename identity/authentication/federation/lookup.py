"""Look-up of metadata that upstream providers publish: OpenID Connect Discovery 1.0 §4.

Metadata at the well-known address of an issuer must name that issuer.
"""

import msgspec

from identity.delivery.http.destinations import Destinations
from identity.delivery.http.documents import Documents, UnreadableDocument
from identity.delivery.http.registered_uris import expect_reachable, expect_safe_uri
from identity.foundation.vocabulary import AuthenticationMethod, Scope
from server.platform.errors import InvalidArgument

METHODS = (
    AuthenticationMethod.CLIENT_SECRET_BASIC,
    AuthenticationMethod.CLIENT_SECRET_POST,
    AuthenticationMethod.NONE,
)
"""Supported methods of our client authentication, best first."""

_WELL_KNOWN = "/.well-known/openid-configuration"
_SCOPES = (Scope.OPENID, Scope.PROFILE, Scope.EMAIL)


class UpstreamMetadata(msgspec.Struct, frozen=True):
    """The members of OpenID Connect Discovery 1.0 §3 that the provider uses; others are ignored."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str = ""
    scopes_supported: tuple[str, ...] = _SCOPES
    token_endpoint_auth_methods_supported: tuple[str, ...] = (AuthenticationMethod.CLIENT_SECRET_BASIC,)

    @property
    def scopes(self) -> tuple[str, ...]:
        return tuple(scope for scope in _SCOPES if scope in self.scopes_supported)

    @property
    def methods(self) -> tuple[AuthenticationMethod, ...]:
        return tuple(method for method in METHODS if method in self.token_endpoint_auth_methods_supported)


class ProviderLookup:
    def __init__(self, documents: Documents, destinations: Destinations) -> None:
        self._documents = documents
        self._destinations = destinations

    async def look_up(self, *, issuer: str, metadata_url: str) -> UpstreamMetadata:
        """Read metadata by issuer or by metadata address; raises InvalidArgument."""
        if bool(issuer) == bool(metadata_url):
            raise InvalidArgument("issuer, metadata_url: expected one of them")
        uri = metadata_url or _well_known(issuer)
        expect_reachable("metadata_url" if metadata_url else "issuer", uri, self._destinations)
        metadata = await self._read(uri)
        if _well_known(metadata.issuer) != uri or issuer not in {"", metadata.issuer}:
            raise InvalidArgument("the metadata there has another issuer")
        for member in ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"):
            expect_safe_uri(member, getattr(metadata, member))
        return metadata

    async def _read(self, uri: str) -> UpstreamMetadata:
        try:
            return msgspec.json.decode(await self._documents.read(uri), type=UpstreamMetadata)
        except (UnreadableDocument, msgspec.DecodeError, RecursionError) as error:
            raise InvalidArgument("there is no readable provider metadata") from error


def _well_known(issuer: str) -> str:
    return f"{issuer.removesuffix('/')}{_WELL_KNOWN}"
