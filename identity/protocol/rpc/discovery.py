"""DiscoveryService."""

from collections.abc import Collection, Sequence
from dataclasses import asdict

from gnomon.identity.v1 import discovery_service_pb2 as pb
from identity.directory.labels import MOST_LABELS, AuthorizationDetailsType, ScopeDefinition
from identity.foundation.tenants import Tenants
from identity.foundation.vocabulary import AuthenticationMethod, GrantType
from identity.protocol.discovery import metadata_of
from server.platform.call import Call
from server.platform.records import Records


class DiscoveryServicer:
    def __init__(
        self,
        tenants: Tenants,
        definitions: Records[ScopeDefinition],
        details_types: Records[AuthorizationDetailsType],
        grant_types: Collection[GrantType],
        *,
        certificate_methods: Sequence[AuthenticationMethod],
        registers_clients: bool,
        registers_people: bool,
    ) -> None:
        self._tenants = tenants
        self._definitions = definitions
        self._details_types = details_types
        self._grant_types = grant_types
        self._certificate_methods = certificate_methods
        self._registers_clients = registers_clients
        self._registers_people = registers_people

    async def get_metadata(self, request: pb.GetMetadataRequest, _call: Call) -> pb.GetMetadataResponse:
        tenant = self._tenants.find(request.tenant_id)
        definitions = await self._definitions.page(tenant.tenant_id, most=MOST_LABELS)
        own_scopes = sorted(definition.name for definition in definitions)
        types = await self._details_types.page(tenant.tenant_id, most=MOST_LABELS)
        metadata = metadata_of(
            tenant,
            self._grant_types,
            certificate_methods=self._certificate_methods,
            own_scopes=own_scopes,
            details_types=sorted(each.name for each in types),
            registers_clients=self._registers_clients,
            registers_people=self._registers_people,
        )
        return pb.GetMetadataResponse(metadata=pb.ProviderMetadata(**asdict(metadata)))
