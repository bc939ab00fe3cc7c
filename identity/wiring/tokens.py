"""Composes issuance, introspection and revocation of tokens, and the permissions of principals."""

from collections.abc import Mapping, Sequence

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
from identity.access.client_authentication.certificates import ClientCertificates, read_authorities
from identity.access.client_authentication.client_keys import ClientKeys
from identity.access.dpop.nonces import DpopNonces
from identity.access.dpop.proofs import DpopProofs
from identity.access.rpc.admission import Admission, TenantAdmission
from identity.access.sessions.signed_in import SignedInPrincipals
from identity.access.tokens.access_token import AccessTokens
from identity.access.tokens.custom_claims import CustomClaims
from identity.access.tokens.encryptions import ResponseEncryptions
from identity.access.tokens.families import Families
from identity.access.tokens.id_token import IdTokens
from identity.access.tokens.refresh_token import RefreshTokens
from identity.clients.dynamic.first_use import FirstUse
from identity.directory.labels import AUTHORIZATION_DETAILS_TYPES, SCOPE_DEFINITIONS
from identity.directory.principals import Principals
from identity.directory.user import USERS
from identity.foundation.single_use import SingleUse
from identity.foundation.vocabulary import AuthenticationMethod, GrantType
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
from server.platform.mutual_tls import MutualTlsConfig

_TOKEN = token_service_pb2.DESCRIPTOR.services_by_name["TokenService"]
_USER_INFO = user_info_service_pb2.DESCRIPTOR.services_by_name["UserInfoService"]
_KEY_SET = key_set_service_pb2.DESCRIPTOR.services_by_name["KeySetService"]
_DISCOVERY = discovery_service_pb2.DESCRIPTOR.services_by_name["DiscoveryService"]
_DIRECTORY = directory_service_pb2.DESCRIPTOR.services_by_name["DirectoryService"]


class TokenWiring:
    """`servicers` serve the token endpoint and related endpoints; the other members are shared dependencies."""

    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, dependencies: Dependencies, user_state: UserState, callers: Callers) -> None:
        self._dependencies = dependencies
        self._user_state = user_state
        self._callers = callers
        self._reports = GrantReports(dependencies.events, dependencies.config.events)
        self._first_use = FirstUse(dependencies.store)
        single_use = SingleUse(dependencies.store)
        client_keys = ClientKeys(dependencies.published_keys)
        self.encryptions = ResponseEncryptions(client_keys)
        authorities = read_authorities(dependencies.config.mutual_tls.authorities)
        self.authenticator = ClientAuthenticator(
            dependencies.clients,
            dependencies.secrets,
            assertions=ClientAssertions(
                client_keys,
                single_use,
                dependencies.clock,
                config=dependencies.config.client_authentication,
            ),
            certificates=ClientCertificates(client_keys, dependencies.clock, authorities=authorities),
            clock=dependencies.clock,
        )
        self.nonces = DpopNonces(dependencies.secrets, dependencies.clock, dependencies.config.dpop)
        self.proofs = DpopProofs(single_use, self.nonces, dependencies.clock)
        self._families = Families(
            self._user_state.token_sets,
            RefreshTokens(dependencies.secrets, dependencies.randomness),
            token=dependencies.config.token,
            device_grant=dependencies.config.device_grant,
            report_reuse=self._reports.refresh_token_reuse,
            clock=dependencies.clock,
        )
        self._custom = CustomClaims(dependencies.store)
        self.people = People(dependencies.store, dependencies.clock, terms=user_state.terms)
        self.grants = grants(
            dependencies.store,
            dependencies.secrets,
            sets=user_state.token_sets,
            families=self._families,
            tokens=user_state.active_tokens,
            upstream_keys=dependencies.published_keys if dependencies.config.federation.enabled else None,
            standings=dependencies.standings,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
            report_replay=self._reports.code_replay,
            client_authentication=dependencies.config.client_authentication,
        )
        self.continuation = Continuation(
            user_state.token_sets,
            self._families,
            sessions=user_state.sessions,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        self.servicers = {**self._token_servicers(), **self._directory_servicers()}

    def _token_servicers(self) -> Mapping[ServiceDescriptor, object]:
        dependencies = self._dependencies
        active = self._user_state.active_tokens
        introspection = Introspection(
            self.authenticator,
            active,
            families=self._families,
            keys=dependencies.keys,
            custom=self._custom,
            subjects=dependencies.subjects,
            records=dependencies.store,
            clock=dependencies.clock,
        )
        revocation = Revocation(
            self.authenticator,
            self._families,
            keys=dependencies.keys,
            revoked=self._user_state.revoked_tokens,
            clock=dependencies.clock,
        )
        presented = PresentedTokens(active, self.proofs)
        return {
            _TOKEN: TokenServicer(
                dependencies.tenants,
                self._pipeline(),
                introspection=introspection,
                revocation=revocation,
            ),
            _USER_INFO: UserInfoServicer(
                dependencies.tenants,
                UserInfo(presented, dependencies.keys, encryptions=self.encryptions, custom=self._custom),
                forward=ForwardAuthentication(presented),
                nonces=self.nonces,
            ),
        }

    def _pipeline(self) -> TokenPipeline:
        dependencies = self._dependencies
        access_tokens = AccessTokens(
            dependencies.tenants,
            dependencies.clock,
            dependencies.randomness,
            signatures=dependencies.signatures,
        )
        return TokenPipeline(
            self.authenticator,
            self.grants,
            people=self.people,
            proofs=self.proofs,
            continuation=self.continuation,
            signing=TokenSigner(
                dependencies.keys,
                access_tokens,
                IdTokens(dependencies.clock, dependencies.signatures),
                encryptions=self.encryptions,
                custom=self._custom,
                subjects=dependencies.subjects,
            ),
            report=self._issued,
        )

    async def _issued(self, request: TokenRequest, order: Order) -> None:
        await self._first_use.note(order.client)
        await self._reports.token_issued(request, order)

    def _directory_servicers(self) -> Mapping[ServiceDescriptor, object]:
        dependencies = self._dependencies
        principals = Principals(
            dependencies.store.of(USERS),
            dependencies.clients,
            standings=dependencies.standings,
            tenants=dependencies.tenants,
            clock=dependencies.clock,
        )
        return {
            _KEY_SET: KeySetServicer(
                Admission(dependencies.tenants, self._callers),
                dependencies.keys,
                dependencies.key_publication,
            ),
            _DISCOVERY: DiscoveryServicer(
                TenantAdmission(dependencies.tenants),
                dependencies.store.of(SCOPE_DEFINITIONS),
                dependencies.store.of(AUTHORIZATION_DETAILS_TYPES),
                tuple(grant_type for grant_type in GrantType if grant_type in self.grants),
                certificate_methods=_certificate_methods(dependencies.config.mutual_tls),
                registers_clients=dependencies.config.dynamic_clients.enabled,
                reads_clients=dependencies.config.dynamic_clients.metadata_documents,
                registers_people=dependencies.config.users.registration_enabled,
                has_session_frame=dependencies.config.sessions.check_session_iframe,
            ),
            _DIRECTORY: DirectoryServicer(
                dependencies.tenants,
                principals,
                tokens=self._user_state.active_tokens,
                signed_in=SignedInPrincipals(dependencies.tenants, self._user_state.sessions, principals),
                proofs=self.proofs,
                version=dependencies.directory_version,
            ),
        }


def _certificate_methods(config: MutualTlsConfig) -> Sequence[AuthenticationMethod]:
    self_signed, issued = (
        AuthenticationMethod.SELF_SIGNED_TLS_CLIENT_AUTH,
        AuthenticationMethod.TLS_CLIENT_AUTH,
    )
    if not config.is_set:
        return ()
    return (issued, self_signed) if config.authorities else (self_signed,)
