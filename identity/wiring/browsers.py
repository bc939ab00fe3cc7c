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
from identity.access.rpc.proof_of_work import ProofOfWorkServicer
from identity.access.sessions.hints import IdTokenHints
from identity.access.sessions.logout_records import LOGOUT_REQUESTS
from identity.access.tokens.verification import verified
from identity.authentication.rpc.session import SessionServicer
from identity.foundation.single_use import SingleUse
from identity.protocol.devices.authorization import DeviceAuthorizations
from identity.protocol.devices.limits import DeviceStarts, UserCodeGuesses
from identity.protocol.devices.verification import DeviceVerification
from identity.protocol.logout.endpoint import EndSession
from identity.protocol.logout.logout_request import LogoutRequestReader
from identity.protocol.rpc.device import DeviceServicer
from identity.protocol.rpc.logout import LogoutServicer
from identity.wiring.access import UserState
from identity.wiring.client_screens import screens_on
from identity.wiring.dependencies import Dependencies
from identity.wiring.federation import upstream_logout
from identity.wiring.tokens import TokenWiring

_SESSION = session_service_pb2.DESCRIPTOR.services_by_name["SessionService"]
_PROOF_OF_WORK = proof_of_work_service_pb2.DESCRIPTOR.services_by_name["ProofOfWorkService"]
_LOGOUT = logout_service_pb2.DESCRIPTOR.services_by_name["LogoutService"]
_DEVICE = device_service_pb2.DESCRIPTOR.services_by_name["DeviceService"]


class BrowserWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, ground: Dependencies, presence: UserState, issuing: TokenWiring) -> None:
        self._ground = ground
        self._presence = presence
        self._issuing = issuing
        self.proof_of_work = ProofOfWork(
            SingleUse(ground.store),
            ground.root.derived("proof of work"),
            clock=ground.clock,
            randomness=ground.randomness,
            config=ground.config.pow,
        )
        self.hints = IdTokenHints(partial(verified, keys=ground.keys))
        self.servicers = {
            _SESSION: SessionServicer(ground.tenants, presence.sessions, presence.users, ground.clock),
            _PROOF_OF_WORK: ProofOfWorkServicer(ground.tenants, self.proof_of_work),
            _LOGOUT: self._logout(),
            _DEVICE: self._devices(),
        }

    def _logout(self) -> LogoutServicer:
        ground = self._ground
        end_session = EndSession(
            self._presence.sessions,
            LogoutRequestReader(ground.clients, self.hints),
            self._presence.ending,
            questions=ground.store.of(LOGOUT_REQUESTS),
            events=ground.events,
            hasher=ground.secrets,
            clock=ground.clock,
            randomness=ground.randomness,
        )
        return LogoutServicer(
            ground.tenants,
            end_session,
            upstream_logout(ground, self._presence),
            screens=screens_on(ground),
        )

    def _devices(self) -> DeviceServicer:
        ground = self._ground
        authorizations = DeviceAuthorizations(
            self._issuing.authenticator,
            ground.store,
            starts=DeviceStarts(ground.store, ground.config.device_grant, ground.clock),
            secrets=ground.secrets,
            config=ground.config.device_grant,
            clock=ground.clock,
            randomness=ground.randomness,
        )
        verification = DeviceVerification(
            self._presence.sessions,
            self.proof_of_work,
            guesses=UserCodeGuesses(ground.store, ground.clock),
            clients=ground.clients,
            records=ground.store,
            secrets=ground.secrets,
            clock=ground.clock,
        )
        return DeviceServicer(ground.tenants, authorizations, verification)
