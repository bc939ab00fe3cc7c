"""Composes backchannel authentication."""

from collections.abc import Coroutine, Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import backchannel_authentication_service_pb2
from identity.access.client_authentication.client_keys import ClientKeys
from identity.access.login_protection.delays import Delays
from identity.access.login_protection.equal_duration import EqualDuration
from identity.access.rpc.admission import TenantAdmission
from identity.delivery.http.sender import Sender
from identity.delivery.retry_queue import RetryQueue
from identity.directory.tenants.confirmation import ConfirmationBySettings
from identity.directory.tenants.tenant_record import TENANTS
from identity.foundation.single_use import SingleUse
from identity.protocol.backchannel.authentication import BackchannelAuthentications
from identity.protocol.backchannel.decisions import BackchannelDecisions
from identity.protocol.backchannel.hints import UserHints
from identity.protocol.backchannel.limits import RequestLimits
from identity.protocol.backchannel.notifications import (
    BACKCHANNEL_NOTIFICATIONS,
    BackchannelNotifier,
    NotificationPolicy,
    NotificationQueue,
    NotificationSafe,
)
from identity.protocol.backchannel.signed_requests import SignedRequests
from identity.protocol.rpc.backchannel_authentication import BackchannelAuthenticationServicer
from identity.wiring.access import UserState
from identity.wiring.browsers import BrowserWiring
from identity.wiring.dependencies import Dependencies
from identity.wiring.tokens import TokenWiring

_SERVICE = backchannel_authentication_service_pb2.DESCRIPTOR.services_by_name[
    "BackchannelAuthenticationService"
]

# Of its own, so that clients that ask for many users delay no sign-in.
_MOST_HELD = 1000


class BackchannelWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(
        self,
        dependencies: Dependencies,
        user_state: UserState,
        tokens: TokenWiring,
        browsers: BrowserWiring,
    ) -> None:
        self._dependencies = dependencies
        self._safe = NotificationSafe(dependencies.master_keys)
        config = dependencies.config.backchannel_authentication
        limits = RequestLimits(dependencies.store, config, dependencies.clock)
        authentications = BackchannelAuthentications(
            tokens.authenticator,
            dependencies.store,
            hints=UserHints(
                user_state.users,
                browsers.hints,
                confirmation=ConfirmationBySettings(dependencies.store.of(TENANTS)),
                secrets=dependencies.secrets,
                clock=dependencies.clock,
            ),
            limits=limits,
            signed_requests=SignedRequests(
                ClientKeys(dependencies.published_keys), SingleUse(dependencies.store), dependencies.clock
            ),
            notifications=self._safe,
            mail=dependencies.mail,
            equal_duration=EqualDuration(Delays(_MOST_HELD)),
            secrets=dependencies.secrets,
            config=config,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        decisions = BackchannelDecisions(
            user_state.sessions,
            user_state.users,
            clients=dependencies.clients,
            limits=limits,
            notifications=NotificationQueue(dependencies.store, dependencies.clock),
            events=dependencies.events,
            records=dependencies.store,
            clock=dependencies.clock,
        )
        self.servicers = {
            _SERVICE: BackchannelAuthenticationServicer(
                TenantAdmission(dependencies.tenants), authentications, decisions
            )
        }

    def loop(self, sender: Sender) -> Coroutine[None, None, None]:
        """Notify clients while the provider runs."""
        dependencies = self._dependencies
        notifier = BackchannelNotifier(dependencies.clients, self._safe, sender, dependencies.clock)
        queue = RetryQueue(
            "backchannel notification",
            dependencies.store.of(BACKCHANNEL_NOTIFICATIONS),
            notifier,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
            policy=NotificationPolicy(),
        )
        return queue.run(dependencies.tenants.all, dependencies.pause)
