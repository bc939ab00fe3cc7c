"""Composes notices to users about changes of their accounts."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import sign_in_revocation_service_pb2
from identity.access.login_protection.addresses import Addresses
from identity.access.rpc.admission import TenantAdmission
from identity.people.notices.notices import Notices
from identity.people.notices.places import SIGN_IN_PLACES, PlaceWatch
from identity.people.notices.revocations import Revocations
from identity.people.rpc.sign_in_revocation import SignInRevocationServicer
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies

_REVOCATION = sign_in_revocation_service_pb2.DESCRIPTOR.services_by_name["SignInRevocationService"]


class NoticeWiring:
    """`places` are the network addresses from which users signed in."""

    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, dependencies: Dependencies, user_state: UserState) -> None:
        self.revocations = Revocations(
            users=user_state.users,
            links=dependencies.links,
            sign_out=user_state.sign_out,
            events=dependencies.events,
            clock=dependencies.clock,
        )
        self.places = PlaceWatch(
            records=dependencies.store.of(SIGN_IN_PLACES),
            addresses=Addresses(dependencies.config.events.login_protection),
            events=dependencies.events,
        )
        notices = Notices(
            tenants=dependencies.tenants,
            users=user_state.users,
            revocations=self.revocations,
            mail=dependencies.mail,
        )
        dependencies.events.listen(self.places)
        dependencies.events.listen(notices)
        admission = TenantAdmission(dependencies.tenants)
        self.servicers = {_REVOCATION: SignInRevocationServicer(admission, self.revocations)}
