"""Authorization of callers with a session, an API key or an access token."""

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from gnomon.identity.v1 import browser_pb2
from gnomon.identity.v1 import caller_pb2 as pb
from identity.access.callers import Actor, ActorKind, AdministrationArea, Callers, Right
from identity.access.tokens.active import ActiveToken
from identity.access.tokens.claims_of_access_token import AccessTokenClaims
from identity.directory.client import Client
from identity.directory.labels import GROUPS, ROLES, Group, Role
from identity.directory.user import User, UserId
from identity.foundation.errors import InvalidToken
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import AuthenticationContext, Permission, TokenType
from server.platform.call import TenantId
from server.platform.errors import PermissionDenied, Unauthenticated
from tests.identity.administration.administration import ALICE, Administration
from tests.identity.browsers import ACME, ADDRESS, alice, app

DEFAULT = TenantId("default")
RIGHTS = tuple(Right)
CHANGES = tuple(right for right in Right if right is not Right.READ)


@dataclass(frozen=True)
class Key:
    name: str = "robot"

    def has(self, area: AdministrationArea, right: Right) -> bool:
        return (area, right) == (AdministrationArea.USERS, Right.CREATE)


class Keys:
    """One API key of the default tenant."""

    async def find(self, tenant: Tenant, text: str) -> Key | None:
        return Key() if (tenant.tenant_id, text) == (DEFAULT, "robot$s3cret") else None


class Tokens(dict[tuple[str, str], ActiveToken]):
    """Access tokens by issuing tenant and text."""

    async def find(self, token: str, tenant: Tenant) -> ActiveToken:
        try:
            return self[tenant.tenant_id, token]
        except KeyError:
            raise InvalidToken("none of ours") from None


class CallerWorld:
    """The authorization of callers that every servicer uses."""

    def __init__(self, administration: Administration) -> None:
        provider = administration.provider
        self.administration, self.tenants, self.tokens = administration, provider.tenants, Tokens()
        self.callers = Callers(
            *(provider.tenants, provider.sessions),
            users=provider.users,
            standings=administration.standings,
            tokens=self.tokens,
            api_keys=Keys(),
            administers=administration.administrators.makes,
            clock=provider.clock,
        )
        self.sid = ""

    async def browser(self, user: User, *, is_read: bool = False) -> pb.Caller:
        """Return the caller of a browser where the user signed in."""
        await self.administration.provider.admit(user)
        cookie, session = await self.administration.provider.sessions.sign_in(
            self.tenants.find(user.tenant_id),
            None,
            user.user_id,
            amr=("pwd",),
            acr=AuthenticationContext.PASSWORD,
            peer_address=ADDRESS,
        )
        self.sid = session.sid
        return pb.Caller(
            browser=browser_pb2.Browser(session=cookie, peer_address=ADDRESS, csrf_token=session.csrf_token),
            is_read=is_read,
        )

    async def support(self, user_id: UserId) -> pb.Caller:
        """Return the caller of a browser where a support person acts as a user, which claims to read only."""
        await self.browser(root())
        sessions, tenant = self.administration.provider.sessions, self.tenants.default
        own = await sessions.of_sid(tenant, self.sid)
        assert own is not None
        ends_at = self.administration.provider.clock.now() + timedelta(minutes=30)
        cookie, session = await sessions.impersonate(
            tenant, own, user_id, name="root@example.com", ends_at=ends_at, peer_address=ADDRESS
        )
        return pb.Caller(
            browser=browser_pb2.Browser(session=cookie, peer_address=ADDRESS, csrf_token=session.csrf_token),
            is_read=True,
        )

    def token(
        self, scope: str, *, user: User | None = None, client: Client | None = None, **claims: object
    ) -> pb.Caller:
        """Return a caller with an access token of the default tenant's provider."""
        defaults = {"iss": "", "sub": "", "aud": "", "azp": "", "iat": 0, "nbf": 0, "exp": 0, "jti": ""}
        made = AccessTokenClaims(**defaults | {"typ": TokenType.BEARER, "scope": scope} | claims)  # type: ignore[arg-type]
        self.tokens[DEFAULT, "token"] = ActiveToken(made, client or app(), user, None)
        return pb.Caller(access_token="token")

    async def expect(self, caller: pb.Caller, right: Right, tenant_id: str = "") -> Actor:
        return await self.callers.expect(
            self.tenants.find(tenant_id), caller, AdministrationArea.USERS, right
        )


@pytest.fixture
def world(administration: Administration) -> CallerWorld:
    return CallerWorld(administration)


def root(**fields: object) -> User:
    return alice(id="root", email="root@example.com", roles=("admin",), **fields)


@pytest.mark.parametrize("role", ["admin", "rauthy_admin"])
@pytest.mark.parametrize("right", RIGHTS)
async def test_an_administrator_may_all_that_there_is(world: CallerWorld, role: str, right: Right) -> None:
    caller = await world.browser(replace(root(), roles=(role,)))

    assert await world.expect(caller, right) == Actor(
        ActorKind.USER,
        "root",
        "root@example.com",
        is_administrator=True,
        session=world.sid,
        peer_address=ADDRESS,
        permissions=frozenset({Permission.IDENTITY_READ, Permission.IDENTITY_WRITE}),
        administers_deployment=True,
    )


async def test_who_may_write_may_all_that_there_is(world: CallerWorld) -> None:
    caller = await world.browser(root(permissions=(Permission.IDENTITY_WRITE,)))

    assert (await world.expect(caller, Right.DELETE)).is_administrator


async def test_who_may_by_a_role_of_a_group_may_as_well(world: CallerWorld) -> None:
    store = world.administration.store
    await store.of(ROLES).insert(
        Role(tenant_id=DEFAULT, id="1", name="owner", permissions=(Permission.IDENTITY_WRITE,))
    )
    await store.of(GROUPS).insert(Group(tenant_id=DEFAULT, id="2", name="owners", roles=("owner",)))
    caller = await world.browser(replace(root(groups=("owners",)), roles=()))

    assert (await world.expect(caller, Right.DELETE)).is_administrator


async def test_another_tenants_role_of_the_same_name_gives_nothing(world: CallerWorld) -> None:
    await world.administration.store.of(ROLES).insert(
        Role(tenant_id=DEFAULT, id="1", name="owner", permissions=(Permission.IDENTITY_WRITE,))
    )
    caller = await world.browser(replace(root(tenant_id=ACME), roles=("owner",)))

    with pytest.raises(PermissionDenied):
        await world.expect(caller, Right.READ, "acme")


@pytest.mark.parametrize("right", CHANGES)
async def test_who_may_read_only_reads(world: CallerWorld, right: Right) -> None:
    caller = await world.browser(replace(root(permissions=(Permission.IDENTITY_READ,)), roles=()))

    assert (await world.expect(caller, Right.READ)).id == "root"
    with pytest.raises(PermissionDenied):
        await world.expect(caller, right)


@pytest.mark.parametrize("right", RIGHTS)
async def test_everybody_else_may_nothing(world: CallerWorld, right: Right) -> None:
    caller = await world.browser(alice(id="bob", email="bob@example.com", roles=("clerk",)))

    with pytest.raises(PermissionDenied):
        await world.expect(caller, right)


async def test_a_page_that_is_not_ours_changes_nothing(world: CallerWorld) -> None:
    caller = await world.browser(root())
    caller.browser.csrf_token = "forged"

    with pytest.raises(Unauthenticated):
        await world.expect(caller, Right.UPDATE)


async def test_reading_needs_no_proof_of_the_page(world: CallerWorld) -> None:
    caller = await world.browser(root(), is_read=True)
    caller.browser.csrf_token = ""

    assert (await world.expect(caller, Right.READ)).id == "root"


@pytest.mark.parametrize(
    "caller", [pb.Caller(), pb.Caller(browser=browser_pb2.Browser(session="x" * 64)), pb.Caller(is_read=True)]
)
async def test_a_stranger_is_not_known(world: CallerWorld, caller: pb.Caller) -> None:
    with pytest.raises(Unauthenticated):
        await world.expect(caller, Right.READ)


async def test_whose_account_is_disabled_is_not_known(world: CallerWorld) -> None:
    caller = await world.browser(root(is_enabled=False))

    with pytest.raises(Unauthenticated):
        await world.expect(caller, Right.READ)


async def test_an_administrator_of_the_default_tenant_is_everywhere(world: CallerWorld) -> None:
    caller = await world.browser(root())

    assert (await world.expect(caller, Right.DELETE, "acme")).id == "root"


async def test_an_administrator_of_another_tenant_is_so_there_alone(world: CallerWorld) -> None:
    caller = await world.browser(root(tenant_id=ACME))

    assert (await world.expect(caller, Right.DELETE, "acme")).id == "root"
    with pytest.raises(Unauthenticated):
        await world.expect(caller, Right.READ)


async def test_who_acts_in_one_tenant_administers_no_other(world: CallerWorld) -> None:
    caller = await world.browser(root(tenant_ids=(ACME,)))

    assert (await world.expect(caller, Right.UPDATE, "acme")).id == "root"
    with pytest.raises(PermissionDenied):
        await world.expect(caller, Right.UPDATE)


async def test_people_reach_their_own_account_and_no_other(world: CallerWorld) -> None:
    bob = alice(id="bob", email="bob@example.com")
    caller = await world.browser(bob)
    tenant = world.tenants.default

    actor = await world.callers.expect_self_or(
        tenant, caller, bob.user_id, AdministrationArea.USERS, Right.UPDATE
    )

    assert actor == Actor(ActorKind.USER, "bob", "bob@example.com", session=world.sid, peer_address=ADDRESS)
    with pytest.raises(PermissionDenied):
        await world.callers.expect_self_or(tenant, caller, ALICE, AdministrationArea.USERS, Right.READ)


async def test_what_is_the_persons_alone_nobody_else_does(world: CallerWorld) -> None:
    bob, tenant = alice(id="bob", email="bob@example.com"), world.tenants.default
    hers, his = await world.browser(root()), await world.browser(bob)

    assert (await world.callers.expect_self(tenant, his, bob.user_id)).session == world.sid
    with pytest.raises(PermissionDenied):
        await world.callers.expect_self(tenant, hers, bob.user_id)


async def test_a_support_person_reads_and_changes_nothing_whatever_the_request_claims(
    world: CallerWorld,
) -> None:
    caller = await world.support(ALICE)
    tenant = world.tenants.default

    for right in (Right.CREATE, Right.UPDATE, Right.DELETE):
        with pytest.raises(PermissionDenied) as refusal:
            await world.callers.expect_self_or(tenant, caller, ALICE, AdministrationArea.USERS, right)
        assert refusal.value.metadata["cause"] == "IMPERSONATED"
    with pytest.raises(PermissionDenied) as refusal:
        await world.callers.expect_self(tenant, caller, ALICE)
    assert refusal.value.metadata["cause"] == "IMPERSONATED"

    reading = await world.callers.expect_self_or(tenant, caller, ALICE, AdministrationArea.USERS, Right.READ)
    assert reading.id == ALICE


@pytest.mark.parametrize("kind", ["api key", "access token", "forged page"])
async def test_what_is_the_persons_alone_needs_its_browser(world: CallerWorld, kind: str) -> None:
    bob = alice(id="bob", email="bob@example.com")
    browser = (await world.browser(bob)).browser
    callers = {
        "api key": pb.Caller(api_key="robot$s3cret"),
        "access token": world.token("identity:write", user=bob),
        "forged page": pb.Caller(
            browser=browser_pb2.Browser(session=browser.session, peer_address=ADDRESS, csrf_token="forged")
        ),
    }

    with pytest.raises(Unauthenticated):
        await world.callers.expect_self(world.tenants.default, callers[kind], bob.user_id)


async def test_an_id_of_another_tenant_is_somebody_else(world: CallerWorld) -> None:
    caller = await world.browser(alice(id="bob", email="bob@example.com"))

    with pytest.raises(PermissionDenied):
        await world.callers.expect_self_or(
            world.tenants.find("acme"), caller, UserId("bob"), AdministrationArea.USERS, Right.READ
        )


async def test_an_api_key_may_what_it_says(world: CallerWorld) -> None:
    caller = pb.Caller(api_key="robot$s3cret")

    assert await world.expect(caller, Right.CREATE) == Actor(ActorKind.API_KEY, "robot", "robot")
    with pytest.raises(PermissionDenied):
        await world.expect(caller, Right.READ)


@pytest.mark.parametrize(("text", "tenant_id"), [("robot$wrong", ""), ("robot$s3cret", "acme")])
async def test_an_api_key_is_its_tenants_and_has_its_secret(
    world: CallerWorld, text: str, tenant_id: str
) -> None:
    with pytest.raises(Unauthenticated):
        await world.expect(pb.Caller(api_key=text), Right.CREATE, tenant_id)


async def test_what_comes_first_counts(world: CallerWorld) -> None:
    caller = await world.browser(root())
    caller.api_key = "robot$wrong"

    with pytest.raises(Unauthenticated):
        await world.expect(caller, Right.CREATE)


@pytest.mark.parametrize(
    ("scope", "right"),
    [
        ("identity:write", Right.DELETE),
        ("identity:write", Right.READ),
        ("openid identity:read", Right.READ),
    ],
)
async def test_a_token_may_what_its_scopes_say(world: CallerWorld, scope: str, right: Right) -> None:
    assert (await world.expect(world.token(scope, user=root()), right)).id == "root"


@pytest.mark.parametrize(
    ("scope", "right"), [("identity:read", Right.UPDATE), ("openid email", Right.READ), ("", Right.READ)]
)
async def test_a_token_may_nothing_else(world: CallerWorld, scope: str, right: Right) -> None:
    with pytest.raises(PermissionDenied):
        await world.expect(world.token(scope, user=root()), right)


async def test_a_token_is_no_better_than_its_bearer(world: CallerWorld) -> None:
    with pytest.raises(PermissionDenied):
        await world.expect(world.token("identity:write", user=alice()), Right.READ)


async def test_a_client_may_what_it_was_given(world: CallerWorld) -> None:
    permissions = (Permission.IDENTITY_WRITE, Permission.JOB_WORK, Permission.HISTORY_READ)
    service = app(id="service", name="The service", permissions=permissions)

    actor = await world.expect(world.token("identity:write job:work", client=service), Right.UPDATE, "acme")

    narrowed = frozenset({Permission.IDENTITY_WRITE, Permission.JOB_WORK})
    assert actor == Actor(
        ActorKind.CLIENT, "service", "The service", permissions=narrowed, administers_deployment=True
    )
    with pytest.raises(PermissionDenied):
        await world.expect(world.token("identity:write", client=app()), Right.UPDATE)


async def test_a_client_of_one_tenant_administers_no_other(world: CallerWorld) -> None:
    service = app(permissions=(Permission.IDENTITY_WRITE,), tenant_ids=(ACME,))

    with pytest.raises(PermissionDenied):
        await world.expect(world.token("identity:write", client=service), Right.UPDATE)


async def test_a_token_that_is_bound_to_a_key_is_no_bearer_token(world: CallerWorld) -> None:
    with pytest.raises(Unauthenticated):
        await world.expect(world.token("identity:write", user=root(), typ=TokenType.DPOP), Right.READ)


async def test_a_token_of_nobody_is_not_known(world: CallerWorld) -> None:
    with pytest.raises(Unauthenticated):
        await world.expect(pb.Caller(access_token="unheard-of"), Right.READ)
