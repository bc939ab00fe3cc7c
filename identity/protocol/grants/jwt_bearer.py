"""The JWT bearer grant: a client redeems an assertion of an upstream provider about one of its users, RFC 7523 §2.1.

The upstream providers of a tenant are the trusted issuers, and links to accounts map subjects to users: an
assertion has the same meaning as a sign-in at the provider. A client redeems assertions of the providers in its
`assertion_providers`. A token never outlives its assertion, and there is neither an ID token nor a refresh token.
"""

from datetime import UTC, datetime, timedelta

from identity.access.client_authentication.config import ClientAuthenticationConfig
from identity.access.sessions.session import Authentication
from identity.authentication.authorization.session_check import refusal_of
from identity.authentication.federation.claims import authentication_of, person_of
from identity.authentication.federation.id_token import is_name
from identity.crypto.signed_jwt import CLIENT_ALGORITHMS, MalformedJwt, SignedJwt, parse
from identity.delivery.http.published_keys import PublishedKeys
from identity.directory.client import Client
from identity.directory.consents.consent import CONSENTS, pair_of
from identity.directory.oauth_scopes import Extent, extent_of
from identity.directory.provider import PROVIDER_LINKS, PROVIDERS, Provider, link_id_of
from identity.directory.user import USERS, User, UserId
from identity.foundation.errors import InvalidGrant, InvalidRequest, UnauthorizedClient
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import ConsentMode, GrantType, Scope
from identity.protocol.grants.grant import Authorization, TokenRequest
from server.platform.clock import Clock
from server.platform.records import RecordStore

MAX_LIFETIME = timedelta(hours=1)

_SKEW = timedelta(seconds=5)
_MAX_JTI_LENGTH = 256

# RFC 8725 §3.11: access tokens and logout tokens of the provider have other types.
_TYPES = frozenset({"", "jwt"})

# These scopes lead to an ID token and to a refresh token.
_LEFT_OUT = frozenset({Scope.OPENID, Scope.OFFLINE_ACCESS})


class JwtBearerGrant:
    grant_type = GrantType.JWT_BEARER

    def __init__(
        self,
        records: RecordStore,
        keys: PublishedKeys,
        *,
        single_use: SingleUse,
        clock: Clock,
        config: ClientAuthenticationConfig,
    ) -> None:
        self._providers = records.of(PROVIDERS)
        self._links = records.of(PROVIDER_LINKS)
        self._users = records.of(USERS)
        self._consents = records.of(CONSENTS)
        self._keys = keys
        self._single_use = single_use
        self._clock = clock
        self._config = config

    async def authorize(self, request: TokenRequest, client: Client) -> Authorization:
        if client.is_public:
            raise UnauthorizedClient("a public client cannot redeem assertions")
        if not request.assertion:
            raise InvalidRequest("assertion is missing")
        jwt = _parsed(request.assertion)
        provider = await self._issuer(request.tenant, client, jwt)
        expires_at = self._checked_expiry(jwt)
        self._expect_audience(jwt, request.tenant)
        _expect_ours(jwt, client)
        if not await self._is_signed(jwt, provider):
            raise InvalidGrant("the signature of the assertion is invalid")
        user = await self._user(request.tenant, provider, jwt)
        authentication = self._authentication(jwt, provider, user)
        if refusal := refusal_of(client, user, authentication.amr):
            raise InvalidGrant(refusal.detail)

        async def redeem(_token_set_id: str) -> None:
            jti = f"{provider.id} {jwt.text('jti')}"
            until = datetime.fromtimestamp(expires_at, UTC) + _SKEW
            if not await self._single_use.spend(request.tenant, "JWT bearer assertion", jti, until=until):
                raise InvalidGrant("the assertion was used before")

        return Authorization(
            subject=user.user_id,
            oauth_scopes=await self._scopes(request.tenant, client, user),
            resources=Extent(widest=client.allowed_resources),
            authentication=authentication,
            dpop_jkt=_bound_key(jwt),
            ends_at=expires_at,
            is_renewable=False,
            redeem=redeem,
        )

    async def _issuer(self, tenant: Tenant, client: Client, jwt: SignedJwt) -> Provider:
        """Return the enabled provider that issued the assertion, if the client names it."""
        for provider_id in client.assertion_providers:
            provider = await self._providers.get(tenant.tenant_id, provider_id)
            if provider is None or provider.fields.saml is not None or not provider.signs_people_in:
                continue
            if provider.fields.issuer == jwt.text("iss"):
                return provider
        raise InvalidGrant("the client may not redeem assertions of this issuer")

    def _checked_expiry(self, jwt: SignedJwt) -> int:
        """Return the expiry in Unix seconds; raises InvalidGrant for an assertion that is not valid now."""
        expires, now = jwt.time("exp"), self._clock.now()
        # Without tolerance: the token ends with the assertion.
        if expires is None or expires <= now.timestamp() + 1:
            raise InvalidGrant("the assertion is expired, or lacks exp")
        if expires > (now + MAX_LIFETIME + _SKEW).timestamp():
            raise InvalidGrant(f"the assertion has to expire within {MAX_LIFETIME.seconds} seconds")
        if not jwt.has_begun((now + _SKEW).timestamp()):
            raise InvalidGrant("the assertion is not valid yet")
        return int(expires)

    def _expect_audience(self, jwt: SignedJwt, tenant: Tenant) -> None:
        audience = jwt.claims.get("aud")
        # Another party among the audiences could present the assertion here.
        is_one = not isinstance(audience, list) or len(audience) == 1
        endpoints = (f"{tenant.issuer}oidc/token",)
        if not is_one or not self._config.accepts(audience, tenant.issuer, endpoints=endpoints):
            raise InvalidGrant("the audience of the assertion has to be this issuer alone")

    async def _is_signed(self, jwt: SignedJwt, provider: Provider) -> bool:
        kid, typ = jwt.header.get("kid", ""), jwt.header.get("typ", "")
        if not isinstance(kid, str) or not isinstance(typ, str) or typ.lower() not in _TYPES:
            return False
        keys = await self._keys.at(provider.fields.jwks_endpoint, kid=kid)
        return any(jwt.is_signed_by(key, CLIENT_ALGORITHMS) for key in keys)

    async def _user(self, tenant: Tenant, provider: Provider, jwt: SignedJwt) -> User:
        link = await self._links.get(tenant.tenant_id, link_id_of(provider, jwt.text("sub")))
        user = None if link is None else await self._users.get(tenant.tenant_id, link.user_id)
        if user is None:
            raise InvalidGrant("no account is linked to the subject of the assertion")
        return user

    def _authentication(self, jwt: SignedJwt, provider: Provider, user: User) -> Authentication:
        amr, acr = authentication_of(person_of(jwt.claims, provider.fields))
        now = self._clock.now().timestamp()

        def past(time: float) -> datetime:
            return datetime.fromtimestamp(min(max(0, time), now), UTC)

        issued_at = jwt.time("iat") or now
        return Authentication(
            user_id=UserId(user.id),
            at=past(jwt.time("auth_time") or issued_at),
            amr=amr,
            acr=acr,
            since=past(issued_at),
        )

    async def _scopes(self, tenant: Tenant, client: Client, user: User) -> Extent:
        """Return the client's scopes about users, which the user granted if the client needs consent."""
        extent = extent_of(client, without_defaults=())
        left_out: set[str] = set(_LEFT_OUT)
        if client.consent is not ConsentMode.NEVER:
            pair = pair_of(user.user_id, client.client_id)
            found = await self._consents.find(tenant.tenant_id, "pair", pair, most=1)
            if not found or client.consent is ConsentMode.ALWAYS:
                raise InvalidGrant("the user has not consented to this client")
            left_out |= set(client.oauth_scopes) - set(found[0].terms.oauth_scopes)
        given, widest, added = (
            tuple(scope for scope in scopes if scope not in left_out)
            for scopes in (extent.given, client.oauth_scopes, extent.added)
        )
        return Extent(given, widest, added)


def _parsed(assertion: str) -> SignedJwt:
    try:
        return parse(assertion)
    except MalformedJwt as error:
        raise InvalidGrant("the assertion is not a signed JWT") from error


def _expect_ours(jwt: SignedJwt, client: Client) -> None:
    """Expect an assertion about somebody, for this client if it names one."""
    parties = {str(jwt.claims[name]) for name in ("azp", "client_id") if name in jwt.claims}
    if not parties <= {client.client_id}:
        raise InvalidGrant("the assertion is for another client")
    if not 0 < len(jwt.text("jti")) <= _MAX_JTI_LENGTH or not is_name(jwt.claims.get("sub")):
        raise InvalidGrant(f"the assertion needs sub, and a jti of at most {_MAX_JTI_LENGTH} characters")


def _bound_key(jwt: SignedJwt) -> str:
    """Return the key that the presenter must prove: RFC 7800 §3; empty for none."""
    confirmation = jwt.claims.get("cnf")
    if confirmation is None:
        return ""
    if not isinstance(confirmation, dict) or confirmation.keys() != {"jkt"}:
        raise InvalidGrant("the assertion is bound to a key in a way that is not supported")
    return str(confirmation["jkt"])
