"""Where the parameters of an authorization request come from, one row each.

A source gives what the request stands for: a pushed request its own parameters, later a signed one those that it holds.
"""

from typing import Protocol

from identity.authorization.parameters import Parameters
from identity.clients.client import Client
from identity.errors import RequestNotSupported
from identity.tenants import Tenant


class ParameterSource(Protocol):
    async def resolve(self, tenant: Tenant, client: Client, parameters: Parameters) -> Parameters:
        """Return the parameters that count; raises a ProtocolError."""
        ...


class NoRequestObjects:
    """Refuses signed requests, which must not be ignored: OpenID Connect Core 1.0 §6.1."""

    async def resolve(self, _tenant: Tenant, _client: Client, parameters: Parameters) -> Parameters:
        if parameters.all("request"):
            raise RequestNotSupported("request objects are not supported")
        return parameters
