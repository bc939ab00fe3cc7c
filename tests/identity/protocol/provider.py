"""The provider's protocol services as composed in production, over records of the test."""

import base64
import hashlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography.x509 import Certificate

from identity.access.client_authentication.assertions import ClientAssertions
from identity.access.client_authentication.authenticator import ClientAuthenticator, ClientCredentials
from identity.access.client_authentication.certificates import ClientCertificates
from identity.access.client_authentication.client_keys import ClientKeys
from identity.access.dpop.config import DpopConfig
from identity.access.dpop.nonces import DpopNonces
from identity.access.dpop.proofs import DpopProofs
from identity.access.sessions.browser import Browser
from identity.access.sessions.config import SessionConfig, SessionLifetimes
from identity.access.sessions.session import SESSIONS, Authentication
from identity.access.sessions.sessions import Sessions
from identity.access.tokens.access_token import AccessTokens
from identity.access.tokens.active import ActiveTokens
from identity.access.tokens.config import DeviceGrantConfig, TokenConfig
from identity.access.tokens.custom_claims import CustomClaims
from identity.access.tokens.encryptions import ResponseEncryptions
from identity.access.tokens.families import Families
from identity.access.tokens.id_token import IdTokens
from identity.access.tokens.refresh_token import RefreshTokens
from identity.access.tokens.revoked import RevokedTokens
from identity.access.tokens.signatures import Signatures
from identity.access.tokens.token_set import TokenSet
from identity.access.tokens.token_sets import TokenSets
from identity.access.tokens.verification import verified
from identity.authentication.authorization.code import AUTHORIZATION_CODES, AuthorizationCode
from identity.crypto.jose.key_set import KeySet
from identity.crypto.keys.root_secret import RootSecret
from identity.delivery.http.published_keys import PublishedKeys
from identity.directory.client import CLIENTS, Client, ClientId
from identity.directory.clients import Clients
from identity.directory.secrets import SecretHasher
from identity.directory.standings import Standings
from identity.directory.subjects import Subjects
from identity.directory.terms_of_use.terms_of_use import TermsOfUse
from identity.directory.user import USERS, User, UserId
from identity.directory.version import DirectoryVersion
from identity.foundation.events.config import EventsConfig
from identity.foundation.events.events import Events
from identity.foundation.randomness import SystemRandomness
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant, Tenants, tenant_id_of
from identity.foundation.vocabulary import AuthenticationMethod, GrantType, Permission
from identity.protocol.devices.authorization import DeviceAuthorizations, StartedAuthorization, StartRequest
from identity.protocol.devices.limits import DeviceStarts, UserCodeGuesses
from identity.protocol.devices.verification import DeviceVerification, Question
from identity.protocol.grants.continuation import Continuation
from identity.protocol.grants.grant import TokenRequest
from identity.protocol.grants.people import People
from identity.protocol.grants.pipeline import IssuedTokens, TokenPipeline
from identity.protocol.grants.reports import GrantReports
from identity.protocol.grants.table import grants
from identity.protocol.grants.token_signer import TokenSigner
from identity.protocol.tokens.introspection import Introspection
from identity.protocol.tokens.revocation import Revocation
from identity.protocol.userinfo.forward import ForwardAuthentication
from identity.protocol.userinfo.presented import PresentedTokens
from identity.protocol.userinfo.userinfo import UserInfo
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import PermissionDenied
from server.platform.records import RecordStore
from tests.identity.documents import KnownDocuments

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
TENANTS = Tenants("https://id.example.com", tenant_id_of("default"), [tenant_id_of("acme")])
TENANT = TENANTS.default
ACME = TENANTS.find("acme")
REDIRECT_URI = "https://app.example.com/callback"
VERIFIER = "v" * 43
SECRET = "s3cret-of-the-app"
PEOPLE_SCOPES = ("openid", "profile", "email", "address", "phone", "groups", "offline_access")


def challenge_of(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


ADA = User(
    tenant_id=TENANT.tenant_id,
    id="ada" * 8,
    email="ada@example.com",
    is_email_verified=True,
    preferred_username="ada",
    given_name="Ada",
    family_name="Lovelace",
    values={"birthdate": "1815-12-10", "locality": "London", "phone_number": "+44 20"},
    roles=("engineer",),
    groups=("analysts", "writers"),
    tenant_ids=(TENANT.tenant_id,),
    created_at=NOON,
    changed_at=NOON,
)

SIGNED_IN = Authentication(user_id=UserId(ADA.id), at=NOON, amr=("pwd",), acr="urn:example:pwd", sid="s" * 32)


def app(secrets: SecretHasher) -> Client:
    """A confidential client with every grant type."""
    return Client(
        tenant_id=TENANT.tenant_id,
        id="app",
        name="The app",
        secret_hash=secrets.hash(SECRET),
        tenant_ids=(TENANT.tenant_id,),
        permissions=(Permission.JOB_WORK,),
        oauth_scopes=(Permission.JOB_WORK, Permission.HISTORY_READ, *PEOPLE_SCOPES),
        grant_types=frozenset(GrantType),
        redirect_uris=(REDIRECT_URI,),
        allowed_resources=("https://api.example.com",),
    )


# Its threads serve the providers of all tests.
SIGNATURES = Signatures()
SUBJECTS = Subjects(RootSecret(b"s" * 32).derived)

AS_APP = ClientCredentials(AuthenticationMethod.CLIENT_SECRET_BASIC, "app", SECRET)


@dataclass
class FixedKeys:
    """Keys that were made before the test."""

    keys: KeySet

    async def key_set(self, _tenant_id: TenantId, /) -> KeySet:
        return self.keys


class EasyWork:
    """Accepts every proof of work except `wrong`."""

    async def spend(self, _tenant: Tenant, solution: str, /) -> None:
        if solution == "wrong":
            raise PermissionDenied("the work was not done")


@dataclass
class Provider:
    """`reused` are the token sets whose refresh token was reused."""

    records: RecordStore
    clock: VirtualClock
    keys: FixedKeys
    token: TokenConfig = TokenConfig()
    device_grant: DeviceGrantConfig = DeviceGrantConfig()
    dpop: DpopConfig = DpopConfig()
    events: EventsConfig = EventsConfig()
    documents: KnownDocuments = field(default_factory=KnownDocuments)
    authorities: tuple[Certificate, ...] = ()
    reused: list[TokenSet] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.secrets = SecretHasher(b"0" * 32)
        self.randomness = SystemRandomness()
        single_use = SingleUse(self.records)
        self.clients = Clients(self.records, TENANTS)
        self.terms = TermsOfUse(self.records, self.clock)
        published_keys = PublishedKeys(self.documents, self.clock)
        client_keys = ClientKeys(published_keys)
        encryptions = ResponseEncryptions(client_keys)
        self.authenticator = ClientAuthenticator(
            self.clients,
            self.secrets,
            assertions=ClientAssertions(client_keys, single_use, self.clock),
            certificates=ClientCertificates(client_keys, self.clock, authorities=self.authorities),
            clock=self.clock,
        )
        self.version = DirectoryVersion(self.records)
        self.sets = TokenSets(self.records, self.version)
        self.families = Families(
            self.sets,
            RefreshTokens(self.secrets, self.randomness),
            token=self.token,
            device_grant=self.device_grant,
            report_reuse=self._note_reuse,
            clock=self.clock,
        )
        self.nonces = DpopNonces(self.secrets, self.clock, self.dpop)
        self.proofs = DpopProofs(single_use, self.nonces, self.clock)
        events = Events(self.records, self.events.levels, clock=self.clock, randomness=self.randomness)
        reports = GrantReports(events, self.events)
        custom = CustomClaims(self.records)
        revoked = RevokedTokens(self.records, self.version)
        self.active = ActiveTokens(
            self.keys,
            self.clients,
            SUBJECTS,
            sets=self.sets,
            revoked=revoked,
            records=self.records,
            clock=self.clock,
        )
        self.sessions = Sessions(
            self.records.of(SESSIONS),
            self.secrets,
            users=self.records.of(USERS),
            version=self.version,
            clock=self.clock,
            randomness=self.randomness,
            lifetimes=SessionLifetimes(),
            config=SessionConfig(),
        )
        self.pipeline = TokenPipeline(
            self.authenticator,
            grants(
                self.records,
                self.secrets,
                sets=self.sets,
                families=self.families,
                tokens=self.active,
                upstream_keys=published_keys,
                standings=Standings(self.records, TENANTS),
                clock=self.clock,
                randomness=self.randomness,
                report_replay=reports.code_replay,
            ),
            people=People(self.records, self.clock, terms=self.terms),
            proofs=self.proofs,
            continuation=Continuation(
                self.sets,
                self.families,
                sessions=self.sessions,
                clock=self.clock,
                randomness=self.randomness,
            ),
            signing=TokenSigner(
                self.keys,
                AccessTokens(TENANTS, self.clock, self.randomness, signatures=SIGNATURES),
                IdTokens(self.clock, SIGNATURES),
                encryptions=encryptions,
                custom=custom,
                subjects=SUBJECTS,
            ),
            report=reports.token_issued,
        )
        self.introspection = Introspection(
            self.authenticator,
            self.active,
            families=self.families,
            keys=self.keys,
            custom=custom,
            subjects=SUBJECTS,
            records=self.records,
            clock=self.clock,
        )
        self.revocation = Revocation(
            self.authenticator, self.families, keys=self.keys, revoked=revoked, clock=self.clock
        )
        presented = PresentedTokens(self.active, self.proofs)
        self.user_info = UserInfo(presented, self.keys, encryptions=encryptions, custom=custom)
        self.forward = ForwardAuthentication(presented)
        self.devices = DeviceAuthorizations(
            self.authenticator,
            self.records,
            starts=DeviceStarts(self.records, self.device_grant, self.clock),
            secrets=self.secrets,
            config=self.device_grant,
            clock=self.clock,
            randomness=self.randomness,
        )
        self.verification = DeviceVerification(
            self.sessions,
            EasyWork(),
            guesses=UserCodeGuesses(self.records, self.clock),
            clients=self.clients,
            records=self.records,
            secrets=self.secrets,
            clock=self.clock,
        )

    async def _note_reuse(self, _tenant: Tenant, token_set: TokenSet, /) -> None:
        self.reused.append(token_set)

    async def populate(self) -> None:
        await self.add_client(app(self.secrets))
        await self.records.of(USERS).insert(ADA)

    async def add_client(self, client: Client) -> Client:
        return await self.records.of(CLIENTS).insert(client)

    async def change_client(self, client_id: str = "app", **changes: Any) -> None:
        client = await self.records.of(CLIENTS).get(TENANT.tenant_id, client_id)
        assert client is not None
        await self.records.of(CLIENTS).replace(replace(client, **changes))

    async def change_user(self, **changes: Any) -> None:
        user = await self.records.of(USERS).get(TENANT.tenant_id, ADA.id)
        assert user is not None
        await self.records.of(USERS).replace(replace(user, **changes))

    async def code(self, **fields: Any) -> str:
        """Return an authorization code of Ada, as the authorization endpoint would issue it."""
        code = self.randomness.alphanumeric(64)
        default: dict[str, Any] = {
            "tenant_id": TENANT.tenant_id,
            "id": self.secrets.hash(code).hex(),
            "expires_at": self.clock.now() + timedelta(minutes=10),
            "client_id": ClientId("app"),
            "redirect_uri": REDIRECT_URI,
            "redeemable_until": int(self.clock.now().timestamp()) + 60,
            "authentication": SIGNED_IN,
            "oauth_scopes": ("openid", "profile", "email"),
            "nonce": "n-0S6_WzA2Mj",
            "code_challenge": challenge_of(VERIFIER),
        }
        await self.records.of(AUTHORIZATION_CODES).insert(AuthorizationCode(**default | fields))
        return code

    async def ask(self, grant_type: str, **fields: Any) -> IssuedTokens:
        request = {"tenant": TENANT, "grant_type": grant_type, "credentials": AS_APP} | fields
        return await self.pipeline.issue(TokenRequest(**request))

    async def redeem(self, code: str, **fields: Any) -> IssuedTokens:
        request = {"code": code, "redirect_uri": REDIRECT_URI, "code_verifier": VERIFIER} | fields
        return await self.ask(GrantType.AUTHORIZATION_CODE, **request)

    async def refresh(self, refresh_token: str, **fields: Any) -> IssuedTokens:
        return await self.ask(GrantType.REFRESH_TOKEN, refresh_token=refresh_token, **fields)

    async def sign_in(self, **code: Any) -> IssuedTokens:
        return await self.redeem(await self.code(**code))

    async def start_device(self, **fields: Any) -> StartedAuthorization:
        request = {"tenant": TENANT, "credentials": AS_APP, "peer_address": "203.0.113.7"} | fields
        return await self.devices.start(StartRequest(**request))

    async def poll(self, started: StartedAuthorization, **fields: Any) -> IssuedTokens:
        return await self.ask(GrantType.DEVICE_CODE, device_code=started.device_code, **fields)

    async def question(self, user_code: str, **browser: Any) -> Question:
        """Return a request of Ada, who is signed in and on our page."""
        cookie, session = await self.sessions.sign_in(
            TENANT, None, UserId(ADA.id), amr=("pwd",), acr="urn:example:pwd", peer_address="198.51.100.2"
        )
        place = {"cookie": cookie, "csrf_token": session.csrf_token, "peer_address": "198.51.100.2"}
        return Question(
            tenant=TENANT, browser=Browser(**place | browser), user_code=user_code, proof_of_work="done"
        )

    async def claims(self, token: str) -> dict[str, Any]:
        return dict(await verified(token, TENANT, self.keys))

    async def is_active(self, token: str) -> bool:
        found = await self.introspection.for_client(TENANT, AS_APP, token=token)
        return bool(found["active"])
