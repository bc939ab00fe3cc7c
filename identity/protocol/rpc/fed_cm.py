"""FedCmService."""

from collections.abc import Mapping, Sequence

from gnomon.identity.v1 import fed_cm_service_pb2 as pb
from identity.access.rpc.admission import Asked, TenantAdmission
from identity.access.rpc.operations import Operations
from identity.foundation.errors import ProtocolError
from identity.foundation.tenants import Tenant, Tenants
from identity.protocol.fed_cm.accounts import Account, Accounts
from identity.protocol.fed_cm.addresses import addresses_of
from identity.protocol.fed_cm.assertions import AssertionRequest, Assertions
from identity.protocol.fed_cm.config import FedCmConfig
from identity.protocol.fed_cm.disclosure import FIELDS, Disclosure
from identity.protocol.fed_cm.disconnection import Disconnection
from identity.protocol.fed_cm.people import FedCmBrowser
from identity.protocol.fed_cm.relying_parties import RelyingParties
from server.platform.call import Call
from server.platform.errors import NotFound

_OF_USER = {"id": "user.id", "email": "user.email", "given_name": "user.given_name"}


class FedCmAdmission(TenantAdmission):
    """Raises NotFound where FedCM is disabled."""

    def __init__(self, tenants: Tenants, config: FedCmConfig) -> None:
        super().__init__(tenants)
        self._config = config

    async def anybody(self, request: Asked, call: Call) -> Mapping[str, object]:
        if not self._config.enabled:
            raise NotFound("FedCM is disabled")
        return await super().anybody(request, call)


class FedCmServicer(Operations):
    def __init__(
        self,
        admission: FedCmAdmission,
        relying_parties: RelyingParties,
        *,
        accounts: Accounts,
        assertions: Assertions,
        disconnection: Disconnection,
    ) -> None:
        self._accounts = accounts
        self._assertions = assertions
        super().__init__(
            admission,
            {
                pb.GetFedCmConfigurationRequest: addresses_of,
                pb.ListFedCmAccountsRequest: self._accounts_of,
                pb.GetFedCmClientRequest: relying_parties.find,
                pb.IssueFedCmAssertionRequest: self._issue,
                pb.DisconnectFedCmClientRequest: disconnection.disconnect,
            },
            names=_OF_USER,
        )

    async def _accounts_of(self, tenant: Tenant, browser: FedCmBrowser) -> Sequence[Account]:
        return (await self._accounts.at(tenant, browser),)

    async def _issue(
        self, tenant: Tenant, request: pb.IssueFedCmAssertionRequest
    ) -> pb.IssueFedCmAssertionResponse:
        browser = FedCmBrowser(way=request.way, peer_address=request.peer_address)
        try:
            token = await self._assertions.issue(tenant, browser, _wish(request))
        except ProtocolError as refusal:
            return pb.IssueFedCmAssertionResponse(error=refusal.error)
        return pb.IssueFedCmAssertionResponse(token=token)


def _wish(request: pb.IssueFedCmAssertionRequest) -> AssertionRequest:
    fields = tuple(request.fields) or FIELDS
    told = tuple(request.disclosed_fields) or fields
    return AssertionRequest(
        client_id=request.client_id,
        origin=request.origin,
        account_id=request.account_id,
        nonce=request.nonce,
        disclosure=Disclosure(
            fields=fields,
            told=told if request.disclosure_text_shown else (),
            is_silent=request.is_auto_selected,
        ),
    )
