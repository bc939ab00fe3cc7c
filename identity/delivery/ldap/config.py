"""The section of the configuration file about LDAP directories."""

from dataclasses import dataclass
from ipaddress import ip_network

_MOST_NETWORKS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class LdapConfig:
    """[ldap]: users sign in with the passwords of their organization's directory.

    Administrators of tenants name the servers, which have public addresses unless `allowed_networks` lists their private
    or loopback networks. With `allow_unencrypted` directories may be used without TLS, which is for tests only.
    """

    allowed_networks: tuple[str, ...] = ()
    allow_unencrypted: bool = False

    def __post_init__(self) -> None:
        if len(self.allowed_networks) > _MOST_NETWORKS:
            raise ValueError(f"ldap.allowed_networks: expected at most {_MOST_NETWORKS} networks")
        for network in self.allowed_networks:
            try:
                ip_network(network)
            except ValueError as error:
                raise ValueError(f"ldap.allowed_networks: expected networks, found {network!r}") from error
