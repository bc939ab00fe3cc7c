"""Composes issuance, introspection and revocation of tokens, and the permissions of principals."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import (
    directory_service_pb2,
    discovery_service_pb2,
    key_set_service_pb2,
    token_service_pb2,
    user_info_service_pb2,
)
from identity.access.callers import Callers
from identity.access.client_authentication.assertions import ClientAssertions
from identity.access.client_authentication.authenticator import ClientAuthenticator
from identity.access.client_authentication.client_keys import ClientKeys
from identity.access.dpop.nonces import DpopNonces
from identity.access.dpop.proofs import DpopProofs
from identity.access.rpc.admission import Admission
from identity.access.sessions.signed_in import SignedInPrincipals
from identity.access.tokens.access_token import AccessTokens
from identity.access.tokens.custom_claims import CustomClaims
from identity.access.tokens.families import Families
from identity.access.tokens.id_token import IdTokens
from identity.access.tokens.refresh_token import RefreshTokens
from identity.clients.dynamic.first_use import FirstUse
from identity.directory.labels import SCOPE_DEFINITIONS
from identity.directory.principals import Principals
from identity.directory.user import USERS
from identity.foundation.single_use import SingleUse
from identity.foundation.vocabulary import GrantType
from identity.protocol.grants.continuation import Continuation, Order
from identity.protocol.grants.grant import TokenRequest
from identity.protocol.grants.people import People
from identity.protocol.grants.pipeline import TokenPipeline
from identity.protocol.grants.reports import GrantReports
from identity.protocol.grants.table import grants
from identity.protocol.grants.token_signer import TokenSigner
from identity.protocol.rpc.directory import DirectoryServicer
from identity.protocol.rpc.discovery import DiscoveryServicer
from identity.protocol.rpc.key_set import KeySetServicer
from identity.protocol.rpc.token import TokenServicer
from identity.protocol.rpc.user_info import UserInfoServicer
from identity.protocol.tokens.introspection import Introspection
from identity.protocol.tokens.revocation import Revocation
from identity.protocol.userinfo.forward import ForwardAuthentication
from identity.protocol.userinfo.presented import PresentedTokens
from identity.protocol.userinfo.userinfo import UserInfo
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies

_TOKEN = token_service_pb2.DESCRIPTOR.services_by_name["TokenService"]
_USER_INFO = user_info_service_pb2.DESCRIPTOR.services_by_name["UserInfoService"]
_KEY_SET = key_set_service_pb2.DESCRIPTOR.services_by_name["KeySetService"]
_DISCOVERY = discovery_service_pb2.DESCRIPTOR.services_by_name["DiscoveryService"]
_DIRECTORY = directory_service_pb2.DESCRIPTOR.services_by_name["DirectoryService"]


class TokenWiring:
    """`servicers` serve the token endpoint and related endpoints; the other members are shared dependencies."""

    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, ground: Dependencies, presence: UserState, callers: Callers) -> None:
        self._ground = ground
        self._presence = presence
        self._callers = callers
        self._reports = GrantReports(ground.events, ground.config.events)
        self._first_use = FirstUse(ground.store)
        single_use = SingleUse(ground.store)
        assertions = ClientAssertions(ClientKeys(ground.published_keys), single_use, ground.clock)
        self.authenticator = ClientAuthenticator(
            ground.clients, ground.secrets, assertions=assertions, clock=ground.clock
        )
        self.nonces = DpopNonces(ground.secrets, ground.clock, ground.config.dpop)
        self.proofs = DpopProofs(single_use, self.nonces, ground.clock)
        self._families = Families(
            self._presence.token_sets,
            RefreshTokens(ground.secrets, ground.randomness),
            token=ground.config.token,
            device_grant=ground.config.device_grant,
            report_reuse=self._reports.refresh_token_reuse,
            clock=ground.clock,
        )
        self._custom = CustomClaims(ground.store)
        self.people = People(ground.store, ground.clock)
        self.grants = grants(
            ground.store,
            ground.secrets,
            sets=presence.token_sets,
            families=self._families,
            standings=ground.standings,
            clock=ground.clock,
            randomness=ground.randomness,
            report_replay=self._reports.code_replay,
        )
        self.continuation = Continuation(
            presence.token_sets, self._families, clock=ground.clock, randomness=ground.randomness
        )
        self.servicers = {**self._token_servicers(), **self._directory_servicers()}

    def _token_servicers(self) -> Mapping[ServiceDescriptor, object]:
        ground = self._ground
        active = self._presence.active_tokens
        introspection = Introspection(
            self.authenticator,
            active,
            families=self._families,
            custom=self._custom,
            records=ground.store,
            clock=ground.clock,
        )
        revocation = Revocation(
            self.authenticator,
            self._families,
            keys=ground.keys,
            revoked=self._presence.revoked_tokens,
            clock=ground.clock,
        )
        presented = PresentedTokens(active, self.proofs)
        return {
            _TOKEN: TokenServicer(
                ground.tenants, self._pipeline(), introspection=introspection, revocation=revocation
            ),
            _USER_INFO: UserInfoServicer(
                ground.tenants,
                UserInfo(presented, ground.keys, custom=self._custom),
                forward=ForwardAuthentication(presented),
                nonces=self.nonces,
            ),
        }

    def _pipeline(self) -> TokenPipeline:
        ground = self._ground
        access_tokens = AccessTokens(ground.tenants, ground.clock, ground.randomness)
        return TokenPipeline(
            self.authenticator,
            self.grants,
            people=self.people,
            proofs=self.proofs,
            continuation=self.continuation,
            signing=TokenSigner(ground.keys, access_tokens, IdTokens(ground.clock), custom=self._custom),
            report=self._issued,
        )

    async def _issued(self, request: TokenRequest, order: Order) -> None:
        await self._first_use.note(order.client)
        await self._reports.token_issued(request, order)

    def _directory_servicers(self) -> Mapping[ServiceDescriptor, object]:
        ground = self._ground
        principals = Principals(
            ground.store.of(USERS),
            ground.clients,
            standings=ground.standings,
            tenants=ground.tenants,
            clock=ground.clock,
        )
        return {
            _KEY_SET: KeySetServicer(
                ground.tenants,
                ground.keys,
                publication=ground.key_publication,
                admission=Admission(ground.tenants, self._callers),
            ),
            _DISCOVERY: DiscoveryServicer(
                ground.tenants,
                ground.store.of(SCOPE_DEFINITIONS),
                tuple(GrantType),
                has_registration=ground.config.dynamic_clients.enabled,
            ),
            _DIRECTORY: DirectoryServicer(
                ground.tenants,
                principals,
                signed_in=SignedInPrincipals(ground.tenants, self._presence.sessions, principals),
                version=ground.directory_version,
            ),
        }
