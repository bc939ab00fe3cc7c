"""Authentication and authorization of callers of the administration API.

An API key has its own rights. An access token has the permissions of its subject, limited to its scopes. A browser has
the permissions of the signed-in user. Mapping rules apply to the process API only, so claims of a token give no
permissions here. Administrators of the default tenant administer the whole deployment; all others administer their own
tenant.
"""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from gnomon.identity.v1 import caller_pb2 as pb
from identity.access.sessions.browser import Browser
from identity.access.sessions.session import Session
from identity.access.sessions.sessions import expect_own, has_csrf, impersonated
from identity.access.tokens.active import ActiveToken
from identity.directory.client import Client
from identity.directory.holdings import Standing
from identity.directory.user import User, UserId
from identity.foundation.errors import InvalidToken
from identity.foundation.tenants import Tenant, Tenants
from identity.foundation.vocabulary import Permission
from server.platform.call import Grant, TenantId
from server.platform.clock import Clock
from server.platform.errors import PermissionDenied, Unauthenticated


class Right(StrEnum):
    READ = "read"
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


class AdministrationArea(StrEnum):
    """A group of resources that API keys have rights to, as spelled in a key."""

    API_KEYS = "ApiKeys"
    AUTH_PROVIDERS = "AuthProviders"
    BLACKLIST = "Blacklist"
    CLIENTS = "Clients"
    EVENTS = "Events"
    GENERIC = "Generic"
    GROUPS = "Groups"
    PAM = "Pam"
    PERSONAL_DATA = "PersonalData"
    PROVISIONING = "Provisioning"
    ROLES = "Roles"
    SCOPES = "Scopes"
    SCREENS = "Screens"
    SECRETS = "Secrets"
    SESSIONS = "Sessions"
    TENANTS = "Tenants"
    TERMS_OF_USE = "TermsOfUse"
    USER_ATTRIBUTES = "UserAttributes"
    USERS = "Users"
    WEBHOOKS = "Webhooks"


class ActorKind(StrEnum):
    USER = "user"
    API_KEY = "api_key"
    CLIENT = "client"


@dataclass(frozen=True, slots=True)
class Actor:
    """The caller that makes a change; `name` is shown to people. An administrator has all permissions.

    `administers_deployment` is true for principals of the default tenant with `identity:write` who may act there.

    `session` is the `sid` of the calling browser's session, and empty without one. `peer_address` is the caller's
    network address, and empty when unknown. `permissions` are those of the caller, limited to the scopes of its token;
    the caller can pass on no others. An API key has none. `tenant_ids` and `grants` are the tenants in which a caller
    of the process API may act, and what authorizations give it there. `has_shown_factor` is true when the user showed a
    second factor in the session. `is_impersonated` is true in a session in which a support person acts as the user.
    """

    kind: ActorKind
    id: str
    name: str
    is_administrator: bool = False
    session: str = ""
    peer_address: str = ""
    permissions: frozenset[Permission] = frozenset()
    tenant_ids: frozenset[TenantId] = frozenset()
    grants: frozenset[Grant] = frozenset()
    has_shown_factor: bool = False
    administers_deployment: bool = False
    is_impersonated: bool = False

    @property
    def is_api_key(self) -> bool:
        return self.kind is ActorKind.API_KEY


class ApiKey(Protocol):
    @property
    def name(self) -> str: ...

    def has(self, area: AdministrationArea, right: Right) -> bool: ...


class ApiKeys(Protocol):
    async def find(self, tenant: Tenant, text: str) -> ApiKey | None: ...


class Sessions(Protocol):
    async def find(self, tenant: Tenant, cookie: str, peer_address: str) -> Session | None: ...


class Users(Protocol):
    async def find(self, tenant: Tenant, user_id: UserId) -> User | None: ...


class Standings(Protocol):
    async def of(self, holder: User | Client) -> Standing: ...


class Tokens(Protocol):
    async def find(self, token: str, tenant: Tenant) -> ActiveToken: ...


class Callers:
    def __init__(
        self,
        tenants: Tenants,
        sessions: Sessions,
        *,
        users: Users,
        standings: Standings,
        tokens: Tokens,
        api_keys: ApiKeys,
        administers: Callable[[User], Awaitable[bool]],
        clock: Clock,
    ) -> None:
        self._tenants = tenants
        self._sessions = sessions
        self._users = users
        self._standings = standings
        self._tokens = tokens
        self._api_keys = api_keys
        self._administers = administers
        self._clock = clock

    async def expect(
        self, tenant: Tenant, caller: pb.Caller, area: AdministrationArea, right: Right
    ) -> Actor:
        """Return the caller; raises Unauthenticated, and PermissionDenied when the caller lacks the right."""
        if caller.api_key:
            return await self._key(tenant, caller, area, right)
        if caller.access_token:
            return await self._bearer(tenant, caller, right)
        user, session = await self._signed_in(tenant, caller)
        expect_own(session)
        standing = await self._standings.of(user)
        self._expect_reach(user, standing, tenant, right)
        return self._person_at(session, user, standing, caller.browser.peer_address)

    async def expect_self_or(
        self, tenant: Tenant, caller: pb.Caller, user_id: UserId, area: AdministrationArea, right: Right
    ) -> Actor:
        """Return the caller: the user in a browser, or another caller with this right.

        An API key cannot change second factors, devices, consents, names or pictures of an administrator. A support
        person who acts as the user only reads.
        """
        if not caller.api_key and not caller.access_token:
            user, session = await self._signed_in(tenant, caller)
            if user.user_id == user_id and user.tenant_id == tenant.tenant_id:
                # Whether the request reads is what the caller claims, the right is what the contract declares.
                if right is not Right.READ:
                    expect_own(session)
                standing = await self._standings.of(user)
                return self._person_at(session, user, standing, caller.browser.peer_address)
        actor = await self.expect(tenant, caller, area, right)
        if actor.is_api_key and area is AdministrationArea.USERS and right is not Right.READ:
            await self._expect_no_administrator(tenant, user_id)
        return actor

    async def expect_self(self, tenant: Tenant, caller: pb.Caller, user_id: UserId) -> Actor:
        """Return the caller if it is this user in a browser; raises Unauthenticated or PermissionDenied otherwise.

        A support person who acts as the user is refused.
        """
        if caller.api_key or caller.access_token:
            raise Unauthenticated("only the user can do this, in a browser")
        user, session = await self._signed_in(tenant, caller)
        _expect(is_allowed=user.user_id == user_id and user.tenant_id == tenant.tenant_id)
        expect_own(session)
        standing = await self._standings.of(user)
        return self._person_at(session, user, standing, caller.browser.peer_address)

    async def _expect_no_administrator(self, tenant: Tenant, user_id: UserId) -> None:
        user = await self._users.find(tenant, user_id)
        if user is not None and await self._administers(user):
            raise PermissionDenied("an API key cannot create or change administrators")

    async def _key(self, tenant: Tenant, caller: pb.Caller, area: AdministrationArea, right: Right) -> Actor:
        key = await self._api_keys.find(tenant, caller.api_key)
        if key is None:
            raise Unauthenticated("the API key is unknown or expired")
        _expect(is_allowed=key.has(area, right))
        return Actor(ActorKind.API_KEY, key.name, key.name, peer_address=caller.browser.peer_address)

    async def _bearer(self, tenant: Tenant, caller: pb.Caller, right: Right) -> Actor:
        token, peer_address = await self._token(tenant, caller.access_token), caller.browser.peer_address
        # RFC 9449 §7.1, RFC 8705 §3: a token that is bound to a key must not be presented as a bearer token.
        if not token.claims.is_bearer:
            raise Unauthenticated("the token was presented without the proof that it is bound to")
        if token.is_impersonated:
            raise impersonated()
        if token.user is not None:
            standing = _narrowed(await self._standings.of(token.user), token)
            self._expect_reach(token.user, standing, tenant, right)
            return self._person(token.user, standing, peer_address)
        client = token.client
        standing = _narrowed(await self._standings.of(client), token)
        self._expect_reach(client, standing, tenant, right)
        return Actor(
            ActorKind.CLIENT,
            client.id,
            client.name or client.id,
            peer_address=peer_address,
            permissions=standing.permissions,
            administers_deployment=self._administers_deployment(client, standing),
        )

    async def _token(self, tenant: Tenant, access_token: str) -> ActiveToken:
        for issuer in self._issuers(tenant):
            try:
                return await self._tokens.find(access_token, issuer)
            except InvalidToken:
                continue
        raise Unauthenticated("the access token is invalid, expired or revoked")

    async def _signed_in(self, tenant: Tenant, caller: pb.Caller) -> tuple[User, Session]:
        browser = Browser(
            cookie=caller.browser.session,
            csrf_token=caller.browser.csrf_token,
            peer_address=caller.browser.peer_address,
        )
        for issuer in self._issuers(tenant):
            found = await self._behind(issuer, browser, is_read=caller.is_read)
            if found is not None:
                return found
        raise Unauthenticated("no user is signed in, or the CSRF token is wrong")

    async def _behind(
        self, tenant: Tenant, browser: Browser, *, is_read: bool
    ) -> tuple[User, Session] | None:
        session = await self._sessions.find(tenant, browser.cookie, browser.peer_address)
        if session is None or session.authentication is None:
            return None
        if not is_read and not has_csrf(session, browser.csrf_token):
            return None
        user = await self._users.find(tenant, UserId(session.user_id))
        return (user, session) if user is not None and user.is_active(self._clock.now()) else None

    def _issuers(self, tenant: Tenant) -> Collection[Tenant]:
        return (tenant,) if tenant == self._tenants.default else (tenant, self._tenants.default)

    def _person_at(self, session: Session, user: User, standing: Standing, peer_address: str) -> Actor:
        person = self._person(user, standing, peer_address)
        return replace(
            person,
            session=session.sid,
            has_shown_factor=session.has_shown_factor,
            is_impersonated=session.is_impersonated,
        )

    def _person(self, user: User, standing: Standing, peer_address: str) -> Actor:
        return Actor(
            ActorKind.USER,
            user.id,
            user.email,
            is_administrator=standing.administers,
            peer_address=peer_address,
            permissions=standing.permissions,
            administers_deployment=self._administers_deployment(user, standing),
        )

    def _administers_deployment(self, holder: User | Client, standing: Standing) -> bool:
        default = self._tenants.default.tenant_id
        is_within = not holder.tenant_ids or default in standing.tenant_ids
        return standing.administers and holder.tenant_id == default and is_within

    def _expect_reach(self, holder: User | Client, standing: Standing, tenant: Tenant, right: Right) -> None:
        home, default = holder.tenant_id, self._tenants.default.tenant_id
        tenant_ids = standing.tenant_ids if holder.tenant_ids else {*standing.tenant_ids, home}
        is_within = tenant.tenant_id in tenant_ids or (home == default and default in tenant_ids)
        _expect(is_allowed=is_within and bool(_permissions(right) & standing.permissions))


def _permissions(right: Right) -> frozenset[str]:
    """Return the permissions of which a token or a user needs one."""
    if right is Right.READ:
        return frozenset({Permission.IDENTITY_READ, Permission.IDENTITY_WRITE})
    return frozenset({Permission.IDENTITY_WRITE})


def _narrowed(standing: Standing, token: ActiveToken) -> Standing:
    """Return the standing with only those permissions that are scopes of the token."""
    granted = token.claims.oauth_scopes
    return replace(standing, permissions=frozenset(filter(granted.__contains__, standing.permissions)))


def _expect(*, is_allowed: bool) -> None:
    if not is_allowed:
        raise PermissionDenied("the caller may not do this")
