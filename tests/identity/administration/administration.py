"""The administration over records in memory, with a fixed clock."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TypeVar

from identity.access.administrators import Administrators
from identity.access.callers import Actor, ActorKind
from identity.access.device import DEVICES, Device
from identity.access.last_administrator import LastAdministrator
from identity.access.sessions.logout_config import LogoutConfig
from identity.access.sessions.logout_records import BACK_CHANNEL_LOGOUTS, BackChannelLogout
from identity.access.sessions.session import SESSIONS, Authentication, Session
from identity.access.sessions.session_end import SessionTermination
from identity.access.sign_out import SignOut
from identity.access.tokens.token_set import TOKEN_SETS, TokenSet
from identity.access.tokens.token_sets import TokenSets
from identity.administration.sessions import SessionAdministration
from identity.directory.authorization_details.detail_types import DetailTypes
from identity.directory.client import CLIENTS, Client, ClientId
from identity.directory.config import UsersConfig
from identity.directory.labels import GROUPS, ROLES, SCOPE_DEFINITIONS, USER_ATTRIBUTES, Label
from identity.directory.links.links import Links
from identity.directory.password_rules.breach_list import NoBreachList
from identity.directory.standings import Standings
from identity.directory.tenants.password_policies import PasswordPolicies
from identity.directory.tenants.tenant_record import TENANTS
from identity.directory.user import USERS, User, UserId
from identity.foundation.events.config import EventsConfig
from identity.foundation.events.event import EVENTS, Event
from identity.foundation.events.events import Events
from identity.foundation.randomness import Randomness
from identity.foundation.removals import Removals
from identity.foundation.vocabulary import AuthenticationContext, Permission
from identity.people import names
from identity.people.account.password_choice import PasswordChoice
from identity.people.holders import (
    Holders,
    PeopleWithAttributes,
    ScopesWithAttributes,
    holders_of_groups,
    holders_of_roles,
    holders_of_scopes,
)
from identity.people.labels import Labels
from identity.people.notices.places import SIGN_IN_PLACES, KnownPlaces
from identity.people.reset.config import PasswordResetConfig
from identity.people.reset.link_mails import WelcomeMails
from identity.people.reset.magic_links import MagicLinks
from identity.people.user_attributes import UserAttributes
from identity.people.users import UserAdministration
from identity.protocol.consents import ConsentAdministration
from identity.protocol.devices.administration import DeviceAdministration
from identity.protocol.unredeemed_codes import UnredeemedCodes
from identity.records import KINDS
from server.platform.clock import Clock
from server.platform.records import Kind, RecordStore
from server.platform.records.memory import MemoryRecordStore
from tests.identity.browsers import ADDRESS, NOON, Provider
from tests.identity.mailbox import Mailbox

ROOT = Actor(
    ActorKind.USER, "root", "root@example.com", is_administrator=True, permissions=frozenset(Permission)
)
KEY = Actor(ActorKind.API_KEY, "robot", "robot")
ALICE = UserId("alice")

L = TypeVar("L", bound=Label)


class Administration:
    """Administration of the default tenant."""

    def __init__(
        self,
        store_at: Callable[[Clock], RecordStore] = MemoryRecordStore,
        randomness: Randomness | None = None,
    ) -> None:
        provider = Provider(store_at=store_at, randomness=randomness)
        self.provider = provider
        self.tenant, self.store, self.clock = provider.tenant, provider.store, provider.clock
        sources = {"clock": provider.clock, "randomness": provider.randomness}
        self.version = provider.version
        token_sets = TokenSets(self.store, self.version)
        self.told = Events(self.store, EventsConfig().levels, **sources)
        termination = SessionTermination(
            *(provider.sessions, provider.clients, token_sets),
            queue=self.store.of(BACK_CHANNEL_LOGOUTS),
            config=LogoutConfig(),
            events=self.told,
            **sources,
        )
        users = self.store.of(USERS)
        sign_out = SignOut(termination, token_sets, users, provider.clock)
        self.sign_out = sign_out
        self.mail = Mailbox(provider.clock)
        self.links = Links(self.store, provider.hasher, **sources)
        self.places = KnownPlaces(self.store.of(SIGN_IN_PLACES))
        self.magic_links = MagicLinks(
            links=self.links,
            users=provider.users,
            targets=provider.targets,
            hasher=provider.hasher,
            config=PasswordResetConfig(),
            **sources,
        )
        self.removals = Removals(self.store, KINDS, **sources)
        self.standings = Standings(self.store, provider.tenants)
        last = LastAdministrator(self.store, provider.tenants, provider.clock, emails=())
        self.administrators = Administrators(self.standings, last)
        self.groups = self._labels("group", GROUPS, holders_of_groups(self.store))
        self.roles = self._labels("role", ROLES, holders_of_roles(self.store), built_in=("admin",))
        self.scopes = self._labels(
            "scope",
            SCOPE_DEFINITIONS,
            holders_of_scopes(self.store),
            built_in=("openid",),
        )
        self.policies = PasswordPolicies(self.store.of(TENANTS), self.told)
        self.password_choice = PasswordChoice(
            self.policies, provider.passwords, provider.clock, breach_list=NoBreachList()
        )
        self.users = UserAdministration(
            users=users,
            welcome=WelcomeMails(magic_links=self.magic_links, mail=self.mail),
            roles=self.roles,
            groups=self.groups,
            administrators=self.administrators,
            tenants=provider.tenants,
            removals=self.removals,
            version=self.version,
            password_choice=self.password_choice,
            reserved_usernames=UsersConfig().preferred_username_blacklist,
            sign_out=sign_out,
            events=self.told,
            **sources,
        )
        self.attributes = UserAttributes(
            attributes=self.store.of(USER_ATTRIBUTES),
            users=users,
            holders=(
                PeopleWithAttributes(users),
                ScopesWithAttributes(self.store.of(SCOPE_DEFINITIONS)),
            ),
            administrators=self.administrators,
            events=self.told,
            clock=provider.clock,
        )
        self.sessions = SessionAdministration(
            self.store.of(SESSIONS), users, termination=termination, sign_out=sign_out, events=self.told
        )
        self.consents = ConsentAdministration(
            provider.consents,
            provider.clients,
            details=DetailTypes(self.store),
            codes=UnredeemedCodes(self.store),
            token_sets=token_sets,
            events=self.told,
        )
        self.devices = DeviceAdministration(self.store.of(DEVICES), token_sets, self.told)

    async def user(self, user_id: str = ALICE) -> User:
        return await self.users.get(self.tenant, UserId(user_id))

    async def sign_in(self, user_id: str = ALICE, *clients: str) -> Session:
        """Create a browser session of a user, with tokens for clients."""
        _, session = await self.provider.sessions.sign_in(
            self.tenant,
            None,
            UserId(user_id),
            amr=("pwd",),
            acr=AuthenticationContext.PASSWORD,
            peer_address=ADDRESS,
        )
        for client_id in clients:
            session = await self.provider.sessions.note_client(session, ClientId(client_id))
        return await self.kept(session)

    async def kept(self, session: Session) -> Session:
        """Return the session's record, which has no CSRF token."""
        found = await self.provider.store.of(SESSIONS).get(session.tenant_id, session.id)
        assert found is not None
        return found

    async def grant(self, user_id: str = ALICE, *, client_id: str = "app", **fields: str) -> TokenSet:
        """Create a token set that outlives all sessions."""
        number = self.provider.randomness.alphanumeric(8)
        authentication = Authentication(
            user_id=UserId(user_id), at=NOON, amr=("pwd",), acr=AuthenticationContext.PASSWORD
        )
        return await self.store.of(TOKEN_SETS).insert(
            TokenSet(
                tenant_id=self.tenant.tenant_id,
                id=number,
                expires_at=NOON + timedelta(hours=1),
                client_id=ClientId(client_id),
                authentication=authentication,
                oauth_scopes=("openid",),
                user_id=user_id,
                ends_at=NOON + timedelta(days=1),
                refresh_token_hash="hash",
                **fields,
            )
        )

    async def device(self, device_id: str, user_id: str = ALICE) -> Device:
        return await self.store.of(DEVICES).insert(
            Device(
                tenant_id=self.tenant.tenant_id,
                id=device_id,
                user_id=user_id,
                client_id=ClientId("app"),
                name=device_id,
                peer_address=ADDRESS,
                created_at=NOON,
            )
        )

    async def client(self, client_id: str = "app") -> Client:
        found = await self.store.of(CLIENTS).get(self.tenant.tenant_id, client_id)
        assert found is not None
        return found

    async def live_sessions(self) -> Sequence[Session]:
        return await self.store.of(SESSIONS).page(self.tenant.tenant_id)

    async def live_token_sets(self) -> Sequence[TokenSet]:
        return await self.store.of(TOKEN_SETS).page(self.tenant.tenant_id)

    async def logouts(self) -> Sequence[BackChannelLogout]:
        """Return the queued logout tokens."""
        return await self.store.of(BACK_CHANNEL_LOGOUTS).page(self.tenant.tenant_id)

    async def events(self) -> Sequence[Event]:
        return await self.store.of(EVENTS).page(self.tenant.tenant_id)

    async def told_of(self) -> set[tuple[str, str | None]]:
        return {(event.type.value, event.text) for event in await self.events()}

    def _labels(
        self, noun: str, kind: Kind[L], holders: Holders, *, built_in: tuple[str, ...] = ()
    ) -> Labels[L]:
        return Labels(
            noun,
            self.store,
            kind,
            checked=names.group if noun == "group" else names.label,
            built_in=built_in,
            holders=holders,
            administrators=self.administrators,
            removals=self.removals,
            version=self.version,
            events=self.told,
            randomness=self.provider.randomness,
        )
