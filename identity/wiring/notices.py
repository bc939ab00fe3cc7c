"""Composes notices to users about changes of their accounts."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import sign_in_revocation_service_pb2
from identity.access.login_protection.addresses import Addresses
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

    def __init__(self, ground: Dependencies, presence: UserState) -> None:
        self.revocations = Revocations(
            users=presence.users,
            links=ground.links,
            signing_out=presence.signing_out,
            events=ground.events,
            clock=ground.clock,
        )
        self.places = PlaceWatch(
            records=ground.store.of(SIGN_IN_PLACES),
            addresses=Addresses(ground.config.events.login_protection),
            events=ground.events,
        )
        notices = Notices(
            tenants=ground.tenants, users=presence.users, revocations=self.revocations, mail=ground.mail
        )
        ground.events.listen(self.places)
        ground.events.listen(notices)
        self.servicers = {_REVOCATION: SignInRevocationServicer(ground.tenants, self.revocations)}
