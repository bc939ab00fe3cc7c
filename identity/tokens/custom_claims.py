"""Claims beyond the provider's own: those that a client brings.

They stand below `custom`, or at the root for a client that wants them there. None hides a claim of the provider: such a
name is refused where it is given, and left out where it is there all the same.
"""

from collections.abc import Mapping

import msgspec

from identity.clients.client import Client
from identity.tokens.claims import PERSON_CLAIMS

CUSTOM = "custom"

# What tokens, userinfo and introspection say of themselves, and what receivers take for it: RFC 7519 §4.1, RFC 7662
# §2.2, RFC 8693 §4, RFC 9396 §9.1, OpenID Connect Core 1.0 §2, Back-Channel Logout 1.0 §2.4.
RESERVED = frozenset(
    {
        CUSTOM,
        *(rule.name for rule in PERSON_CLAIMS),
        *("iss", "sub", "aud", "azp", "iat", "nbf", "exp", "jti", "typ", "scope", "cnf"),
        *("tid", "sid", "did", "set_id"),
        *("auth_time", "amr", "acr", "nonce", "at_hash", "c_hash", "s_hash"),
        *("active", "token_type", "client_id", "username"),
        *("act", "may_act", "authorization_details", "events"),
    }
)


def client_claims(client: Client) -> Mapping[str, object]:
    """Return what a client's tokens in its own name carry."""
    if not client.claims:
        return {}
    return _placed(msgspec.json.decode(client.claims, type=dict[str, msgspec.Raw]), client)


def _placed(claims: Mapping[str, object], client: Client) -> Mapping[str, object]:
    if not claims or not client.claims_at_root:
        return {CUSTOM: claims} if claims else {}
    return {name: value for name, value in claims.items() if name not in RESERVED}
