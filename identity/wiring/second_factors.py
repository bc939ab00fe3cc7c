"""Composes second factors: passkeys and codes."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import passkey_service_pb2
from identity.access.callers import Callers
from identity.access.rpc.admission import Admission
from identity.authentication.authorization.sign_in_context import SignInContext
from identity.authentication.passkeys.account import ModificationTokens, PasskeyAccounts
from identity.authentication.passkeys.administration import PasskeyAdministration
from identity.authentication.passkeys.assertion import Assertion
from identity.authentication.passkeys.authenticators import Authenticators
from identity.authentication.passkeys.ceremony import CEREMONIES, Ceremonies
from identity.authentication.passkeys.passkey import PASSKEYS
from identity.authentication.passkeys.passkeys import Passkeys
from identity.authentication.passkeys.proof import PasskeyProof
from identity.authentication.passkeys.registration import PasskeyRegistration
from identity.authentication.passkeys.remembered import RememberedFactors
from identity.authentication.passkeys.second_factor import PasskeyFactor
from identity.authentication.passkeys.sign_in import PasskeySignIn
from identity.authentication.reauthentication.shown_factors import ShownFactors
from identity.authentication.rpc.passkey import PasskeyAuthentication, PasskeyServicer
from identity.authentication.second_factors.choice import SecondFactorRequests
from identity.authentication.second_factors.proofs import SecondFactorProofs
from identity.directory.tenants.confirmation import ConfirmationBySettings
from identity.directory.tenants.tenant_record import TENANTS
from identity.people.reset.ceremony import LinkCeremony
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies
from identity.wiring.one_time_codes import OneTimeCodeWiring

_PASSKEYS = passkey_service_pb2.DESCRIPTOR.services_by_name["PasskeyService"]


class SecondFactorWiring:
    """`factors` are asked for after or instead of a password; `proofs` show a factor again while signed in."""

    def __init__(self, dependencies: Dependencies, user_state: UserState) -> None:
        self._dependencies = dependencies
        self._user_state = user_state
        self._one_time_codes = OneTimeCodeWiring(dependencies, user_state)
        self._authenticators = Authenticators(dependencies.config.webauthn)
        self.passkeys = Passkeys(dependencies.store.of(PASSKEYS))
        self._remembered = RememberedFactors(
            hasher=dependencies.secrets, clock=dependencies.clock, config=dependencies.config.webauthn
        )
        self.ceremonies = Ceremonies(
            dependencies.store.of(CEREMONIES),
            dependencies.secrets,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
            config=dependencies.config.webauthn,
        )
        self.assertion = Assertion(
            passkeys=self.passkeys,
            authenticators=self._authenticators,
            hasher=dependencies.secrets,
            clock=dependencies.clock,
        )
        self._proof = PasskeyProof(ceremonies=self.ceremonies, assertion=self.assertion)
        self.proofs = SecondFactorProofs(passkeys=self._proof, codes=self._one_time_codes.verification)
        self.factors = self._factors()

    def servicers(
        self,
        context: SignInContext,
        callers: Callers,
        *,
        modification_tokens: ModificationTokens,
        link_ceremony: LinkCeremony,
    ) -> Mapping[ServiceDescriptor, object]:
        dependencies = self._dependencies
        admission = Admission(dependencies.tenants, callers)
        servicer = PasskeyServicer(
            admission,
            administration=PasskeyAdministration(
                users=self._user_state.users,
                passkeys=self.passkeys,
                accounts=self._accounts(),
                modification_tokens=modification_tokens,
                sign_out=self._user_state.sign_out,
                events=dependencies.events,
            ),
            registration=self.registration(modification_tokens),
            authentication=PasskeyAuthentication(
                dependencies.tenants,
                admission,
                self._sign_in(context),
                self._proof,
                link_ceremony=link_ceremony,
                config=dependencies.config.webauthn,
                clock=dependencies.clock,
            ),
        )
        by_codes = self._one_time_codes.servicers(
            context, callers, modification_tokens, passkeys=self.passkeys, remembered=self._remembered
        )
        return {_PASSKEYS: servicer, **by_codes}

    def _factors(self) -> SecondFactorRequests:
        dependencies, users = self._dependencies, self._user_state.users
        return SecondFactorRequests(
            passkeys=PasskeyFactor(
                users=users,
                passkeys=self.passkeys,
                ceremonies=self.ceremonies,
                remembered=self._remembered,
                hasher=dependencies.secrets,
                config=dependencies.config.webauthn,
            ),
            users=users,
            codes=self._one_time_codes.factor_records,
            questions=self._one_time_codes.questions,
            by_email=self._one_time_codes.by_email,
            config=dependencies.config.one_time_codes,
        )

    def registration(self, modification_tokens: ModificationTokens) -> PasskeyRegistration:
        return PasskeyRegistration(
            users=self._user_state.users,
            passkeys=self.passkeys,
            ceremonies=self.ceremonies,
            authenticators=self._authenticators,
            modification_tokens=modification_tokens,
            shown_factors=ShownFactors(self._user_state.users, self._user_state.sessions),
            accounts=self._accounts(),
            events=self._dependencies.events,
            clock=self._dependencies.clock,
        )

    def _accounts(self) -> PasskeyAccounts:
        return PasskeyAccounts(
            users=self._user_state.users,
            passkeys=self.passkeys,
            other_factors=self._one_time_codes.factor_records,
            config=self._dependencies.config.webauthn,
        )

    def _sign_in(self, context: SignInContext) -> PasskeySignIn:
        return PasskeySignIn(
            sessions=self._user_state.sessions,
            users=self._user_state.users,
            context=context,
            ceremonies=self.ceremonies,
            assertion=self.assertion,
            remembered=self._remembered,
            protection=self._user_state.protection,
            confirmation=ConfirmationBySettings(self._dependencies.store.of(TENANTS)),
            clock=self._dependencies.clock,
        )
