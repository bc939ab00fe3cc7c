"""A provider's browser side as composed in production, over records in memory, with a fixed clock."""

import itertools
import json
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from argon2 import PasswordHasher
from cryptography.hazmat.primitives.asymmetric import ec

from identity.access.client_authentication.client_keys import ClientKeys
from identity.access.login_protection.config import LoginProtectionConfig
from identity.access.login_protection.delays import Delays
from identity.access.login_protection.protection import LoginProtection
from identity.access.proof_of_work.challenge import parse
from identity.access.proof_of_work.config import ProofOfWorkConfig
from identity.access.proof_of_work.proof_of_work import ProofOfWork
from identity.access.sessions.browser import Browser
from identity.access.sessions.config import SessionConfig, SessionLifetimes
from identity.access.sessions.hints import IdTokenHints
from identity.access.sessions.logout_config import LogoutConfig
from identity.access.sessions.logout_records import BACK_CHANNEL_LOGOUTS, LOGOUT_REQUESTS
from identity.access.sessions.session import SESSIONS, Session
from identity.access.sessions.session_end import SessionTermination
from identity.access.sessions.sessions import Sessions
from identity.access.tokens.custom_claims import CustomClaims
from identity.access.tokens.encryptions import ResponseEncryptions
from identity.access.tokens.verification import verified
from identity.authentication.authorization.asked import AskedRequests, Reference
from identity.authentication.authorization.code import AUTHORIZATION_CODES, AuthorizationCode
from identity.authentication.authorization.conclusion import Conclusion
from identity.authentication.authorization.consent import ConsentGate
from identity.authentication.authorization.consent_step import ConsentStep
from identity.authentication.authorization.email_step import EmailStep, SharedSignIn
from identity.authentication.authorization.pending_requests import PendingRequests
from identity.authentication.authorization.session_check import SessionCheck
from identity.authentication.authorization.sign_in import SignedIn, SignInFlow
from identity.authentication.authorization.sign_in_context import SignInContext
from identity.authentication.authorization.start import AuthorizationStart, SignInStep
from identity.authentication.authorization.steps import Credentials, CredentialStep, RefreshStep
from identity.authentication.authorization.terms_gate import TermsGate
from identity.authentication.authorization.terms_step import TermsStep
from identity.authentication.passkeys.assertion import Assertion
from identity.authentication.passkeys.authenticators import Authenticators
from identity.authentication.passkeys.ceremony import CEREMONIES, Ceremonies
from identity.authentication.passkeys.config import WebauthnConfig
from identity.authentication.passkeys.passkey import PASSKEYS
from identity.authentication.passkeys.passkeys import Passkeys
from identity.authentication.passkeys.remembered import RememberedFactors
from identity.authentication.passkeys.second_factor import PasskeyFactor
from identity.authentication.password_sign_in import PasswordSignIn
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.pushed import PUSHED_REQUESTS, PushedRequestConfig, PushedRequests
from identity.authentication.requests.pushed_endpoint import PushedRequestHandler
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.request import AUTHORIZATION_REQUESTS
from identity.authentication.requests.request_objects import RequestObjects
from identity.authentication.requests.request_reader import RequestReader
from identity.authentication.requests.response_targets import ResponseTargets
from identity.authentication.requests.sources import (
    PlainRequests,
    RequestsByReference,
    RequestsByValue,
    RequiredPush,
)
from identity.authentication.saml.keys import SamlKeys
from identity.authentication.saml_applications.applications import SamlApplications
from identity.authentication.saml_applications.attributes import AttributeClaims
from identity.authentication.saml_applications.logout import SamlApplicationLogout
from identity.authentication.saml_applications.name_ids import NameIds
from identity.authentication.saml_applications.request_reader import SamlRequestReader
from identity.authentication.saml_applications.responses import SamlResponses
from identity.authentication.saml_applications.signing_keys import SamlSigningKeys
from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.crypto.jose.key_set import KeySet
from identity.crypto.jose.signing_key import SigningKey
from identity.crypto.keys.master_keys import MasterKeys, new_master_key
from identity.crypto.keys.root_secret import RootSecret
from identity.delivery.http.published_keys import PublishedKeys
from identity.directory.authorization_details.detail_types import DetailTypes
from identity.directory.client import CLIENTS, Client
from identity.directory.clients import Clients
from identity.directory.consents.consents import Consents
from identity.directory.password_config import PasswordConfig
from identity.directory.password_hashes.costliest import CostliestHashes
from identity.directory.passwords import Passwords
from identity.directory.secrets import SecretHasher
from identity.directory.subjects import Subjects
from identity.directory.tenants.providers import NoProviders
from identity.directory.tenants.sign_in_targets import SignInTargets
from identity.directory.terms_of_use.terms_of_use import TermsOfUse
from identity.directory.user import USERS, User
from identity.directory.users import Users
from identity.directory.version import DirectoryVersion
from identity.foundation.events.config import EventsConfig
from identity.foundation.events.events import Events
from identity.foundation.randomness import Randomness, SystemRandomness
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant, Tenants
from identity.foundation.vocabulary import AuthenticationMethod, GrantType
from identity.protocol.logout.endpoint import EndSession
from identity.protocol.logout.front_channel import FrontChannel
from identity.protocol.logout.logout_request import LogoutRequestReader
from server.platform.call import TenantId
from server.platform.clock import Clock, VirtualClock
from server.platform.records import RecordStore
from server.platform.records.memory import MemoryRecordStore
from tests.identity.documents import KnownDocuments
from tests.identity.remembered_keys import RememberedKeyMaker

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
ACME = TenantId("acme")
ISSUER = "https://id.example.com/auth/v1/"
PASSWORD = "correct horse battery staple"
ADDRESS = "192.0.2.7"
# S256 of the verifier in RFC 7636, appendix B.
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
CALLBACK = "https://app.example.com/callback"

PASSWORD_HASH = PasswordHasher(1, 8, 1).hash(PASSWORD)
NEW_BROWSER = Browser(peer_address=ADDRESS)

_ALPHABET = string.ascii_letters + string.digits
_PASSWORDS = PasswordConfig(memory_kib=8, iterations=1, lanes=1, workers=1)

ASKING: Mapping[str, str] = {
    "client_id": "app",
    "redirect_uri": CALLBACK,
    "response_type": "code",
    "scope": "openid email",
    "state": "s1",
    "nonce": "n1",
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
}


class CountedRandomness:
    """Values from a counter: unique, and the same in every run."""

    def __init__(self) -> None:
        self._counter = itertools.count(1)

    def alphanumeric(self, length: int) -> str:
        number, letters = next(self._counter), []
        while number:
            number, digit = divmod(number, len(_ALPHABET))
            letters.append(_ALPHABET[digit])
        return "".join(reversed(letters)).rjust(length, "0")

    def octets(self, length: int) -> bytes:
        return next(self._counter).to_bytes(length) if length > 1 else bytes((next(self._counter) % 256,))


class OneKeyRing:
    """A key ring with the same ES256 key for every tenant."""

    def __init__(self) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        self.signing_key = SigningKey.of("kid-1", SigningAlgorithm.ES256, key)

    async def key_set(self, _tenant_id: TenantId, /) -> KeySet:
        return KeySet((self.signing_key,))


@dataclass
class RemovedTokenSets:
    """Stands for the token sets; records the sessions whose token sets were revoked."""

    sids: list[str] = field(default_factory=list)

    async def remove_of_session(self, _tenant: Tenant, sid: str) -> None:
        self.sids.append(sid)


@dataclass
class Confirmation:
    is_required: bool = True

    async def requires_email_confirmation(self, _tenant: Tenant) -> bool:
        return self.is_required


@dataclass
class Pauses:
    """A pause that takes no time, and records its duration."""

    seconds: list[float] = field(default_factory=list)

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def app(**fields: object) -> Client:
    client = Client(
        tenant_id=TenantId("default"),
        id="app",
        name="The app",
        tenant_ids=(TenantId("default"),),
        oauth_scopes=("openid", "email", "profile"),
        grant_types=frozenset({GrantType.AUTHORIZATION_CODE}),
        redirect_uris=(CALLBACK,),
        post_logout_redirect_uris=("https://app.example.com/bye",),
        token_endpoint_auth_method=AuthenticationMethod.NONE,
        id_token_signed_response_alg=SigningAlgorithm.ES256,
    )
    return replace(client, **fields)  # type: ignore[arg-type]


def alice(**fields: object) -> User:
    user = User(
        tenant_id=TenantId("default"),
        id="alice",
        email="alice@example.com",
        is_email_verified=True,
        password_hash=PASSWORD_HASH,
    )
    return replace(user, **fields)  # type: ignore[arg-type]


def solved(challenge: str) -> str:
    for counter in itertools.count():
        solution = parse(f"{challenge}{counter}")
        if solution is not None and solution.leading_zero_bits >= solution.challenge.difficulty:
            return solution.text
    raise AssertionError


class NoWatch:
    """Compares no sign-ins."""

    async def note(self, tenant: Tenant, user: User, browser: Browser, *, sid: str) -> str:  # noqa: ARG002  # of the port
        return ""


class NoBrowsers:
    """Knows no browser."""

    async def knows(self, tenant: Tenant, email: str, device: str) -> bool:  # noqa: ARG002  # of the port
        return False


class Provider:
    """All objects between the servicers and the records."""

    def __init__(
        self,
        *,
        protection: LoginProtectionConfig = LoginProtectionConfig(),  # noqa: B008  # frozen
        sessions: SessionConfig = SessionConfig(),  # noqa: B008  # frozen
        logout: LogoutConfig = LogoutConfig(),  # noqa: B008  # frozen
        store_at: Callable[[Clock], RecordStore] = MemoryRecordStore,
        randomness: Randomness | None = None,
    ) -> None:
        self.clock = VirtualClock(pinned=NOON)
        self.store = store_at(self.clock)
        self.tenants = Tenants("https://id.example.com", TenantId("default"), (ACME,))
        self.tenant = self.tenants.default
        self.randomness = randomness or CountedRandomness()
        self.keys, self.token_sets = OneKeyRing(), RemovedTokenSets()
        self.confirmation, self.pauses = Confirmation(), Pauses()
        self.hasher = SecretHasher(b"k" * 32)
        sources = {"clock": self.clock, "randomness": self.randomness}
        self.events = Events(self.store, EventsConfig().levels, **sources)
        self.passwords = Passwords(_PASSWORDS)
        self.clients = Clients(self.store, self.tenants)
        self.subjects = Subjects(RootSecret(b"s" * 32).derived)
        self.users, self.version = Users(self.store.of(USERS)), DirectoryVersion(self.store)
        self.sessions = Sessions(
            self.store.of(SESSIONS),
            self.hasher,
            users=self.store.of(USERS),
            version=self.version,
            lifetimes=SessionLifetimes(),
            config=sessions,
            **sources,
        )
        self.proof_of_work = ProofOfWork(
            SingleUse(self.store), b"p" * 32, config=ProofOfWorkConfig(difficulty=10), **sources
        )
        self.termination = SessionTermination(
            *(self.sessions, self.clients, self.token_sets),
            queue=self.store.of(BACK_CHANNEL_LOGOUTS),
            config=logout,
            events=self.events,
            **sources,
        )
        self.hints = IdTokenHints(
            lambda token, tenant: verified(token, tenant, self.keys), self.clients, self.subjects
        )
        self.pushed = PushedRequests(
            *(self.store.of(PUSHED_REQUESTS), self.hasher),
            single_use=SingleUse(self.store),
            config=PushedRequestConfig(),
            **sources,
        )
        self.documents = KnownDocuments({})
        published = PublishedKeys(self.documents, self.clock)
        encryptions = ResponseEncryptions(ClientKeys(published))
        targets = ResponseTargets(self.keys, encryptions, self.clock)
        objects = RequestObjects(ClientKeys(published), self.clock)
        by_themselves = (RequestsByValue(objects), PlainRequests())
        self.reader = RequestReader(
            *(self.clients, self.hints, self.subjects),
            details=DetailTypes(self.store),
            sources=(
                *(self.pushed, RequiredPush(), RequestsByReference(objects, self.documents)),
                *by_themselves,
            ),
            targets=targets,
            clock=self.clock,
        )
        self.targets = SignInTargets(self.tenants, self.store, NoProviders())
        self.pushing = PushedRequestHandler(self.reader, self.pushed, sources=by_themselves)
        pending = PendingRequests(self.store.of(AUTHORIZATION_REQUESTS), self.hasher, **sources)
        standing = SessionCheck(self.users, self.clock, confirmation=self.confirmation)
        saml_responses = self._saml_responses()
        conclusion = Conclusion(
            *(self.store.of(AUTHORIZATION_CODES), self.sessions),
            targets=targets,
            saml_responses=saml_responses,
            hasher=self.hasher,
            **sources,
        )
        self.consents = Consents(self.store, **sources)
        consent_gate = ConsentGate(self.consents, pending, conclusion)
        self.terms = TermsOfUse(self.store, self.clock)
        terms_gate = TermsGate(self.terms, consent_gate, pending=pending, conclusion=conclusion)
        asked = self.asked = AskedRequests(self.reader, self.clients, pending, self.pushed)
        self.authorization_start = AuthorizationStart(
            *(self.reader, self.sessions),
            asked=asked,
            pending=pending,
            standing=standing,
            terms_gate=terms_gate,
            conclusion=conclusion,
            targets=self.targets,
            saml_reader=SamlRequestReader(
                *(SamlApplications(self.store), self.clients),
                responses=saml_responses,
                clock=self.clock,
            ),
        )
        self.email_step = EmailStep(self.sessions, self.proof_of_work, asked=asked, targets=self.targets)
        self.shared_sign_in = SharedSignIn(self.tenants, self.proof_of_work, self.targets)
        self.protection = LoginProtection(
            self.store,
            self.hasher,
            clock=self.clock,
            delays=Delays(protection.max_delayed, self.pauses),
            config=protection,
            events=self.events,
        )
        password_sign_in = PasswordSignIn(
            *(self.users, self.passwords),
            protection=self.protection,
            costliest=CostliestHashes(self.store),
            browsers=NoBrowsers(),
            confirmation=self.confirmation,
            clock=self.clock,
            events=self.events,
        )
        self.context = SignInContext(
            proof_of_work=self.proof_of_work,
            asked=asked,
            sign_in_flow=SignInFlow(
                sessions=self.sessions,
                asked=asked,
                termination=self.termination,
                terms_gate=terms_gate,
                conclusion=conclusion,
                watch=NoWatch(),
                events=self.events,
            ),
        )
        self.second_factors = self._passkey_factor()
        self.credential_step = CredentialStep(
            self.sessions,
            self.context,
            password_sign_in=password_sign_in,
            second_factors=self.second_factors,
        )
        self.refresh_step = RefreshStep(
            self.sessions,
            asked=asked,
            standing=standing,
            terms_gate=terms_gate,
            conclusion=conclusion,
        )
        self.consent_step = ConsentStep(
            *(self.sessions, self.consents),
            asked=asked,
            standing=standing,
            conclusion=conclusion,
            events=self.events,
        )
        self.terms_step = TermsStep(
            self.sessions,
            self.terms,
            asked=asked,
            standing=standing,
            consent_gate=consent_gate,
            conclusion=conclusion,
            termination=self.termination,
            events=self.events,
        )
        saml_logout = self._saml_logout(saml_responses)
        self.end_session = EndSession(
            *(self.sessions, LogoutRequestReader(self.clients, self.hints), self.termination),
            front_channel=FrontChannel(self.clients, self.subjects, saml_logout),
            saml=saml_logout,
            questions=self.store.of(LOGOUT_REQUESTS),
            events=self.events,
            hasher=self.hasher,
            **sources,
        )

    def _saml_responses(self) -> SamlResponses:
        keys = MasterKeys.read([new_master_key(SystemRandomness())], "", randomness=SystemRandomness())
        self.saml_keys = SamlSigningKeys(self.store, SamlKeys(keys, RememberedKeyMaker(), self.clock))
        return SamlResponses(
            keys=self.saml_keys,
            applications=SamlApplications(self.store),
            users=self.users,
            name_ids=NameIds(self.subjects, self.hasher),
            attribute_claims=AttributeClaims(CustomClaims(self.store), self.subjects),
            single_use=SingleUse(self.store),
            events=self.events,
            events_config=EventsConfig(),
            clock=self.clock,
            randomness=self.randomness,
        )

    def _saml_logout(self, responses: SamlResponses) -> SamlApplicationLogout:
        return SamlApplicationLogout(
            applications=responses.applications,
            clients=self.clients,
            users=self.users,
            keys=responses.keys,
            name_ids=responses.name_ids,
            single_use=responses.single_use,
            clock=self.clock,
            randomness=self.randomness,
        )

    def _passkey_factor(self) -> PasskeyFactor:
        webauthn = WebauthnConfig()
        self.passkeys = Passkeys(self.store.of(PASSKEYS))
        self.ceremonies = Ceremonies(
            *(self.store.of(CEREMONIES), self.hasher),
            clock=self.clock,
            randomness=self.randomness,
            config=webauthn,
        )
        self.assertion = Assertion(
            passkeys=self.passkeys,
            authenticators=Authenticators(webauthn),
            hasher=self.hasher,
            clock=self.clock,
        )
        return PasskeyFactor(
            users=self.users,
            passkeys=self.passkeys,
            ceremonies=self.ceremonies,
            remembered=RememberedFactors(hasher=self.hasher, clock=self.clock, config=webauthn),
            hasher=self.hasher,
            config=webauthn,
        )

    async def register(self, *clients: Client) -> None:
        for client in clients:
            await self.store.of(CLIENTS).insert(client)

    async def admit(self, *users: User) -> None:
        for user in users:
            await self.users.add(user)

    async def begin(
        self,
        browser: Browser = NEW_BROWSER,
        **parameters: str,
    ) -> SignInStep | Redirection:
        return await self.authorization_start.begin(self.tenant, calls(**parameters), browser)

    async def page(
        self,
        browser: Browser = NEW_BROWSER,
        **parameters: str,
    ) -> tuple[SignInStep, Browser]:
        """Return the sign-in page, and its browser."""
        step = await self.begin(browser, **parameters)
        assert isinstance(step, SignInStep)
        return step, replace(
            browser, cookie=step.cookie or browser.cookie, csrf_token=step.session.csrf_token
        )

    async def submit(
        self,
        step: SignInStep,
        browser: Browser,
        *,
        email: str = "alice@example.com",
        password: str = PASSWORD,
    ) -> SignedIn:
        credentials = Credentials(email=email, password=password, proof_of_work=self.solution())
        reference = Reference(authorization_id=step.authorization_id, parameters=Parameters(()))
        return await self.credential_step.submit(self.tenant, browser, reference, credentials=credentials)

    async def signed_in(
        self, *, email: str = "alice@example.com", browser: Browser | None = None, **parameters: str
    ) -> Browser:
        """Return a browser whose user has signed in."""
        step, browser = await self.page(browser or NEW_BROWSER, **parameters)
        signed_in = await self.submit(step, browser, email=email)
        return await self.with_csrf(replace(browser, cookie=signed_in.cookie))

    async def session(self, browser: Browser) -> Session | None:
        return await self.sessions.find(self.tenant, browser.cookie, browser.peer_address)

    async def with_csrf(self, browser: Browser) -> Browser:
        session = await self.session(browser)
        assert session is not None
        return replace(browser, csrf_token=session.csrf_token)

    async def code(self, redirection: Redirection) -> AuthorizationCode:
        """Return the record of the code in a redirect."""
        code = dict(redirection.parameters)["code"]
        kept = await self.store.of(AUTHORIZATION_CODES).get(
            self.tenant.tenant_id, self.hasher.hash(code).hex()
        )
        assert kept is not None
        return kept

    def solution(self, tenant: Tenant | None = None) -> str:
        return solved(self.proof_of_work.challenge(tenant or self.tenant))

    def id_token(self, *, sub: str = "alice", client_id: str = "app", **claims: object) -> str:
        at = int((NOON - timedelta(days=400)).timestamp())
        issued = {"iss": ISSUER, "sub": sub, "aud": client_id, "azp": client_id, "typ": "Id", "exp": at}
        return self.keys.signing_key.sign(json.dumps(issued | claims).encode())


def calls(**parameters: str) -> Parameters:
    """Return the parameters of a valid request with these changes; an empty one is left out."""
    return Parameters.of((ASKING | parameters).items())
