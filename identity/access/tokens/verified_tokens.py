"""Cache of verified access tokens, so that the signature of a token is verified once in a process.

A signature depends only on the text of the token and the keys, so an entry is valid while the key set is the same.
Expiry, revocation, client, user and token set are looked up each time, so a token ends at once.
"""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass

from identity.access.tokens.claims_of_access_token import AccessTokenClaims, access_token_claims
from identity.access.tokens.keys import KeyRing
from identity.access.tokens.verification import verified
from identity.crypto.jose.key_set import KeySet
from identity.foundation.tenants import Tenant

MOST_TOKENS = 4_096


@dataclass(frozen=True, slots=True)
class _Entry:
    keys: KeySet
    claims: AccessTokenClaims


class VerifiedTokens:
    """Tokens of all tenants; the least recently used one is dropped first."""

    def __init__(self, keys: KeyRing, *, most: int = MOST_TOKENS) -> None:
        self._keys = keys
        self._most = most
        self._entries: OrderedDict[tuple[str, bytes], _Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    async def claims(self, token: str, tenant: Tenant) -> AccessTokenClaims:
        """Return the claims of an access token that the tenant's provider signed, even if it has expired.

        Raises InvalidToken.
        """
        name = (tenant.issuer, hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest())
        entry = self._entries.get(name)
        keys = await self._keys.key_set(tenant.tenant_id)
        if entry is None or entry.keys is not keys:
            entry = _Entry(keys, await self._verified(token, tenant))
            self._entries[name] = entry
        self._entries.move_to_end(name)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)
        return entry.claims

    async def _verified(self, token: str, tenant: Tenant) -> AccessTokenClaims:
        return access_token_claims(await verified(token, tenant, self._keys))
