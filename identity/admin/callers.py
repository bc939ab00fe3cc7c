"""Who calls an administrator's endpoint, and whether it may.

An API key counts by its own rights, an access token by its scopes within what its subject may, a browser by who has
signed in. Mapping rules are for the process API: here nobody gains by what a token says. Administrators of the default tenant are those of the whole deployment; all others are of their own tenant.
"""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from gnomon.identity.v1 import caller_pb2 as pb
from identity.clients.client import Client
from identity.directory.standing import Standing
from identity.directory.user import User, UserId
from identity.errors import InvalidToken
from identity.sessions.browser import Browser
from identity.sessions.session import Session
from identity.sessions.sessions import has_csrf
from identity.tenants import Tenant, Tenants
from identity.tokens.active import ActiveToken
from identity.vocabulary import Permission, TokenType
from server.platform.clock import Clock
from server.platform.errors import PermissionDenied, Unauthenticated


class Right(StrEnum):
    READ = "read"
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


class Area(StrEnum):
    """What an API key has rights to, as it is written in one."""

    API_KEYS = "ApiKeys"
    AUTH_PROVIDERS = "AuthProviders"
    BLACKLIST = "Blacklist"
    CLIENTS = "Clients"
    EVENTS = "Events"
    GENERIC = "Generic"
    GROUPS = "Groups"
    PAM = "Pam"
    ROLES = "Roles"
    SCOPES = "Scopes"
    SCREENS = "Screens"
    SECRETS = "Secrets"
    SESSIONS = "Sessions"
    TENANTS = "Tenants"
    USER_ATTRIBUTES = "UserAttributes"
    USERS = "Users"


class ActorKind(StrEnum):
    USER = "user"
    API_KEY = "api_key"
    CLIENT = "client"


@dataclass(frozen=True, slots=True)
class Actor:
    """Whose doing a change is; `name` is what people know it by, and an administrator may all that there is.

    `session` names the session of the browser that asks, empty without one; `peer_address` is where the request came
    from, empty where that is not known. `permissions` are its own, as far as its token goes: it gives no others. An API key
    has none. `has_shown_factor` says that the person showed a second factor in the session.
    """

    kind: ActorKind
    id: str
    name: str
    is_administrator: bool = False
    session: str = ""
    peer_address: str = ""
    permissions: frozenset[Permission] = frozenset()
    has_shown_factor: bool = False

    @property
    def is_api_key(self) -> bool:
        return self.kind is ActorKind.API_KEY


class ApiKey(Protocol):
    @property
    def name(self) -> str: ...

    def has(self, area: Area, right: Right) -> bool: ...


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

    async def expect(self, tenant: Tenant, caller: pb.Caller, area: Area, right: Right) -> Actor:
        """Return who calls; raises Unauthenticated, and PermissionDenied for one who may not."""
        if caller.api_key:
            return await self._key(tenant, caller, area, right)
        if caller.access_token:
            return await self._bearer(tenant, caller, right)
        user, session = await self._signed_in(tenant, caller)
        standing = await self._standings.of(user)
        self._expect_reach(user, standing, tenant, right)
        return _person_at(session, user, standing, caller.browser.peer_address)

    async def expect_self_or(
        self, tenant: Tenant, caller: pb.Caller, user_id: UserId, area: Area, right: Right
    ) -> Actor:
        """Return who calls: the person itself in its browser, or whoever may do so to others.

        An API key changes nothing of an administrator: neither second factors nor devices, consents, names or pictures.
        """
        if not caller.api_key and not caller.access_token:
            user, session = await self._signed_in(tenant, caller)
            if user.user_id == user_id and user.tenant_id == tenant.tenant_id:
                standing = await self._standings.of(user)
                return _person_at(session, user, standing, caller.browser.peer_address)
        actor = await self.expect(tenant, caller, area, right)
        if actor.is_api_key and area is Area.USERS and right is not Right.READ:
            await self._expect_no_administrator(tenant, user_id)
        return actor

    async def expect_self(self, tenant: Tenant, caller: pb.Caller, user_id: UserId) -> Actor:
        """Return the person itself in its browser, and nobody else."""
        if caller.api_key or caller.access_token:
            raise Unauthenticated("only the person may do this, in its browser")
        user, session = await self._signed_in(tenant, caller)
        _expect(is_allowed=user.user_id == user_id and user.tenant_id == tenant.tenant_id)
        standing = await self._standings.of(user)
        return _person_at(session, user, standing, caller.browser.peer_address)

    async def _expect_no_administrator(self, tenant: Tenant, user_id: UserId) -> None:
        user = await self._users.find(tenant, user_id)
        if user is not None and await self._administers(user):
            raise PermissionDenied("an API key neither makes administrators nor changes them")

    async def _key(self, tenant: Tenant, caller: pb.Caller, area: Area, right: Right) -> Actor:
        key = await self._api_keys.find(tenant, caller.api_key)
        if key is None:
            raise Unauthenticated("the API key is unknown or expired")
        _expect(is_allowed=key.has(area, right))
        return Actor(ActorKind.API_KEY, key.name, key.name, peer_address=caller.browser.peer_address)

    async def _bearer(self, tenant: Tenant, caller: pb.Caller, right: Right) -> Actor:
        token, peer_address = await self._token(tenant, caller.access_token), caller.browser.peer_address
        # RFC 9449 §7.1: what is bound to a key is no bearer token.
        if token.claims.typ is not TokenType.BEARER:
            raise Unauthenticated("the token was presented under another scheme than its own")
        if token.user is not None:
            standing = _narrowed(await self._standings.of(token.user), token)
            self._expect_reach(token.user, standing, tenant, right)
            return _person(token.user, standing, peer_address)
        client = token.client
        standing = _narrowed(await self._standings.of(client), token)
        self._expect_reach(client, standing, tenant, right)
        return Actor(
            ActorKind.CLIENT,
            client.id,
            client.name or client.id,
            peer_address=peer_address,
            permissions=standing.permissions,
        )

    async def _token(self, tenant: Tenant, access_token: str) -> ActiveToken:
        for issuer in self._issuers(tenant):
            try:
                return await self._tokens.find(access_token, issuer)
            except InvalidToken:
                continue
        raise Unauthenticated("the access token is none of ours, has expired or was taken back")

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
        raise Unauthenticated("nobody is signed in, or the page was not made for the session")

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

    def _expect_reach(self, holder: User | Client, standing: Standing, tenant: Tenant, right: Right) -> None:
        home, default = holder.tenant_id, self._tenants.default.tenant_id
        tenant_ids = standing.tenant_ids if holder.tenant_ids else {*standing.tenant_ids, home}
        is_within = tenant.tenant_id in tenant_ids or (home == default and default in tenant_ids)
        _expect(is_allowed=is_within and bool(_permissions(right) & standing.permissions))


def _permissions(right: Right) -> frozenset[str]:
    """What lets a token or a person do so."""
    if right is Right.READ:
        return frozenset({Permission.IDENTITY_READ, Permission.IDENTITY_WRITE})
    return frozenset({Permission.IDENTITY_WRITE})


def _narrowed(standing: Standing, token: ActiveToken) -> Standing:
    """Return it as far as the scopes of a token go."""
    granted = token.claims.oauth_scopes
    return replace(standing, permissions=frozenset(filter(granted.__contains__, standing.permissions)))


def _person_at(session: Session, user: User, standing: Standing, peer_address: str) -> Actor:
    person = _person(user, standing, peer_address)
    return replace(person, session=session.sid, has_shown_factor=session.has_shown_factor)


def _person(user: User, standing: Standing, peer_address: str) -> Actor:
    return Actor(
        ActorKind.USER,
        user.id,
        user.email,
        is_administrator=standing.administers,
        peer_address=peer_address,
        permissions=standing.permissions,
    )


def _expect(*, is_allowed: bool) -> None:
    if not is_allowed:
        raise PermissionDenied("the caller may not do this")
