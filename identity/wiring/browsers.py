"""Composes sessions, proof of work, logout and device verification."""

from collections.abc import Mapping
from functools import partial

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import (
    device_service_pb2,
    logout_service_pb2,
    proof_of_work_service_pb2,
    session_service_pb2,
)
from identity.access.proof_of_work.proof_of_work import ProofOfWork
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.proof_of_work import ProofOfWorkServicer
from identity.access.sessions.hints import IdTokenHints
from identity.access.sessions.logout_records import LOGOUT_REQUESTS
from identity.access.tokens.verification import verified
from identity.authentication.rpc.session import SessionServicer
from identity.authentication.saml.logout_requests import UpstreamSamlLogout
from identity.authentication.saml.service_provider import ServiceProvider
from identity.directory.providers import Providers
from identity.foundation.single_use import SingleUse
from identity.protocol.devices.authorization import DeviceAuthorizations
from identity.protocol.devices.limits import DeviceStarts, UserCodeGuesses
from identity.protocol.devices.verification import DeviceVerification
from identity.protocol.logout.endpoint import EndSession
from identity.protocol.logout.front_channel import FrontChannel
from identity.protocol.logout.logout_request import LogoutRequestReader
from identity.protocol.rpc.device import DeviceServicer
from identity.protocol.rpc.logout import LogoutServicer
from identity.wiring.access import UserState
from identity.wiring.clients.client_screens import screens_on
from identity.wiring.clients.saml_applications import saml_application_logout
from identity.wiring.dependencies import Dependencies
from identity.wiring.federation import upstream_logout
from identity.wiring.tokens import TokenWiring

_SESSION = session_service_pb2.DESCRIPTOR.services_by_name["SessionService"]
_PROOF_OF_WORK = proof_of_work_service_pb2.DESCRIPTOR.services_by_name["ProofOfWorkService"]
_LOGOUT = logout_service_pb2.DESCRIPTOR.services_by_name["LogoutService"]
_DEVICE = device_service_pb2.DESCRIPTOR.services_by_name["DeviceService"]


class BrowserWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, dependencies: Dependencies, user_state: UserState, tokens: TokenWiring) -> None:
        self._dependencies = dependencies
        self._user_state = user_state
        self._tokens = tokens
        self.proof_of_work = ProofOfWork(
            SingleUse(dependencies.store),
            dependencies.root.derived("proof of work"),
            clock=dependencies.clock,
            randomness=dependencies.randomness,
            config=dependencies.config.pow,
        )
        self.hints = IdTokenHints(
            partial(verified, keys=dependencies.keys), dependencies.clients, dependencies.subjects
        )
        self.servicers = {
            _SESSION: SessionServicer(
                TenantAdmission(dependencies.tenants),
                user_state.sessions,
                user_state.users,
                dependencies.clock,
            ),
            _PROOF_OF_WORK: ProofOfWorkServicer(TenantAdmission(dependencies.tenants), self.proof_of_work),
            _LOGOUT: self._logout(),
            _DEVICE: self._devices(),
        }

    def _logout(self) -> LogoutServicer:
        dependencies = self._dependencies
        saml = saml_application_logout(dependencies, self._user_state)
        end_session = EndSession(
            self._user_state.sessions,
            LogoutRequestReader(dependencies.clients, self.hints),
            self._user_state.termination,
            front_channel=FrontChannel(
                dependencies.clients,
                dependencies.subjects,
                saml,
                upstream=UpstreamSamlLogout(
                    Providers(dependencies.store),
                    ServiceProvider(dependencies.saml_keys),
                    dependencies.clock,
                    dependencies.randomness,
                ),
            ),
            saml=saml,
            questions=dependencies.store.of(LOGOUT_REQUESTS),
            events=dependencies.events,
            hasher=dependencies.secrets,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        return LogoutServicer(
            TenantAdmission(dependencies.tenants),
            end_session,
            upstream_logout(dependencies, self._user_state),
            screens=screens_on(dependencies),
        )

    def _devices(self) -> DeviceServicer:
        dependencies = self._dependencies
        authorizations = DeviceAuthorizations(
            self._tokens.authenticator,
            dependencies.store,
            starts=DeviceStarts(dependencies.store, dependencies.config.device_grant, dependencies.clock),
            secrets=dependencies.secrets,
            config=dependencies.config.device_grant,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        verification = DeviceVerification(
            self._user_state.sessions,
            self.proof_of_work,
            guesses=UserCodeGuesses(dependencies.store, dependencies.clock),
            clients=dependencies.clients,
            records=dependencies.store,
            secrets=dependencies.secrets,
            clock=dependencies.clock,
        )
        return DeviceServicer(TenantAdmission(dependencies.tenants), authorizations, verification)
