"""Addresses of the FedCM endpoints: FedCM §3.2."""

from dataclasses import dataclass

from identity.foundation.tenants import Tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    config_url: str
    accounts_endpoint: str
    client_metadata_endpoint: str
    id_assertion_endpoint: str
    disconnect_endpoint: str
    login_url: str


def addresses_of(tenant: Tenant) -> Addresses:
    base = f"{tenant.issuer}fed_cm/"
    return Addresses(
        config_url=f"{base}config",
        accounts_endpoint=f"{base}accounts",
        client_metadata_endpoint=f"{base}client_meta",
        id_assertion_endpoint=f"{base}token",
        disconnect_endpoint=f"{base}disconnect",
        login_url=f"{base}login",
    )
