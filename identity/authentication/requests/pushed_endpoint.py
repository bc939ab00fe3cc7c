"""The pushed authorization request endpoint: RFC 9126 §2, for request objects §3."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.pushed import PushedRequests
from identity.authentication.requests.request_reader import RequestReader
from identity.authentication.requests.sources import ParameterSource, resolved
from identity.directory.client import Client
from identity.foundation.errors import InvalidRequest
from identity.foundation.tenants import Tenant


@dataclass(frozen=True, slots=True)
class Pushed:
    request_uri: str
    lifetime: timedelta


class PushedRequestHandler:
    def __init__(
        self, reader: RequestReader, pushed: PushedRequests, *, sources: Sequence[ParameterSource]
    ) -> None:
        self._reader = reader
        self._pushed = pushed
        self._sources = sources

    async def push(
        self, tenant: Tenant, client: Client, parameters: Parameters, *, thumbprint: str = ""
    ) -> Pushed:
        """Store the request of an authenticated client, with the key of its DPoP proof; raises a ProtocolError."""
        if parameters.all("request_uri"):
            raise InvalidRequest("a pushed request has no request_uri")
        if parameters.all("client_id") and parameters.one("client_id") != client.client_id:
            raise InvalidRequest("client_id is not the client that authenticated")
        asked = await resolved(self._sources, tenant, client, parameters=parameters)
        bound = _bound(asked, thumbprint)
        await self._reader.examine(tenant, client, bound)
        return Pushed(await self._pushed.keep(tenant, client, bound), self._pushed.lifetime)


def _bound(parameters: Parameters, thumbprint: str) -> Parameters:
    # RFC 9449 §10.1.
    if not thumbprint:
        return parameters
    if parameters.all("dpop_jkt") and parameters.one("dpop_jkt") != thumbprint:
        raise InvalidRequest("dpop_jkt is not the key of the DPoP proof")
    return parameters.with_one("dpop_jkt", thumbprint)
