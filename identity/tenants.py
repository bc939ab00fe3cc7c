"""The tenants of the deployment and the issuer of each.

An issuer is built from the configured address alone, never from what a request says about its host.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from server.platform.call import TenantId
from server.platform.errors import NotFound

PREFIX = "/auth/v1/"

_SLUG = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")

# First path segments below the prefix: a tenant of such a name would hide an endpoint.
RESERVED_SLUGS = frozenset(
    (
        *("oidc", "clients", "clients_dyn", "users", "sessions", "providers", "pow", "sign-in", "account"),
        *("admin", "device", "fedcm", "fed_cm", "tenants", "roles", "groups", "scopes", "events"),
        *("blacklist", "api_keys", "kv", "tos", "theme", "docs", "health", "ready", "ping", "version"),
        *("whoami", "assets", "pam", "backup", "email", "encryption", "search", "atproto", "saml", "scim"),
        *(".well-known", "static"),
    )
)


@dataclass(frozen=True, slots=True)
class Tenant:
    tenant_id: TenantId
    issuer: str


def tenant_id_of(slug: str) -> TenantId:
    """Take a slug for a tenant's id; raises ValueError when no tenant may be called so."""
    if _SLUG.fullmatch(slug) is None:
        raise ValueError(f"tenant {slug!r}: expected at most 32 of a-z, 0-9 and inner hyphens")
    if slug in RESERVED_SLUGS:
        raise ValueError(f"tenant {slug!r}: the name is reserved")
    return TenantId(slug)


class Tenants:
    """The default tenant, whose issuer stands at the prefix itself, and the others below it."""

    def __init__(self, origin: str, default: TenantId, others: Iterable[TenantId] = ()) -> None:
        issuer = f"{origin}{PREFIX}"
        self.default = Tenant(default, issuer)
        self._tenants = {other: Tenant(other, f"{issuer}{other}/") for other in others} | {
            default: self.default
        }

    def all(self) -> Collection[Tenant]:
        return self._tenants.values()

    @property
    def ids(self) -> tuple[TenantId, ...]:
        return tuple(sorted(self._tenants))

    def find(self, tenant_id: str) -> Tenant:
        """Return a tenant, the default one for an empty id; raises NotFound."""
        if not tenant_id:
            return self.default
        tenant = self._tenants.get(TenantId(tenant_id))
        if tenant is None:
            raise NotFound("there is no such tenant")
        return tenant
