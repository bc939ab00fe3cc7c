"""Users link their own accounts to upstream providers, and remove the links."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from identity.access.callers import Actor, ActorKind
from identity.access.person import Person
from identity.access.sessions.browser import Browser
from identity.access.sessions.session import SESSIONS
from identity.access.sign_out import SignOut
from identity.access.tokens.token_sets import TokenSets
from identity.authentication.federation.link_arrival import LinkArrival
from identity.authentication.federation.login import LIFETIME
from identity.authentication.federation.own_links import OwnLinks
from identity.authentication.federation.pending_link import PENDING_LINKS
from identity.authentication.reauthentication.modification_tokens import (
    MODIFICATION_TOKENS,
    ModificationTokens,
)
from identity.authentication.reauthentication.shown_factors import ShownFactors
from identity.authentication.requests.parameters import Parameters
from identity.directory.provider import PROVIDER_LINKS, PROVIDERS, ClaimMapping, ProviderLink, link_id_of
from identity.directory.providers import Providers
from identity.directory.user import USERS, AccountType, User, UserId
from identity.foundation.events.event import EVENTS
from server.platform.errors import (
    AlreadyExists,
    InvalidArgument,
    InvalidState,
    NotFound,
    PermissionDenied,
    Unauthenticated,
)
from tests.identity.authentication.federation.flow import Flow
from tests.identity.authentication.federation.upstream import upstream
from tests.identity.browsers import alice


@dataclass
class Linking:
    """Alice at her account page; `browser` and `person` are hers."""

    flow: Flow = field(default_factory=Flow)
    browser: Browser = field(init=False)
    person: Person = field(init=False)

    def __post_init__(self) -> None:
        flow, provider = self.flow, self.flow.provider
        self.tenant, self.store = provider.tenant, provider.store
        self.proofs = ModificationTokens(
            self.store.of(MODIFICATION_TOKENS),
            provider.hasher,
            shown_factors=ShownFactors(provider.users, provider.sessions),
            clock=provider.clock,
            randomness=provider.randomness,
        )
        shared: dict[str, Any] = {
            "pending": self.store.of(PENDING_LINKS),
            "links": self.store.of(PROVIDER_LINKS),
            "users": provider.users,
            "providers": Providers(self.store),
            "hasher": provider.hasher,
            "events": provider.events,
        }
        self.own = OwnLinks(
            **shared,
            passkeys=provider.passkeys,
            requests=flow.requests,
            modification_tokens=self.proofs,
            sign_out=SignOut(
                provider.termination,
                TokenSets(self.store, provider.version),
                self.store.of(USERS),
                provider.clock,
            ),
            version=provider.version,
            last_administrator=flow.last_administrator,
            clock=provider.clock,
            is_enabled=True,
        )
        self.arrival = LinkArrival(**shared, sessions=provider.sessions, people=flow.people)

    async def furnish(self, **fields: Any) -> None:
        await self.flow.furnish(**fields)
        await self.flow.provider.admit(
            alice(account_type=AccountType.PASSWORD), alice(id="bob", email="bob@example.com")
        )
        self.browser, self.person = await self.signed_in("alice")

    async def signed_in(self, user_id: str) -> tuple[Browser, Person]:
        cookie, session = await self.flow.provider.sessions.sign_in(
            self.tenant, None, UserId(user_id), amr=("pwd",), acr="level", peer_address="192.0.2.1"
        )
        browser = Browser(cookie=cookie, csrf_token=session.csrf_token, peer_address="192.0.2.1")
        actor = Actor(
            ActorKind.USER, user_id, user_id, session=session.sid, peer_address=browser.peer_address
        )
        return browser, Person(tenant=self.tenant, actor=actor)

    async def proof(self, person: Person | None = None) -> str:
        return (await self.proofs.issue(person or self.person)).token

    async def leave(self, person: Person | None = None, provider_id: str = "p1") -> dict[str, str]:
        """Return the parameters of the redirect to the provider."""
        person = person or self.person
        left = await self.own.begin(person, provider_id, modification_token=await self.proof(person))
        asked = dict(left.parameters)
        self.flow.answers.nonce = asked["nonce"]
        return asked

    async def arrive(self, browser: Browser | None = None, provider_id: str = "p1", **given: str) -> None:
        parameters = Parameters.of(({"code": "c1"} | given).items())
        await self.arrival.arrive(self.tenant, browser or self.browser, provider_id, parameters)

    async def link(self) -> None:
        asked = await self.leave()
        await self.arrive(state=asked["state"])

    async def remove(self, provider_id: str = "p1") -> None:
        await self.own.remove(self.person, provider_id, modification_token=await self.proof())

    async def linked(self) -> list[str]:
        found = await self.own.of_user(self.tenant, self.person.user_id)
        return [provider.id for provider in found.linked]

    async def user(self) -> User:
        user = await self.store.of(USERS).get(self.tenant.tenant_id, "alice")
        assert user is not None
        return user

    async def change(self, **fields: Any) -> None:
        await self.store.of(USERS).replace(replace(await self.user(), **fields))

    async def events(self) -> list[tuple[str, str | None]]:
        found = await self.store.of(EVENTS).page(self.tenant.tenant_id)
        return [(event.type.value, event.text) for event in found if event.type.value.startswith("Provider")]


@pytest.fixture
async def linking() -> Linking:
    linking = Linking()
    await linking.furnish()
    return linking


async def test_a_linked_account_signs_in_at_the_provider(linking: Linking) -> None:
    linking.flow.answers.claims = {"email": "alice@elsewhere.example"}

    await linking.link()
    signed_in = await linking.flow.sign_in()

    assert signed_in.session is not None
    assert signed_in.session.user_id == "alice"
    assert await linking.linked() == ["p1"]
    assert (await linking.user()).account_type is AccountType.FEDERATED_PASSWORD
    assert await linking.events() == [("ProviderLinked", "p1")]


async def test_the_page_offers_providers_that_sign_people_in_and_are_not_linked(linking: Linking) -> None:
    await linking.flow.add(replace(upstream(), id="p2"))
    off = upstream()
    await linking.flow.add(replace(off, id="p3", fields=replace(off.fields, is_enabled=False)))
    await linking.link()

    found = await linking.own.of_user(linking.tenant, linking.person.user_id)

    assert [provider.id for provider in found.available] == ["p2"]


async def test_a_link_needs_a_proof_that_counts_once(linking: Linking) -> None:
    token = await linking.proof()
    await linking.own.begin(linking.person, "p1", modification_token=token)

    for wrong in (token, "", "invented"):
        with pytest.raises(InvalidArgument):
            await linking.own.begin(linking.person, "p1", modification_token=wrong)


async def test_a_proof_of_another_user_opens_no_link(linking: Linking) -> None:
    _, bob = await linking.signed_in("bob")

    with pytest.raises(InvalidArgument):
        await linking.own.begin(linking.person, "p1", modification_token=await linking.proof(bob))


async def test_a_session_that_has_not_shown_the_second_factor_links_nothing(linking: Linking) -> None:
    token = await linking.proof()
    await linking.change(has_one_time_codes=True)

    with pytest.raises(PermissionDenied):
        await linking.own.begin(linking.person, "p1", modification_token=token)


@pytest.mark.parametrize("provider_id", ["p9", "off"])
async def test_only_providers_that_sign_people_in_are_linked(linking: Linking, provider_id: str) -> None:
    off = upstream()
    await linking.flow.add(replace(off, id="off", fields=replace(off.fields, is_enabled=False)))

    with pytest.raises(NotFound):
        await linking.leave(provider_id=provider_id)


async def test_the_response_counts_in_the_session_that_asked_only(linking: Linking) -> None:
    asked = await linking.leave()
    other_browser, _ = await linking.signed_in("bob")
    same_user, _ = await linking.signed_in("alice")

    for browser in (other_browser, same_user, Browser(cookie="", csrf_token="", peer_address="192.0.2.1")):
        with pytest.raises(Unauthenticated):
            await linking.arrive(browser, state=asked["state"])

    assert await linking.linked() == []
    await linking.arrive(state=asked["state"])
    assert await linking.linked() == ["p1"]


async def test_a_response_counts_once_and_for_minutes(linking: Linking) -> None:
    asked = await linking.leave()
    await linking.arrive(state=asked["state"])
    with pytest.raises(Unauthenticated):
        await linking.arrive(state=asked["state"])
    await linking.remove()

    late = await linking.leave()
    linking.flow.provider.clock.advance(LIFETIME)

    with pytest.raises(Unauthenticated):
        await linking.arrive(state=late["state"])


@pytest.mark.parametrize(
    "given", [{"iss": "https://other.example"}, {"provider_id": "p2"}, {"state": "invented"}]
)
async def test_a_response_of_another_provider_links_nothing(linking: Linking, given: dict[str, str]) -> None:
    await linking.flow.add(replace(upstream(), id="p2"))
    asked = await linking.leave()

    with pytest.raises(Unauthenticated):
        await linking.arrive(**{"state": asked["state"]} | given)

    assert await linking.linked() == []


async def test_a_response_to_a_link_signs_nobody_in(linking: Linking) -> None:
    asked = await linking.leave()
    parameters = Parameters.of({"code": "c1", "state": asked["state"]}.items())

    assert await linking.arrival.is_pending(linking.tenant, parameters)
    with pytest.raises(Unauthenticated):
        await linking.flow.callback.arrive(linking.tenant, linking.browser, "p1", parameters)


async def test_a_user_of_the_provider_is_linked_to_one_account(linking: Linking) -> None:
    bobs, bob = await linking.signed_in("bob")
    asked = await linking.leave(bob)
    await linking.arrive(bobs, state=asked["state"])

    with pytest.raises(AlreadyExists, match="another account"):
        await linking.link()

    assert await linking.linked() == []
    assert (await linking.user()).account_type is AccountType.PASSWORD


async def test_the_link_of_a_deleted_account_does_not_count(linking: Linking) -> None:
    bobs, bob = await linking.signed_in("bob")
    asked = await linking.leave(bob)
    await linking.arrive(bobs, state=asked["state"])
    await linking.store.of(USERS).take(linking.tenant.tenant_id, "bob")

    await linking.link()

    assert await linking.linked() == ["p1"]


async def test_an_account_is_linked_to_one_user_of_a_provider(linking: Linking) -> None:
    await linking.link()

    with pytest.raises(InvalidState, match="already"):
        await linking.leave()


async def test_a_user_who_declines_at_the_provider_is_told(linking: Linking) -> None:
    asked = await linking.leave()

    with pytest.raises(InvalidState, match="did not sign the user in"):
        await linking.arrive(state=asked["state"], code="", error="access_denied")


async def test_a_removed_link_signs_nobody_in(linking: Linking) -> None:
    await linking.flow.provider.store.of(PROVIDERS).replace(
        replace(provider := await provider_of(linking), fields=replace(provider.fields, links=False))
    )
    await linking.link()
    other, _ = await linking.signed_in("alice")

    await linking.remove()
    refused = await linking.flow.sign_in()

    assert refused.session is None
    assert await linking.linked() == []
    assert (await linking.user()).account_type is AccountType.PASSWORD
    assert await linking.flow.provider.session(other) is None
    assert await linking.flow.provider.session(linking.browser) is not None
    assert await linking.events() == [("ProviderLinked", "p1"), ("ProviderUnlinked", "p1")]


async def provider_of(linking: Linking) -> Any:
    provider = await linking.store.of(PROVIDERS).get(linking.tenant.tenant_id, "p1")
    assert provider is not None
    return provider


async def test_the_only_way_to_sign_in_stays(linking: Linking) -> None:
    await linking.link()
    await linking.change(password_hash="", account_type=AccountType.FEDERATED)
    token = await linking.proof()

    with pytest.raises(InvalidState, match="no other way"):
        await linking.own.remove(linking.person, "p1", modification_token=token)

    assert await linking.linked() == ["p1"]
    assert await linking.store.of(SESSIONS).page(linking.tenant.tenant_id)


@pytest.mark.parametrize(("is_enabled", "is_removed"), [(True, True), (False, False)])
async def test_another_provider_is_a_way_to_sign_in_while_it_is_enabled(
    linking: Linking, *, is_enabled: bool, is_removed: bool
) -> None:
    other = upstream()
    other = replace(other, id="p2", fields=replace(other.fields, is_enabled=is_enabled))
    await linking.flow.add(other)
    await linking.link()
    await linking.store.of(PROVIDER_LINKS).insert(
        ProviderLink(
            tenant_id=linking.tenant.tenant_id,
            id=link_id_of(other, "alice-there"),
            provider_id="p2",
            user_id="alice",
        )
    )
    await linking.change(password_hash="", account_type=AccountType.FEDERATED)

    try:
        await linking.remove()
    except InvalidState:
        assert not is_removed
    assert ("p1" not in await linking.linked()) == is_removed
    assert (await linking.user()).account_type is AccountType.FEDERATED


async def test_what_is_not_linked_is_not_removed(linking: Linking) -> None:
    with pytest.raises(NotFound):
        await linking.remove()


async def test_roles_and_groups_of_the_provider_end_with_the_link() -> None:
    linking = Linking()
    mapping = ClaimMapping(claim="c", value="v", roles=("clerk",), groups=("staff",))
    await linking.furnish(mappings=(mapping,))
    await linking.link()
    await linking.change(roles=("own", "clerk"), groups=("staff", "club"))

    await linking.remove()

    assert ((await linking.user()).roles, (await linking.user()).groups) == (("own",), ("club",))


async def test_the_last_administrator_keeps_the_link_that_makes_one() -> None:
    linking = Linking()
    mapping = ClaimMapping(claim="c", value="v", roles=("admin",))
    await linking.furnish(mappings=(mapping,))
    await linking.link()
    await linking.change(roles=("admin",))

    with pytest.raises(InvalidState, match="first make another person an administrator"):
        await linking.remove()

    assert (await linking.user()).roles == ("admin",)
    assert await linking.linked() == ["p1"]


async def test_a_sign_in_takes_no_role_from_the_last_administrator() -> None:
    linking = Linking()
    mapping = ClaimMapping(claim="c", value="v", roles=("admin",))
    await linking.furnish(mappings=(mapping,))
    await linking.link()
    await linking.change(roles=("admin",))

    await linking.flow.sign_in()
    kept = (await linking.user()).roles
    await linking.flow.provider.users.replace(
        replace(await linking.flow.provider.users.find(linking.tenant, UserId("bob")), roles=("admin",))
    )
    await linking.flow.sign_in()

    assert (kept, (await linking.user()).roles) == (("admin",), ())
