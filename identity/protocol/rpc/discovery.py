"""DiscoveryService."""

from collections.abc import Collection, Sequence

from gnomon.identity.v1 import discovery_service_pb2 as pb
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.operations import Operations
from identity.directory.labels import MOST_SCOPES, AuthorizationDetailsType, ScopeDefinition
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import AuthenticationMethod, GrantType
from identity.protocol.discovery import ProviderMetadata, metadata_of
from server.platform.records import Records


class DiscoveryServicer(Operations):
    def __init__(
        self,
        admission: TenantAdmission,
        definitions: Records[ScopeDefinition],
        details_types: Records[AuthorizationDetailsType],
        grant_types: Collection[GrantType],
        *,
        certificate_methods: Sequence[AuthenticationMethod],
        registers_clients: bool,
        reads_clients: bool,
        registers_people: bool,
        has_session_frame: bool,
    ) -> None:
        self._definitions = definitions
        self._details_types = details_types
        self._grant_types = grant_types
        self._certificate_methods = certificate_methods
        self._registers_clients = registers_clients
        self._reads_clients = reads_clients
        self._registers_people = registers_people
        self._has_session_frame = has_session_frame
        super().__init__(admission, {pb.GetMetadataRequest: self._metadata})

    async def _metadata(self, tenant: Tenant) -> ProviderMetadata:
        definitions = await self._definitions.page(tenant.tenant_id, most=MOST_SCOPES)
        types = await self._details_types.page(tenant.tenant_id, most=MOST_SCOPES)
        return metadata_of(
            tenant,
            self._grant_types,
            certificate_methods=self._certificate_methods,
            own_scopes=sorted(each.name for each in definitions),
            details_types=sorted(each.name for each in types),
            registers_clients=self._registers_clients,
            reads_clients=self._reads_clients,
            registers_people=self._registers_people,
            has_session_frame=self._has_session_frame,
        )
