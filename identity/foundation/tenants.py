"""The tenants of the deployment and their issuers, as this process knows them.

An issuer is built from configured names only, never from the Host header of a request. `identity.directory.tenants`
updates the list.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from urllib.parse import urlsplit

from identity.foundation.vocabulary import SecurityProfile
from server.platform.call import TenantId
from server.platform.errors import NotFound

PREFIX = "/auth/v1/"

_SLUG = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")

# First path segments below the prefix: a tenant with such a name would hide an endpoint.
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
    """`security_profile` applies to all clients of the provider; `name` is the administrators' name of the tenant.

    Sessions, grants and tokens that began before `not_before` are refused.
    """

    tenant_id: TenantId
    issuer: str
    security_profile: SecurityProfile = field(default=SecurityProfile.NONE, compare=False)
    name: str = field(default="", compare=False)
    not_before: datetime | None = field(default=None, compare=False)

    @property
    def origin(self) -> str:
        """Scheme, host and port of the issuer."""
        return self.issuer.partition(PREFIX)[0]

    @property
    def shown_name(self) -> str:
        """The name for users; the host if the tenant has no name but its id."""
        own = self.name.strip()
        return own if own and own != self.tenant_id else urlsplit(self.issuer).hostname or self.tenant_id


def tenant_id_of(slug: str) -> TenantId:
    """Return a slug as a tenant id; raises ValueError for a name that no tenant may have."""
    if _SLUG.fullmatch(slug) is None:
        raise ValueError(f"tenant {slug!r}: expected at most 32 of a-z, 0-9 and inner hyphens")
    if slug in RESERVED_SLUGS:
        raise ValueError(f"tenant {slug!r}: the name is reserved")
    return TenantId(slug)


class KeptTenant(Protocol):
    """The stored properties of a tenant that routing needs; an empty hostname means none."""

    @property
    def own_id(self) -> TenantId: ...

    @property
    def hostname(self) -> str: ...

    @property
    def is_enabled(self) -> bool: ...

    @property
    def security_profile(self) -> SecurityProfile: ...

    @property
    def name(self) -> str: ...

    @property
    def not_before(self) -> datetime | None: ...


@dataclass(frozen=True, slots=True)
class _Known:
    """`hosts` are those of all tenants, also disabled ones; `served` are the enabled tenants."""

    ids: tuple[TenantId, ...]
    served: Mapping[TenantId, Tenant]
    hosts: Mapping[str, TenantId] = field(default_factory=dict)


class Tenants:
    """The default tenant, with its issuer at the prefix, and all others: below it, or at their own hosts."""

    def __init__(self, origin: str, default: TenantId, others: Iterable[TenantId] = ()) -> None:
        self.default = Tenant(default, f"{origin}{PREFIX}")
        self._address = urlsplit(origin)
        served = {other: Tenant(other, self.issuer_of(other)) for other in others} | {default: self.default}
        self._know(_Known(tuple(sorted(served)), served))

    def know(self, kept: Collection[KeptTenant]) -> None:
        """Replace the list of tenants; the default tenant is always served."""
        described = {
            tenant.own_id: Tenant(
                tenant.own_id,
                self.issuer_of(tenant.own_id, tenant.hostname),
                tenant.security_profile,
                tenant.name,
                tenant.not_before,
            )
            for tenant in kept
        }
        own = self.default.tenant_id
        self.default = described.get(own, Tenant(own, self.default.issuer))
        served = {tenant.own_id: described[tenant.own_id] for tenant in kept if tenant.is_enabled} | {
            own: self.default
        }
        ids = {tenant.own_id for tenant in kept} | {self.default.tenant_id}
        hosts = {tenant.hostname: tenant.own_id for tenant in kept if tenant.hostname}
        self._know(_Known(tuple(sorted(ids)), served, hosts))

    def issuer_of(self, tenant_id: TenantId, hostname: str = "") -> str:
        """Return the issuer of a tenant id, existing or not. Own hosts have the scheme and port of the deployment."""
        if tenant_id == self.default.tenant_id:
            return self.default.issuer
        if not hostname:
            return f"{self.default.issuer}{tenant_id}/"
        port = f":{self._address.port}" if self._address.port else ""
        return f"{self._address.scheme}://{hostname}{port}{PREFIX}"

    @property
    def own_host(self) -> str:
        """Host of the default tenant's issuer."""
        return self._address.hostname or ""

    def all(self) -> Collection[Tenant]:
        """Return the enabled tenants."""
        return self._known.served.values()

    @property
    def ids(self) -> tuple[TenantId, ...]:
        """Ids of all tenants, also disabled ones."""
        return self._known.ids

    def find(self, tenant_id: str) -> Tenant:
        """Return an enabled tenant, the default one for an empty id; raises NotFound."""
        return self._found(self._known.served.get(TenantId(tenant_id)) if tenant_id else self.default)

    def of(self, tenant_id: TenantId) -> Tenant:
        """Return a tenant that may be disabled, or unknown to this process."""
        return self._known.served.get(tenant_id) or Tenant(tenant_id, self.issuer_of(tenant_id))

    def find_by_issuer(self, issuer: str) -> Tenant:
        """Return the tenant with this issuer, the default one for an empty text; raises NotFound."""
        return self._found(self._by_issuer.get(issuer) if issuer else self.default)

    def id_at(self, host: str) -> TenantId | None:
        """Return the id of the tenant with this hostname, also a disabled one; None when there is none."""
        return self._known.hosts.get(host)

    def _know(self, known: _Known) -> None:
        self._known = known
        self._by_issuer = {tenant.issuer: tenant for tenant in known.served.values()}

    def _found(self, tenant: Tenant | None) -> Tenant:
        if tenant is None:
            raise NotFound("there is no such tenant")
        return tenant
