"""Composes password reset by link."""

from collections.abc import Coroutine, Iterator, Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import password_reset_service_pb2
from identity.access.proof_of_work.proof_of_work import ProofOfWork
from identity.access.rpc.admission import TenantAdmission
from identity.delivery.retry_queue import RetryQueue
from identity.directory.tenants.sign_in_targets import SignInTargets
from identity.directory.user import USERS
from identity.people.reset.ceremony import LinkCeremony
from identity.people.reset.link_mails import ExpiredPasswords, ResetMails, WelcomeMails
from identity.people.reset.magic_links import MagicLinks
from identity.people.reset.redemption import AccountActivation
from identity.people.reset.requests import RESET_REQUESTS, ResetRequests
from identity.people.rpc.password_reset import PasswordResetServicer
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies
from identity.wiring.people_administration import PeopleAdministrationWiring
from identity.wiring.second_factors import SecondFactorWiring

_RESET = password_reset_service_pb2.DESCRIPTOR.services_by_name["PasswordResetService"]


class PasswordResetWiring:
    """`welcome` writes to users of new accounts; `ceremony` is a passkey that is shown along with a link.

    `magic_links` are the links themselves.
    """

    def __init__(
        self,
        dependencies: Dependencies,
        user_state: UserState,
        targets: SignInTargets,
        second_factors: SecondFactorWiring,
    ) -> None:
        self._dependencies = dependencies
        self._user_state = user_state
        self._targets = targets
        self._second_factors = second_factors
        self.magic_links = MagicLinks(
            links=dependencies.links,
            users=user_state.users,
            targets=targets,
            hasher=dependencies.secrets,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
            config=dependencies.config.password_reset,
        )
        self._reset_mails = ResetMails(
            users=user_state.users,
            magic_links=self.magic_links,
            mail=dependencies.mail,
            clock=dependencies.clock,
            config=dependencies.config.password_reset,
        )
        dependencies.events.listen(
            ExpiredPasswords(tenants=dependencies.tenants, reset_mails=self._reset_mails)
        )
        self.welcome = WelcomeMails(magic_links=self.magic_links, mail=dependencies.mail)
        self.ceremony = LinkCeremony(
            magic_links=self.magic_links,
            passkeys=second_factors.passkeys,
            ceremonies=second_factors.ceremonies,
            assertion=second_factors.assertion,
        )

    def loops(self) -> Iterator[Coroutine[None, None, None]]:
        """Background loops that run while the provider runs; none without mail."""
        dependencies = self._dependencies
        if not dependencies.mail.is_open:
            return
        yield RetryQueue(
            "password reset",
            dependencies.store.of(RESET_REQUESTS),
            self._reset_mails,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
            policy=dependencies.config.password_reset,
        ).run(dependencies.tenants.all, dependencies.pause)

    def servicers(
        self, proof_of_work: ProofOfWork, people: PeopleAdministrationWiring
    ) -> Mapping[ServiceDescriptor, object]:
        dependencies = self._dependencies
        requests = ResetRequests(
            mail=dependencies.mail,
            queue=dependencies.store.of(RESET_REQUESTS),
            proof_of_work=proof_of_work,
            clients=dependencies.clients,
            targets=self._targets,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        activation = AccountActivation(
            magic_links=self.magic_links,
            ceremony=self.ceremony,
            registration=self._second_factors.registration(people.modification_tokens),
            password_choice=people.password_choice,
            users=dependencies.store.of(USERS),
            version=dependencies.directory_version,
            sign_out=self._user_state.sign_out,
            protection=self._user_state.protection,
            events=dependencies.events,
            clock=dependencies.clock,
        )
        servicer = PasswordResetServicer(
            TenantAdmission(dependencies.tenants),
            requests,
            magic_links=self.magic_links,
            activation=activation,
            policies=people.policies,
        )
        return {_RESET: servicer}
