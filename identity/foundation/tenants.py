"""The tenants of the deployment and their issuers, as this process knows them.

An issuer is built from configured names only, never from the Host header of a request. `identity.directory.tenants`
updates the list.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
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


@dataclass(frozen=True)
class _Known:
    """`hostnames` are those of all tenants, also disabled ones, empty for none; `served` are the enabled tenants.

    A change makes copies, so that a loop over the tenants may wait meanwhile.
    """

    hostnames: Mapping[TenantId, str]
    served: Mapping[TenantId, Tenant]

    @cached_property
    def ids(self) -> tuple[TenantId, ...]:
        return tuple(sorted(self.hostnames))

    @cached_property
    def by_host(self) -> Mapping[str, TenantId]:
        return {hostname: tenant_id for tenant_id, hostname in self.hostnames.items() if hostname}

    @cached_property
    def by_issuer(self) -> Mapping[str, Tenant]:
        return {tenant.issuer: tenant for tenant in self.served.values()}


class Tenants:
    """The default tenant, with its issuer at the prefix, and all others: below it, or at their own hosts."""

    def __init__(self, origin: str, default: TenantId, others: Iterable[TenantId] = ()) -> None:
        self.default = Tenant(default, f"{origin}{PREFIX}")
        self._address = urlsplit(origin)
        served = {other: Tenant(other, self.issuer_of(other)) for other in others} | {default: self.default}
        self._known = _Known(dict.fromkeys(served, ""), served)

    def know(self, kept: Collection[KeptTenant]) -> None:
        """Replace the list of tenants; the default tenant is always served."""
        own = self.default.tenant_id
        self._know_default(next((tenant for tenant in kept if tenant.own_id == own), None))
        served = {tenant.own_id: self._served(tenant) for tenant in kept if tenant.is_enabled}
        hostnames = {tenant.own_id: tenant.hostname for tenant in kept}
        self._known = _Known({own: "", **hostnames}, served | {own: self.default})

    def know_one(self, tenant_id: TenantId, kept: KeptTenant | None) -> None:
        """Replace one tenant of the list, or remove it."""
        hostnames, served = dict(self._known.hostnames), dict(self._known.served)
        hostnames.pop(tenant_id, None)
        served.pop(tenant_id, None)
        own = self.default.tenant_id
        if kept is not None:
            hostnames[tenant_id] = kept.hostname
            if kept.is_enabled:
                served[tenant_id] = self._served(kept)
        if tenant_id == own:
            self._know_default(kept)
        self._known = _Known({own: "", **hostnames}, served | {own: self.default})

    def _know_default(self, kept: KeptTenant | None) -> None:
        self.default = replace(
            self.default,
            security_profile=SecurityProfile.NONE if kept is None else kept.security_profile,
            name="" if kept is None else kept.name,
            not_before=None if kept is None else kept.not_before,
        )

    def _served(self, kept: KeptTenant) -> Tenant:
        issuer = self.issuer_of(kept.own_id, kept.hostname)
        return Tenant(kept.own_id, issuer, kept.security_profile, kept.name, kept.not_before)

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

    @property
    def known(self) -> Collection[TenantId]:
        """Ids of all tenants, also disabled ones, for tests of membership."""
        return self._known.hostnames.keys()

    def find(self, tenant_id: str) -> Tenant:
        """Return an enabled tenant, the default one for an empty id; raises NotFound."""
        return self._found(self._known.served.get(TenantId(tenant_id)) if tenant_id else self.default)

    def of(self, tenant_id: TenantId) -> Tenant:
        """Return a tenant that may be disabled, or unknown to this process."""
        return self._known.served.get(tenant_id) or Tenant(tenant_id, self.issuer_of(tenant_id))

    def find_by_issuer(self, issuer: str) -> Tenant:
        """Return the tenant with this issuer, the default one for an empty text; raises NotFound."""
        return self._found(self._known.by_issuer.get(issuer) if issuer else self.default)

    def id_at(self, host: str) -> TenantId | None:
        """Return the id of the tenant with this hostname, also a disabled one; None when there is none."""
        return self._known.by_host.get(host)

    def _found(self, tenant: Tenant | None) -> Tenant:
        if tenant is None:
            raise NotFound("there is no such tenant")
        return tenant
