"""A tenant as a WebAuthn relying party: Web Authentication Level 3 §5.1.2."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from identity.foundation.tenants import Tenant


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """`rp_id` is the host of the issuer: tenants below one issuer share it, a tenant with its own host does not."""

    rp_id: str
    origin: str


def relying_party_of(tenant: Tenant) -> RelyingParty:
    return RelyingParty(urlsplit(tenant.origin).hostname or "", tenant.origin)
