"""Composes notices to users about changes of their accounts."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import sign_in_revocation_service_pb2
from identity.access.login_protection.addresses import Addresses
from identity.access.rpc.admission import TenantAdmission
from identity.access.sessions.device_cookies import DeviceCookies
from identity.directory.secrets import SecretHasher
from identity.directory.tenants.settings_of_tenants import SettingsOfTenants
from identity.directory.tenants.tenant_record import TENANTS
from identity.people.notices.notices import Notices
from identity.people.notices.places import SIGN_IN_PLACES, KnownBrowsers, KnownPlaces, PlaceWatch
from identity.people.notices.revocations import Revocations
from identity.people.notices.sign_ins import SignInNotices
from identity.people.rpc.sign_in_revocation import SignInRevocationServicer
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies

_REVOCATION = sign_in_revocation_service_pb2.DESCRIPTOR.services_by_name["SignInRevocationService"]


class NoticeWiring:
    """`places` are the browsers and network addresses of sign-ins; `watch` compares each sign-in with them.

    `browsers` recognizes those of a user before a sign-in.
    """

    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, dependencies: Dependencies, user_state: UserState) -> None:
        self.places = KnownPlaces(dependencies.store.of(SIGN_IN_PLACES))
        self.revocations = Revocations(
            users=user_state.users,
            links=dependencies.links,
            sign_out=user_state.sign_out,
            places=self.places,
            support=user_state.support,
            events=dependencies.events,
            clock=dependencies.clock,
        )
        cookies = DeviceCookies(
            hasher=SecretHasher(dependencies.root.derived("devices")),
            randomness=dependencies.randomness,
        )
        self.browsers = KnownBrowsers(user_state.users, self.places, cookies)
        self.watch = PlaceWatch(
            places=self.places,
            addresses=Addresses(dependencies.config.events.login_protection),
            networks=dependencies.networks,
            cookies=cookies,
            notices=SignInNotices(
                settings=SettingsOfTenants(dependencies.store.of(TENANTS)),
                revocations=self.revocations,
                mail=dependencies.mail,
            ),
            events=dependencies.events,
            clock=dependencies.clock,
        )
        notices = Notices(
            tenants=dependencies.tenants,
            users=user_state.users,
            revocations=self.revocations,
            mail=dependencies.mail,
        )
        dependencies.events.listen(notices)
        admission = TenantAdmission(dependencies.tenants)
        self.servicers = {_REVOCATION: SignInRevocationServicer(admission, self.revocations)}
