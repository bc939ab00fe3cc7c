"""What a tenant is to authenticators: Web Authentication Level 3 §5.1.2."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from identity.tenants import Tenant


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """`rp_id` is a host; tenants below one issuer share it, one at a host of its own has its own."""

    rp_id: str
    origin: str


def relying_party_of(tenant: Tenant) -> RelyingParty:
    return RelyingParty(urlsplit(tenant.origin).hostname or "", tenant.origin)
