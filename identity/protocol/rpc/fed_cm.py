"""FedCmService."""

from typing import Protocol

from gnomon.identity.v1 import fed_cm_service_pb2 as pb
from identity.access.rpc.records import message_of
from identity.foundation.errors import ProtocolError
from identity.foundation.tenants import Tenant, Tenants
from identity.protocol.fed_cm.accounts import Accounts
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


class _Asked(Protocol):
    way: str
    peer_address: str


class FedCmServicer:
    def __init__(
        self,
        tenants: Tenants,
        relying_parties: RelyingParties,
        *,
        accounts: Accounts,
        assertions: Assertions,
        disconnection: Disconnection,
        config: FedCmConfig,
    ) -> None:
        self._tenants = tenants
        self._relying_parties = relying_parties
        self._accounts = accounts
        self._assertions = assertions
        self._disconnection = disconnection
        self._config = config

    async def get_fed_cm_configuration(
        self, request: pb.GetFedCmConfigurationRequest, _call: Call
    ) -> pb.GetFedCmConfigurationResponse:
        addresses = addresses_of(self._tenant(request.tenant_id))
        return message_of(pb.GetFedCmConfigurationResponse, addresses)

    async def list_fed_cm_accounts(
        self, request: pb.ListFedCmAccountsRequest, _call: Call
    ) -> pb.ListFedCmAccountsResponse:
        account = await self._accounts.at(self._tenant(request.tenant_id), _browser(request))
        return pb.ListFedCmAccountsResponse(accounts=[message_of(pb.FedCmAccount, account, _OF_USER)])

    async def get_fed_cm_client(
        self, request: pb.GetFedCmClientRequest, _call: Call
    ) -> pb.GetFedCmClientResponse:
        tenant = self._tenant(request.tenant_id)
        client = await self._relying_parties.find(tenant, request.client_id, origin=request.origin)
        return pb.GetFedCmClientResponse(policy_uri=client.policy_uri, tos_uri=client.tos_uri)

    async def issue_fed_cm_assertion(
        self, request: pb.IssueFedCmAssertionRequest, _call: Call
    ) -> pb.IssueFedCmAssertionResponse:
        tenant = self._tenant(request.tenant_id)
        try:
            token = await self._assertions.issue(tenant, _browser(request), _wish(request))
        except ProtocolError as refusal:
            return pb.IssueFedCmAssertionResponse(error=refusal.error)
        return pb.IssueFedCmAssertionResponse(token=token)

    async def disconnect_fed_cm_client(
        self, request: pb.DisconnectFedCmClientRequest, _call: Call
    ) -> pb.DisconnectFedCmClientResponse:
        user_id = await self._disconnection.disconnect(
            self._tenant(request.tenant_id),
            _browser(request),
            client_id=request.client_id,
            origin=request.origin,
            account_hint=request.account_hint,
        )
        return pb.DisconnectFedCmClientResponse(account_id=user_id)

    def _tenant(self, tenant_id: str) -> Tenant:
        if not self._config.enabled:
            raise NotFound("FedCM is disabled")
        return self._tenants.find(tenant_id)


def _browser(request: _Asked) -> FedCmBrowser:
    return FedCmBrowser(way=request.way, peer_address=request.peer_address)


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
