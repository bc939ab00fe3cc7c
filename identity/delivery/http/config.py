"""The section of the configuration file about outgoing requests."""

from dataclasses import dataclass
from ipaddress import ip_network

_MOST_NETWORKS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingConfig:
    """[outgoing]: requests to addresses that clients and administrators name go to public addresses only.

    `allowed_networks` lists private, loopback or link-local networks that are permitted as well. Addresses in this
    configuration, such as a `backchannel_logout_uri` of a client, need no entry. `http` is for loopback only.
    """

    allowed_networks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.allowed_networks) > _MOST_NETWORKS:
            raise ValueError(f"outgoing.allowed_networks: expected at most {_MOST_NETWORKS} networks")
        for network in self.allowed_networks:
            try:
                ip_network(network)
            except ValueError as error:
                raise ValueError(
                    f"outgoing.allowed_networks: expected networks, found {network!r}"
                ) from error
