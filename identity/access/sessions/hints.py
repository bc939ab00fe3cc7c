"""ID token hints of relying parties: OpenID Connect Core 1.0 §3.1.2.1.

An expired hint is accepted, but it must be of this provider.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from identity.foundation.errors import InvalidToken
from identity.foundation.tenants import Tenant

# Verifies signature and issuer, not the expiry; raises InvalidToken.
Verify = Callable[[str, Tenant], Awaitable[Mapping[str, object]]]

_ID_TOKEN = "Id"  # noqa: S105  # a claim's value


@dataclass(frozen=True, slots=True)
class Hint:
    client_id: str
    user_id: str
    sid: str


class IdTokenHints:
    def __init__(self, verify: Verify) -> None:
        self._verify = verify

    async def read(self, token: str, tenant: Tenant) -> Hint:
        """Raises InvalidToken unless it is an ID token of the tenant's provider."""
        claims = await self._verify(token, tenant)
        user_id, client_id, sid = (
            claims.get("sub"),
            claims.get("azp") or claims.get("aud"),
            claims.get("sid", ""),
        )
        if claims.get("typ") != _ID_TOKEN or not isinstance(user_id, str) or not isinstance(client_id, str):
            raise InvalidToken("the hint is not an ID token")
        return Hint(client_id, user_id, sid if isinstance(sid, str) else "")
