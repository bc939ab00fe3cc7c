"""Composes self-registration of users."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import registration_service_pb2
from identity.access.login_protection.addresses import Addresses
from identity.access.login_protection.delays import Delays
from identity.access.proof_of_work.proof_of_work import ProofOfWork
from identity.directory.labels import Group
from identity.directory.tenants.password_policies import PasswordPolicies
from identity.directory.tenants.settings_of_tenants import SettingsOfTenants
from identity.directory.tenants.sign_in_targets import SignInTargets
from identity.directory.tenants.tenant_record import TENANTS
from identity.people.account.password_choice import PasswordChoice
from identity.people.labels import Labels
from identity.people.registration.confirmation import PasswordLinks, RegistrationConfirmation
from identity.people.registration.confirmation_requests import ConfirmationRequests
from identity.people.registration.equal_duration import EqualDuration
from identity.people.registration.form_checks import RegistrationAdmission
from identity.people.registration.limits import REGISTRATION_ATTEMPTS, RegistrationLimits
from identity.people.registration.links import ConfirmationLinks
from identity.people.registration.return_address import ReturnAddresses
from identity.people.registration.self_registration import SelfRegistration
from identity.people.rpc.registration import RegistrationServicer
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies

_REGISTRATION = registration_service_pb2.DESCRIPTOR.services_by_name["RegistrationService"]


class RegistrationWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(
        self,
        ground: Dependencies,
        presence: UserState,
        proof_of_work: ProofOfWork,
        *,
        targets: SignInTargets,
        groups: Labels[Group],
        password_links: PasswordLinks,
    ) -> None:
        self._ground = ground
        self._password_links = password_links
        self._presence = presence
        protection = ground.config.events.login_protection
        self._door = RegistrationAdmission(
            proof_of_work=proof_of_work,
            limits=RegistrationLimits(
                ground.store.of(REGISTRATION_ATTEMPTS),
                Addresses(protection),
                most=ground.config.users.registration_limit,
                clock=ground.clock,
            ),
        )
        self._evenly = EqualDuration(Delays(protection.max_delayed))
        self._settings = SettingsOfTenants(ground.store.of(TENANTS))
        self._returning = ReturnAddresses(ground.clients)
        self._policies = PasswordPolicies(ground.store.of(TENANTS), ground.events)
        self._links = ConfirmationLinks(
            links=ground.links,
            postbox=ground.mail,
            events=ground.events,
            clock=ground.clock,
            randomness=ground.randomness,
        )
        self.servicers = {_REGISTRATION: self._registration(targets, groups)}

    def _registration(self, targets: SignInTargets, groups: Labels[Group]) -> RegistrationServicer:
        ground, users = self._ground, self._presence.users
        return RegistrationServicer(
            ground.tenants,
            self._registering(targets, groups),
            confirming=RegistrationConfirmation(
                users=users,
                links=self._links,
                password_links=self._password_links,
                returning=self._returning,
                events=ground.events,
                clock=ground.clock,
            ),
            requests=ConfirmationRequests(
                users=users,
                door=self._door,
                settings=self._settings,
                links=self._links,
                evenly=self._evenly,
                clock=ground.clock,
            ),
            policies=self._policies,
            config=ground.config.users,
        )

    def _registering(self, targets: SignInTargets, groups: Labels[Group]) -> SelfRegistration:
        ground = self._ground
        return SelfRegistration(
            users=self._presence.users,
            door=self._door,
            targets=targets,
            settings=self._settings,
            choosing=PasswordChoice(self._policies, ground.passwords, ground.clock),
            groups=groups,
            links=self._links,
            postbox=ground.mail,
            returning=self._returning,
            evenly=self._evenly,
            events=ground.events,
            clock=ground.clock,
            randomness=ground.randomness,
            config=ground.config.users,
        )
