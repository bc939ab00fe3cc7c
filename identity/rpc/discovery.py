"""DiscoveryService."""

from collections.abc import Collection
from dataclasses import asdict

from gnomon.identity.v1 import discovery_service_pb2 as pb
from identity.discovery import metadata_of
from identity.tenants import Tenants
from identity.vocabulary import GrantType
from server.platform.call import Call


class DiscoveryServicer:
    def __init__(self, tenants: Tenants, grant_types: Collection[GrantType]) -> None:
        self._tenants = tenants
        self._grant_types = grant_types

    async def get_metadata(self, request: pb.GetMetadataRequest, _call: Call) -> pb.GetMetadataResponse:
        metadata = metadata_of(self._tenants.find(request.tenant_id), self._grant_types)
        return pb.GetMetadataResponse(metadata=pb.ProviderMetadata(**asdict(metadata)))
