"""Custom claims: attributes of users that custom scopes open, and claims of a client.

They are below `custom`, or at the root for a client with `claims_at_root`. They cannot hide a claim of the provider:
reserved names are refused in configuration, and omitted if they occur nevertheless.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from identity.access.tokens.claims import PERSON_CLAIMS, Document, requested_claims
from identity.directory.client import Client
from identity.directory.labels import SCOPE_DEFINITIONS, ScopeDefinition
from identity.directory.user import User
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import BUILT_IN_SCOPES
from server.platform.records import RecordStore

CUSTOM = "custom"

_BUILT_IN = frozenset(BUILT_IN_SCOPES)

# Reserved names of claims in tokens, userinfo and introspection: RFC 7519 §4.1, RFC 7662 §2.2, RFC 8693 §4, RFC 9396
# §9.1, OpenID Connect Core 1.0 §2, Back-Channel Logout 1.0 §2.4.
RESERVED = frozenset(
    {
        CUSTOM,
        *(rule.name for rule in PERSON_CLAIMS),
        *("iss", "sub", "aud", "azp", "iat", "nbf", "exp", "jti", "typ", "scope", "cnf"),
        *("tid", "sid", "did", "set_id", "narrowed"),
        *("auth_time", "amr", "acr", "nonce", "at_hash", "c_hash", "s_hash"),
        *("active", "token_type", "client_id", "username"),
        *("act", "may_act", "authorization_details", "events"),
    }
)

Claims = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The grant for which claims are requested; without a `user` the client acts in its own name.

    `parameter` is the claims parameter of §5.5.
    """

    tenant: Tenant
    client: Client
    user: User | None
    oauth_scopes: Collection[str]
    parameter: str = ""


class CustomClaims:
    """Reads the definitions of scopes at most once, and only when a custom scope is involved."""

    def __init__(self, records: RecordStore) -> None:
        self._definitions = records.of(SCOPE_DEFINITIONS)

    async def of(self, asked: Asked) -> Mapping[Document, Claims]:
        """Return the custom claims of each document."""
        client, user = asked.client, asked.user
        if user is None:
            return {Document.ACCESS_TOKEN: _placed(_own(client), client)}
        definitions = await self._looked_at(asked) if user.attributes else ()
        return {
            document: _placed(_values(user, _opened(definitions, document, asked)), client)
            for document in Document
        }

    async def _looked_at(self, asked: Asked) -> Sequence[ScopeDefinition]:
        """Return the granted custom scopes; if a claims parameter names more claims, all that the client may have."""
        names = set(asked.oauth_scopes) | set(asked.client.oauth_scopes if _asks_for_more(asked) else ())
        if names <= _BUILT_IN:
            return ()
        return await self._definitions.find_any(asked.tenant.tenant_id, "name", names)


def _asks_for_more(asked: Asked) -> bool:
    return any(requested_claims(asked.parameter, document) - RESERVED for document in Document)


def _opened(definitions: Sequence[ScopeDefinition], document: Document, asked: Asked) -> Iterator[str]:
    requested = requested_claims(asked.parameter, document)
    for definition in definitions:
        is_granted = definition.name in asked.oauth_scopes
        if document is Document.ACCESS_TOKEN:
            yield from definition.attr_include_access if is_granted else ()
        else:
            yield from (name for name in definition.attr_include_id if is_granted or name in requested)


def _values(user: User, names: Iterator[str]) -> Claims:
    return {name: msgspec.Raw(user.attributes[name].encode()) for name in names if name in user.attributes}


def _own(client: Client) -> Claims:
    return msgspec.json.decode(client.claims, type=dict[str, msgspec.Raw]) if client.claims else {}


def _placed(claims: Claims, client: Client) -> Claims:
    if not claims or not client.claims_at_root:
        return {CUSTOM: claims} if claims else {}
    return {name: value for name, value in claims.items() if name not in RESERVED}
