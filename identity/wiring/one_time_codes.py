"""Composes second factors by code: one-time codes and recovery codes."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import one_time_code_service_pb2
from identity.access.callers import Callers
from identity.access.rpc.admission import Admission
from identity.authentication.authorization.sign_in_context import SignInContext
from identity.authentication.one_time_codes.accounts import CodeAccounts
from identity.authentication.one_time_codes.administration import CodeAdministration
from identity.authentication.one_time_codes.code_factor_records import CodeFactorRecords
from identity.authentication.one_time_codes.enrolment import GeneratorEnrolment
from identity.authentication.one_time_codes.question import CODE_QUESTIONS, CodeQuestions
from identity.authentication.one_time_codes.recovery import RecoveryCodeGenerator
from identity.authentication.one_time_codes.secrets import GeneratorSecrets
from identity.authentication.one_time_codes.sign_in import CodeSignIn
from identity.authentication.one_time_codes.verification import CodeVerification
from identity.authentication.passkeys.account import ModificationTokens
from identity.authentication.passkeys.passkeys import Passkeys
from identity.authentication.passkeys.remembered import RememberedFactors
from identity.authentication.reauthentication.shown_factors import ShownFactors
from identity.authentication.rpc.one_time_code import OneTimeCodeServicer
from identity.directory.tenants.confirmation import ConfirmationBySettings
from identity.directory.tenants.tenant_record import TENANTS
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies

_CODES = one_time_code_service_pb2.DESCRIPTOR.services_by_name["OneTimeCodeService"]


class OneTimeCodeWiring:
    """`keeping`, `questions` and `verification` are shared with other second factors."""

    def __init__(self, ground: Dependencies, presence: UserState) -> None:
        self._ground = ground
        self._presence = presence
        self._secrets = GeneratorSecrets(ground.store, ground.master_keys)
        self._recovery = RecoveryCodeGenerator(ground.secrets, ground.randomness)
        self.keeping = CodeFactorRecords(ground.store)
        self.questions = CodeQuestions(
            ground.store.of(CODE_QUESTIONS),
            ground.secrets,
            clock=ground.clock,
            randomness=ground.randomness,
            config=ground.config.one_time_codes,
        )
        self.verification = CodeVerification(
            keeping=self.keeping,
            secrets=self._secrets,
            recovery=self._recovery,
            protection=presence.protection,
            events=ground.events,
            clock=ground.clock,
            config=ground.config.one_time_codes,
        )

    def servicers(
        self,
        door: SignInContext,
        callers: Callers,
        modification_tokens: ModificationTokens,
        *,
        passkeys: Passkeys,
        remembered: RememberedFactors,
    ) -> Mapping[ServiceDescriptor, object]:
        ground = self._ground
        accounts = CodeAccounts(users=self._presence.users, keeping=self.keeping)
        servicer = OneTimeCodeServicer(
            ground.tenants,
            Admission(ground.tenants, callers),
            administration=CodeAdministration(
                keeping=self.keeping,
                recovery=self._recovery,
                passkeys=passkeys,
                accounts=accounts,
                modification_tokens=modification_tokens,
                events=ground.events,
                clock=ground.clock,
            ),
            enrolment=self._enrolment(accounts, modification_tokens),
            sign_in=self._sign_in(door, remembered),
            clock=ground.clock,
        )
        return {_CODES: servicer}

    def _enrolment(
        self, accounts: CodeAccounts, modification_tokens: ModificationTokens
    ) -> GeneratorEnrolment:
        ground = self._ground
        return GeneratorEnrolment(
            keeping=self.keeping,
            secrets=self._secrets,
            accounts=accounts,
            modification_tokens=modification_tokens,
            shown_factors=ShownFactors(self._presence.users, self._presence.sessions),
            events=ground.events,
            clock=ground.clock,
            randomness=ground.randomness,
            config=ground.config.one_time_codes,
        )

    def _sign_in(self, door: SignInContext, remembered: RememberedFactors) -> CodeSignIn:
        return CodeSignIn(
            sessions=self._presence.sessions,
            users=self._presence.users,
            door=door,
            questions=self.questions,
            verification=self.verification,
            remembered=remembered,
            confirmation=ConfirmationBySettings(self._ground.store.of(TENANTS)),
            clock=self._ground.clock,
        )
