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
from identity.authentication.one_time_codes.email_codes import CodesByEmail, EmailCodeAdministration
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
from identity.directory.tenants.settings_of_tenants import SettingsOfTenants
from identity.directory.tenants.tenant_record import TENANTS
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies

_CODES = one_time_code_service_pb2.DESCRIPTOR.services_by_name["OneTimeCodeService"]


class OneTimeCodeWiring:
    """`factor_records`, `questions`, `verification` and `by_email` are shared with other second factors."""

    def __init__(self, dependencies: Dependencies, user_state: UserState) -> None:
        self._dependencies = dependencies
        self._user_state = user_state
        self._secrets = GeneratorSecrets(dependencies.store, dependencies.master_keys)
        self._recovery = RecoveryCodeGenerator(dependencies.secrets, dependencies.randomness)
        self.factor_records = CodeFactorRecords(dependencies.store)
        self.questions = CodeQuestions(
            dependencies.store.of(CODE_QUESTIONS),
            dependencies.secrets,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
            config=dependencies.config.one_time_codes,
        )
        self.by_email = CodesByEmail(
            sessions=user_state.sessions,
            users=user_state.users,
            questions=self.questions,
            settings=SettingsOfTenants(dependencies.store.of(TENANTS)),
            mail=dependencies.mail,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
            config=dependencies.config.one_time_codes,
        )
        self.verification = CodeVerification(
            factor_records=self.factor_records,
            secrets=self._secrets,
            recovery=self._recovery,
            protection=user_state.protection,
            events=dependencies.events,
            clock=dependencies.clock,
            config=dependencies.config.one_time_codes,
        )

    def servicers(
        self,
        context: SignInContext,
        callers: Callers,
        modification_tokens: ModificationTokens,
        *,
        passkeys: Passkeys,
        remembered: RememberedFactors,
    ) -> Mapping[ServiceDescriptor, object]:
        dependencies = self._dependencies
        accounts = CodeAccounts(users=self._user_state.users, factor_records=self.factor_records)
        servicer = OneTimeCodeServicer(
            Admission(dependencies.tenants, callers),
            administration=CodeAdministration(
                factor_records=self.factor_records,
                recovery=self._recovery,
                passkeys=passkeys,
                accounts=accounts,
                modification_tokens=modification_tokens,
                events=dependencies.events,
                clock=dependencies.clock,
            ),
            enrolment=self._enrolment(accounts, modification_tokens),
            email_codes=EmailCodeAdministration(
                codes=self.by_email,
                factor_records=self.factor_records,
                accounts=accounts,
                passkeys=passkeys,
                modification_tokens=modification_tokens,
                events=dependencies.events,
            ),
            sign_in=self._sign_in(context, remembered),
            clock=dependencies.clock,
        )
        return {_CODES: servicer}

    def _enrolment(
        self, accounts: CodeAccounts, modification_tokens: ModificationTokens
    ) -> GeneratorEnrolment:
        dependencies = self._dependencies
        return GeneratorEnrolment(
            factor_records=self.factor_records,
            secrets=self._secrets,
            accounts=accounts,
            modification_tokens=modification_tokens,
            shown_factors=ShownFactors(self._user_state.users, self._user_state.sessions),
            events=dependencies.events,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
            config=dependencies.config.one_time_codes,
        )

    def _sign_in(self, context: SignInContext, remembered: RememberedFactors) -> CodeSignIn:
        return CodeSignIn(
            sessions=self._user_state.sessions,
            users=self._user_state.users,
            context=context,
            questions=self.questions,
            verification=self.verification,
            remembered=remembered,
            confirmation=ConfirmationBySettings(self._dependencies.store.of(TENANTS)),
            clock=self._dependencies.clock,
        )
