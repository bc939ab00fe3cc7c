"""Composes password reset by link."""

from collections.abc import Coroutine, Iterator, Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import password_reset_service_pb2
from identity.access.proof_of_work.proof_of_work import ProofOfWork
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
        ground: Dependencies,
        presence: UserState,
        targets: SignInTargets,
        recognizing: SecondFactorWiring,
    ) -> None:
        self._ground = ground
        self._presence = presence
        self._targets = targets
        self._recognizing = recognizing
        self.magic_links = MagicLinks(
            links=ground.links,
            users=presence.users,
            targets=targets,
            hasher=ground.secrets,
            clock=ground.clock,
            randomness=ground.randomness,
            config=ground.config.password_reset,
        )
        self._posting = ResetMails(
            users=presence.users,
            magic_links=self.magic_links,
            mail=ground.mail,
            clock=ground.clock,
            config=ground.config.password_reset,
        )
        ground.events.listen(ExpiredPasswords(tenants=ground.tenants, posting=self._posting))
        self.welcome = WelcomeMails(magic_links=self.magic_links, mail=ground.mail)
        self.ceremony = LinkCeremony(
            magic_links=self.magic_links,
            passkeys=recognizing.passkeys,
            ceremonies=recognizing.ceremonies,
            assertion=recognizing.assertion,
        )

    def loops(self) -> Iterator[Coroutine[None, None, None]]:
        """Background loops that run while the provider runs; none without mail."""
        ground = self._ground
        if not ground.mail.is_open:
            return
        yield RetryQueue(
            "password reset",
            ground.store.of(RESET_REQUESTS),
            self._posting,
            clock=ground.clock,
            randomness=ground.randomness,
            policy=ground.config.password_reset,
        ).run(ground.tenants.all)

    def servicers(
        self, proof_of_work: ProofOfWork, administering: PeopleAdministrationWiring
    ) -> Mapping[ServiceDescriptor, object]:
        ground = self._ground
        requests = ResetRequests(
            mail=ground.mail,
            queue=ground.store.of(RESET_REQUESTS),
            proof_of_work=proof_of_work,
            clients=ground.clients,
            targets=self._targets,
            clock=ground.clock,
            randomness=ground.randomness,
        )
        opening = AccountActivation(
            magic_links=self.magic_links,
            ceremony=self.ceremony,
            registration=self._recognizing.registration(administering.modification_tokens),
            choosing=administering.choosing,
            users=ground.store.of(USERS),
            version=ground.directory_version,
            signing_out=self._presence.signing_out,
            protection=self._presence.protection,
            events=ground.events,
            clock=ground.clock,
        )
        servicer = PasswordResetServicer(
            ground.tenants,
            requests,
            magic_links=self.magic_links,
            opening=opening,
            policies=administering.policies,
        )
        return {_RESET: servicer}
