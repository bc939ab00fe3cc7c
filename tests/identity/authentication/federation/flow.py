"""Sign-in through an upstream provider with configurable responses."""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from identity.access.administrators import Administrators
from identity.access.last_administrator import LastAdministrator
from identity.access.sessions.browser import Browser
from identity.access.sign_out import SignOut
from identity.access.tokens.token_sets import TokenSets
from identity.authentication.authorization.sign_in import SignedIn
from identity.authentication.federation.accounts import UpstreamAccounts
from identity.authentication.federation.callback import UpstreamCallback
from identity.authentication.federation.hints import Hints
from identity.authentication.federation.id_token import UpstreamIdTokens
from identity.authentication.federation.linked_accounts import LinkedAccounts
from identity.authentication.federation.login import UPSTREAM_LOGINS
from identity.authentication.federation.login_redirect import Departure, UpstreamLoginRedirect
from identity.authentication.federation.pending_link import PENDING_LINKS
from identity.authentication.federation.people import UpstreamPeople
from identity.authentication.federation.requests import UpstreamRequests
from identity.authentication.federation.secrets import ProviderSecrets
from identity.authentication.federation.tokens import UpstreamTokens
from identity.authentication.passkeys.passkey import PASSKEYS
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirection import Redirection
from identity.authentication.saml.arrival import SamlArrivals
from identity.authentication.saml.keys import SamlKeys
from identity.authentication.saml.service_provider import ServiceProvider
from identity.authentication.saml.sign_in import SamlResponses
from identity.crypto.keys.master_keys import MasterKeys, new_master_key
from identity.delivery.http.documents import UnreadableDocument
from identity.delivery.http.published_keys import PublishedKeys
from identity.directory.provider import PROVIDER_LINKS, PROVIDERS
from identity.directory.provider import Provider as UpstreamProvider
from identity.directory.providers import Providers
from identity.directory.standings import Standings
from identity.directory.user import USERS
from identity.foundation.randomness import SystemRandomness
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from tests.identity.authentication.federation.upstream import (
    CLIENT_ID,
    ISSUER,
    KEYS,
    KEYS_URI,
    published,
    signed,
    upstream,
)
from tests.identity.browsers import NOON, Provider, app
from tests.identity.documents import KnownDocuments
from tests.identity.remembered_keys import RememberedKeyMaker

NOW = int(NOON.timestamp())
ACCESS_TOKEN = "access-token-of-theirs"


def at_hash(alg: str = "ES256", access_token: str = ACCESS_TOKEN) -> str:
    digest = (hashlib.sha512 if alg == "EdDSA" else hashlib.sha256)(access_token.encode()).digest()
    return base64.urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()


@dataclass
class Domains:
    """Verified domains, and the provider of each."""

    verified: dict[str, str] = field(default_factory=dict)

    async def is_of_provider(self, _tenant: Tenant, domain: str, provider_id: str) -> bool:
        return self.verified.get(domain) == provider_id


@dataclass
class Answers:
    """Responses of the upstream provider; `id_token`, if given, replaces the one made of `claims`."""

    claims: dict[str, Any] = field(default_factory=dict)
    id_token: str | None = None
    alg: str = "ES256"
    userinfo: dict[str, Any] | None = None
    forms: list[Mapping[str, str]] = field(default_factory=list)
    nonce: str = ""

    async def post(self, _uri: str, form: Mapping[str, str], /, *, authorization: str = "") -> str:
        self.forms.append({**form, "authorization": authorization})
        claims = {
            "iss": ISSUER,
            "aud": CLIENT_ID,
            "sub": "alice-there",
            "sid": "s1",
            "iat": NOW,
            "exp": NOW + 60,
            "nonce": self.nonce,
            "at_hash": at_hash(self.alg),
            "email": "alice@example.com",
            "email_verified": True,
        } | self.claims
        token = signed(claims, alg=self.alg) if self.id_token is None else self.id_token
        return msgspec.json.encode({"access_token": ACCESS_TOKEN, "id_token": token}).decode()

    async def read(self, _uri: str, /, *, authorization: str = "") -> str:
        if self.userinfo is None or authorization != f"Bearer {ACCESS_TOKEN}":
            raise UnreadableDocument
        return msgspec.json.encode(self.userinfo).decode()


class Flow:
    def __init__(self) -> None:
        self.provider = Provider()
        provider, store = self.provider, self.provider.store
        sources = {"clock": provider.clock, "randomness": provider.randomness}
        self.answers, self.domains = Answers(), Domains()
        keys = MasterKeys.read([new_master_key(SystemRandomness())], "", randomness=SystemRandomness())
        self.secrets = ProviderSecrets(store, keys)
        self.saml_keys = SamlKeys(keys, RememberedKeyMaker(), provider.clock)
        shared = {"asked": provider.asked, "providers": Providers(store), "hasher": provider.hasher}
        self.requests = UpstreamRequests(ServiceProvider(self.saml_keys), **sources)
        saml_arrivals = SamlArrivals(store)
        self.people = UpstreamPeople(
            UpstreamTokens(self.answers, self.secrets, provider.clock),
            UpstreamIdTokens(
                PublishedKeys(KnownDocuments({KEYS_URI: published(*KEYS.values())}), provider.clock),
                provider.clock,
            ),
            saml_arrivals=saml_arrivals,
            saml_responses=SamlResponses(
                self.saml_keys, SingleUse(store), events=provider.events, clock=provider.clock
            ),
        )
        self.login_redirect = UpstreamLoginRedirect(
            *(provider.sessions, provider.proof_of_work),
            hints=Hints(self.domains),
            logins=store.of(UPSTREAM_LOGINS),
            requests=self.requests,
            **shared,
            clock=provider.clock,
        )
        self.last_administrator = LastAdministrator(store, provider.tenants, provider.clock, emails=())
        self.callback = UpstreamCallback(
            *(provider.sessions, store.of(UPSTREAM_LOGINS)),
            clients=provider.clients,
            people=self.people,
            saml_arrivals=saml_arrivals,
            links=store.of(PENDING_LINKS),
            accounts=UpstreamAccounts(
                linked=LinkedAccounts(
                    users=provider.users,
                    links=store.of(PROVIDER_LINKS),
                    administers=Administrators(
                        Standings(store, provider.tenants), self.last_administrator
                    ).makes,
                    last_administrator=self.last_administrator,
                    version=provider.version,
                    sign_out=SignOut(
                        provider.termination,
                        TokenSets(store, provider.version),
                        store.of(USERS),
                        provider.clock,
                    ),
                    passkeys=store.of(PASSKEYS),
                    events=provider.events,
                    clock=provider.clock,
                ),
                domains=self.domains,
                **sources,
            ),
            sign_in_flow=provider.context.sign_in_flow,
            second_factors=provider.second_factors,
            **shared,
        )

    async def furnish(self, **fields: Any) -> None:
        await self.provider.register(app())
        await self.add(upstream(onboards=True, links=True, **fields))

    async def add(self, provider: UpstreamProvider) -> None:
        secret = self.secrets.seal("s3cret-of-ours", provider.tenant_id, provider.id)
        await self.provider.store.of(PROVIDERS).insert(replace(provider, client_secret=secret))

    async def leave(
        self, provider_id: str = "p1", *, address: str = "", **parameters: str
    ) -> tuple[dict[str, str], Browser]:
        """Return the parameters of the redirect to the provider, and the browser."""
        departure, browser = await self.departure(provider_id, address=address, **parameters)
        left = await self.login_redirect.leave(self.provider.tenant, browser, departure)
        asked = dict(left.parameters)
        self.answers.nonce = asked["nonce"]
        return asked, browser

    async def departure(
        self, provider_id: str = "p1", *, address: str = "", **parameters: str
    ) -> tuple[Departure, Browser]:
        step, browser = await self.provider.page(**parameters)
        departure = Departure(
            authorization_id=step.authorization_id,
            provider_id=provider_id,
            address=address,
            proof_of_work=self.provider.solution(),
        )
        return departure, browser

    async def arrive(self, browser: Browser, provider_id: str = "p1", **parameters: str) -> SignedIn:
        given = Parameters.of(({"code": "c1"} | parameters).items())
        arrived = await self.callback.arrive(self.provider.tenant, browser, provider_id, given)
        assert isinstance(arrived, SignedIn)
        return arrived

    async def sign_in(self) -> SignedIn:
        asked, browser = await self.leave()
        return await self.arrive(browser, state=asked["state"])


def response_target(signed_in: SignedIn) -> Redirection:
    assert isinstance(signed_in.outcome, Redirection)
    return signed_in.outcome
