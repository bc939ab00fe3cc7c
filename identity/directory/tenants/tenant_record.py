"""The stored record of a tenant."""

from dataclasses import dataclass, field
from datetime import datetime

from identity.directory.tenants.password_policy import PasswordPolicy
from identity.directory.tenants.settings import TenantSettings
from identity.foundation.searches import words_of
from identity.foundation.vocabulary import SecurityProfile
from server.platform.call import TenantId
from server.platform.records import Kind, Record

# Records of tenants belong to the deployment.
DEPLOYMENT = TenantId("")


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantRecord(Record):
    """`id` is the tenant's id, `tenant_id` that of the deployment; with a `hostname` the issuer is at that host.

    A tenant is deleted once `deleted_at` is set; its record stays until all of its other records are removed.
    """

    name: str
    description: str | None = None
    hostname: str = ""
    is_enabled: bool = True
    settings: TenantSettings = field(default_factory=TenantSettings)
    password_policy: PasswordPolicy = field(default_factory=PasswordPolicy)
    created_at: datetime
    deleted_at: datetime | None = None

    @property
    def own_id(self) -> TenantId:
        return TenantId(self.id)

    @property
    def words(self) -> frozenset[str]:
        """Texts by whose beginnings an administrator finds the tenant: id, name and hostname, whole and in parts."""
        return words_of(self.id, self.name, self.hostname)

    @property
    def security_profile(self) -> SecurityProfile:
        return self.settings.profile


TENANTS = Kind(TenantRecord, "tenant", unique=("hostname",), derived=("name", "deleted_at"), words=("words",))
