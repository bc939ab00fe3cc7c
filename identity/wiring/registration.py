"""Composes self-registration of users."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import registration_service_pb2
from identity.access.login_protection.addresses import Addresses
from identity.access.login_protection.delays import Delays
from identity.access.login_protection.equal_duration import EqualDuration
from identity.access.proof_of_work.proof_of_work import ProofOfWork
from identity.access.rpc.admission import TenantAdmission
from identity.directory.labels import Group
from identity.directory.tenants.password_policies import PasswordPolicies
from identity.directory.tenants.settings_of_tenants import SettingsOfTenants
from identity.directory.tenants.sign_in_targets import SignInTargets
from identity.directory.tenants.tenant_record import TENANTS
from identity.people.account.password_choice import PasswordChoice
from identity.people.labels import Labels
from identity.people.registration.confirmation import PasswordLinks, RegistrationConfirmation
from identity.people.registration.confirmation_requests import ConfirmationRequests
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
        dependencies: Dependencies,
        user_state: UserState,
        proof_of_work: ProofOfWork,
        *,
        targets: SignInTargets,
        groups: Labels[Group],
        password_links: PasswordLinks,
    ) -> None:
        self._dependencies = dependencies
        self._password_links = password_links
        self._user_state = user_state
        protection = dependencies.config.events.login_protection
        self._admission = RegistrationAdmission(
            proof_of_work=proof_of_work,
            limits=RegistrationLimits(
                dependencies.store.of(REGISTRATION_ATTEMPTS),
                Addresses(protection),
                most=dependencies.config.users.registration_limit,
                clock=dependencies.clock,
            ),
        )
        self._equal_duration = EqualDuration(Delays(protection.max_delayed))
        self._settings = SettingsOfTenants(dependencies.store.of(TENANTS))
        self._return_addresses = ReturnAddresses(dependencies.clients)
        self._policies = PasswordPolicies(dependencies.store.of(TENANTS), dependencies.events)
        self._links = ConfirmationLinks(
            links=dependencies.links,
            mail_queue=dependencies.mail,
            events=dependencies.events,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        self.servicers = {_REGISTRATION: self._registration(targets, groups)}

    def _registration(self, targets: SignInTargets, groups: Labels[Group]) -> RegistrationServicer:
        dependencies, users = self._dependencies, self._user_state.users
        return RegistrationServicer(
            TenantAdmission(dependencies.tenants),
            self._registering(targets, groups),
            confirming=RegistrationConfirmation(
                users=users,
                links=self._links,
                password_links=self._password_links,
                return_addresses=self._return_addresses,
                events=dependencies.events,
                clock=dependencies.clock,
            ),
            requests=ConfirmationRequests(
                users=users,
                admission=self._admission,
                settings=self._settings,
                links=self._links,
                equal_duration=self._equal_duration,
                mail=dependencies.mail,
                clock=dependencies.clock,
            ),
            policies=self._policies,
            terms=self._user_state.terms,
            config=dependencies.config.users,
        )

    def _registering(self, targets: SignInTargets, groups: Labels[Group]) -> SelfRegistration:
        dependencies = self._dependencies
        return SelfRegistration(
            users=self._user_state.users,
            admission=self._admission,
            targets=targets,
            settings=self._settings,
            password_choice=PasswordChoice(
                self._policies,
                dependencies.passwords,
                dependencies.clock,
                breach_list=dependencies.breach_list,
            ),
            groups=groups,
            links=self._links,
            mail_queue=dependencies.mail,
            return_addresses=self._return_addresses,
            equal_duration=self._equal_duration,
            events=dependencies.events,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
            config=dependencies.config.users,
        )
