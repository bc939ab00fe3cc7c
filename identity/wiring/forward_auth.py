"""Composes forward authentication by cookies for services behind a proxy."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import forward_auth_service_pb2
from identity.access.rpc.admission import TenantAdmission
from identity.foundation.vocabulary import GrantType
from identity.protocol.forward_auth.admission import ForwardAdmission
from identity.protocol.forward_auth.redemption import Redemption
from identity.protocol.forward_auth.sign_in import ForwardSignIn
from identity.protocol.rpc.forward_auth import ForwardAuthServicer
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies
from identity.wiring.tokens import TokenWiring

_FORWARD_AUTH = forward_auth_service_pb2.DESCRIPTOR.services_by_name["ForwardAuthService"]


class ForwardAuthWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, dependencies: Dependencies, user_state: UserState, tokens: TokenWiring) -> None:
        redemption = Redemption(
            dependencies.store,
            dependencies.secrets,
            grant=tokens.grants[GrantType.AUTHORIZATION_CODE],
            people=tokens.people,
            continuation=tokens.continuation,
            randomness=dependencies.randomness,
        )
        admission = ForwardAdmission(
            dependencies.store,
            dependencies.secrets,
            subjects=dependencies.subjects,
            sessions=user_state.sessions,
            token_sets=user_state.token_sets,
            users=user_state.users,
            clock=dependencies.clock,
        )
        sign_in = ForwardSignIn(
            dependencies.store,
            dependencies.secrets,
            redemption=redemption,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        self.servicers = {
            _FORWARD_AUTH: ForwardAuthServicer(
                TenantAdmission(dependencies.tenants),
                dependencies.clients,
                forward_admission=admission,
                sign_in=sign_in,
                clock=dependencies.clock,
            )
        }
