"""Users and groups of a tenant are written to SCIM applications in order, completely, and no tenant waits for another."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from identity.clients.scim_applications.administration import (
    ScimState,
)
from identity.clients.scim_applications.application import (
    SCIM_APPLICATIONS,
    SCIM_RESOURCES,
)
from identity.clients.scim_applications.tokens import ScimTokens
from identity.clients.scim_applications.visit import COMPARES_EVERY
from identity.clients.scim_applications.writer import MOST_REFUSALS, RETRIES_AFTER
from identity.crypto.keys.master_keys import MasterKeys
from identity.delivery.subscribers import DISABLED_AFTER, LOOKED_AT_EVERY
from identity.directory.client import CLIENTS
from identity.directory.labels import GROUPS
from identity.directory.user import USERS, User
from identity.foundation.events.event import EVENTS
from identity.foundation.events.kinds import EventType, Level
from identity.foundation.events.news import SETTLES_IN
from identity.foundation.vocabulary import SubjectType
from server.platform.errors import InvalidArgument, NotFound
from tests.identity.administration.administration import ROOT as ADMINISTRATOR
from tests.identity.browsers import NOON, CountedRandomness
from tests.identity.clients.scim_applications.fake_service import FakeService
from tests.identity.clients.scim_applications.world import (
    ACME,
    BASE,
    FIELDS,
    OTHER_BASE,
    UMBRELLA,
    World,
    in_memory,
)
from tests.waits import ticks, until


async def test_users_are_created_changed_disabled_and_deleted(world: World) -> None:
    anna = await world.user("anna", given_name="Anna", family_name="Smith", language="de")
    await world.application()
    await world.passes(timedelta(seconds=20))
    [created] = world.service.resources.values()
    remote_id = created["id"]
    assert created == {
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
        "id": remote_id,
        "externalId": anna.id,
        "userName": "anna@example.com",
        "name": {"givenName": "Anna", "familyName": "Smith", "formatted": "Anna Smith"},
        "displayName": "Anna Smith",
        "preferredLanguage": "de",
        "active": True,
        "emails": [{"value": "anna@example.com", "type": "work", "primary": True}],
    }

    await world.change(anna, given_name="Ann")
    await world.settles()
    assert world.service.resources[remote_id]["name"]["givenName"] == "Ann"

    await world.change(anna, is_enabled=False)
    await world.settles()
    assert world.service.resources[remote_id]["active"] is False

    await world.delete(anna)
    await world.settles()
    assert world.service.resources == {}
    assert world.service.requests == [
        ("POST", "Users"),
        ("PUT", "Users"),
        ("PUT", "Users"),
        ("DELETE", "Users"),
    ]


async def test_nothing_is_lost_while_the_service_is_down_for_an_hour_and_the_order_stays(
    world: World,
) -> None:
    anna = await world.user("anna")
    bob = await world.user("bob")
    await world.application()
    await world.application(tenant=UMBRELLA, base_uri=OTHER_BASE)
    await world.settles()
    world.service.status = 503
    before = len(world.service.requests)

    await world.change(anna, given_name="Ann")
    await world.delete(bob)
    for number in range(25):
        await world.user(f"user-{number:02}")
        await world.user(f"other-{number:02}", UMBRELLA)
        await world.passes(timedelta(minutes=2), step=timedelta(minutes=1))
    failing = await world.status()
    assert (failing.state, failing.application.last_error) == (ScimState.FAILING, "HTTP 503")
    assert failing.pending >= 25
    assert len(world.service.requests) - before < 15
    assert len(world.other.names()) == 25

    world.service.status = 0
    after = len(world.service.requests)
    await world.passes(timedelta(minutes=90), step=timedelta(minutes=1))

    assert world.names() == sorted(["anna@example.com", *(f"user-{n:02}@example.com" for n in range(25))])
    assert world.service.names()["anna@example.com"]["name"]["givenName"] == "Ann"
    assert [method for method, _ in world.service.requests[after:]] == ["PUT", "DELETE", *["POST"] * 25]
    there = await world.status()
    assert (there.state, there.pending, there.refused) == (ScimState.SYNCHRONIZED, 0, 0)
    assert there.application.succeeded_at is not None


async def test_a_service_that_asks_for_a_pause_gets_it(world: World) -> None:
    await world.user("anna")
    world.service.status, world.service.retry_after = 429, timedelta(minutes=30)
    await world.application()
    await world.passes(timedelta(seconds=20))

    await world.passes(timedelta(minutes=29))
    assert len(world.service.requests) == 1
    world.service.status = 0
    await world.passes(timedelta(minutes=2))

    assert world.names() == ["anna@example.com"]


async def test_ten_thousand_users_are_compared_in_pages_and_each_is_written_once() -> None:
    world = in_memory()
    users = [
        User(tenant_id=ACME.tenant_id, id=f"id-{number:05}", email=f"u{number:05}@example.com")
        for number in range(10_000)
    ]
    await world.store.of(USERS).insert_all(users)
    await world.application()

    visits = 0
    while (await world.status()).state is ScimState.SYNCHRONIZING:
        visits += 1
        await world.passes(timedelta(seconds=2), step=timedelta(seconds=2))
        if visits == 10:
            # Another process continues where the first one ended.
            world.synchronization = world.process()
    assert (visits, len(world.service.resources), len(world.service.requests)) == (21, 10_000, 10_000)

    await world.passes(COMPARES_EVERY * 2, step=timedelta(minutes=1))
    assert len(world.service.requests) == 10_000


async def test_a_visit_ends_after_twenty_seconds_and_the_next_one_continues() -> None:
    world = in_memory()
    for number in range(50):
        await world.user(f"user-{number:02}", says=False)
    await world.application()

    async def takes_three_seconds() -> None:
        world.clock.advance(timedelta(seconds=3))

    world.services.before = takes_three_seconds
    written = []
    for _ in range(8):
        await world.visits()
        written.append(len(world.service.resources))

    assert written == [7, 14, 21, 28, 35, 42, 49, 50]
    assert len(world.service.requests) == 50


async def test_a_comparison_finds_changes_without_events(world: World) -> None:
    anna, bob = await world.user("anna"), await world.user("bob")
    clara = await world.user("clara", valid_until=NOON + timedelta(minutes=30))
    await world.application()
    await world.settles()
    await world.change(anna, says=False, given_name="Ann")
    await world.delete(bob, says=False)
    await world.user("dora", says=False)

    await world.passes(COMPARES_EVERY + LOOKED_AT_EVERY, step=timedelta(minutes=1))

    assert world.names() == ["anna@example.com", "clara@example.com", "dora@example.com"]
    assert world.service.names()["anna@example.com"]["name"]["givenName"] == "Ann"
    assert world.service.names()["clara@example.com"]["active"] is False
    assert clara.is_enabled


async def test_a_user_that_the_service_refuses_holds_no_other_user(world: World) -> None:
    world.service.refused["bob@example.com"] = 400
    for name in ("anna", "bob", "clara"):
        await world.user(name)
    await world.application()
    await world.settles()
    assert world.names() == ["anna@example.com", "clara@example.com"]
    refused = await world.status()
    assert (refused.state, refused.refused) == (ScimState.SYNCHRONIZED, 1)
    [refusal] = refused.refusals
    assert (refusal.local_id, refusal.error) == ("id-bob", "HTTP 400 invalidValue")
    requests = len(world.service.requests)
    await world.passes(RETRIES_AFTER / 2)
    assert len(world.service.requests) == requests

    world.service.refused.clear()
    await world.passes(COMPARES_EVERY * 2, step=timedelta(minutes=1))

    assert world.names() == ["anna@example.com", "bob@example.com", "clara@example.com"]
    assert (await world.status()).refused == 0


async def test_many_refusals_in_a_row_slow_the_application_down_and_do_not_stop_it(world: World) -> None:
    for number in range(50):
        await world.user(f"a{number:02}", says=False)
        world.service.refused[f"a{number:02}@example.com"] = 403
    await world.user("z", says=False)
    await world.application()

    await world.passes(timedelta(seconds=2), step=timedelta(seconds=2))
    assert len(world.service.requests) == MOST_REFUSALS
    assert (await world.status()).state is ScimState.FAILING
    await world.passes(timedelta(minutes=5))

    assert world.names() == ["z@example.com"]
    assert (await world.status()).refused == 50


async def test_an_account_that_is_there_is_adopted_by_external_id_or_by_name(world: World) -> None:
    for document in (
        {"id": "r-a", "userName": "anna@example.com", "externalId": "id-anna", "title": "Dr"},
        {"id": "r-b", "userName": "bob@example.com"},
        {"id": "r-c", "userName": "other@example.com"},
    ):
        world.service.keep("Users", document)
    world.service.ignores_filters = True
    for name in ("anna", "bob", "clara"):
        await world.user(name)
    await world.application()
    await world.settles()

    assert {each["id"]: each.get("externalId") for each in world.service.resources.values()} == {
        "r-a": "id-anna",
        "r-b": "id-bob",
        "r-c": None,
        world.service.names()["clara@example.com"]["id"]: "id-clara",
    }


async def test_an_account_of_another_user_is_not_adopted(world: World) -> None:
    anna = await world.user("anna")
    await world.application()
    await world.settles()
    # The event of the first change is lost, so the service still has the name.
    await world.change(anna, says=False, email="ann@example.com")
    bob = await world.user("bob", says=False)
    await world.change(bob, email="anna@example.com")
    await world.settles()
    assert [each["externalId"] for each in world.service.resources.values()] == [anna.id]
    assert [refusal.local_id for refusal in (await world.status()).refusals] == [bob.id]

    await world.passes(COMPARES_EVERY * 2, step=timedelta(minutes=1))

    assert {name: each["externalId"] for name, each in world.service.names().items()} == {
        "ann@example.com": anna.id,
        "anna@example.com": bob.id,
    }


async def test_a_user_that_the_service_has_lost_is_created_again(world: World) -> None:
    anna = await world.user("anna")
    await world.application()
    await world.settles()
    world.service.resources.clear()

    await world.change(anna, given_name="Ann")
    await world.settles()

    assert world.names() == ["anna@example.com"]


async def test_only_users_of_the_client_with_a_confirmed_address_are_written(world: World) -> None:
    await world.client("app", restrict_group_prefix="app:")
    await world.user("anna", groups=("app:users",))
    await world.user("bob", groups=("other",))
    clara = await world.user("clara", groups=("app:users",), is_self_registered=True)
    await world.user("dora", UMBRELLA, groups=("app:users",))
    await world.user("emil", groups=("app:users",), is_enabled=False)
    await world.application()
    await world.settles()
    assert world.names() == ["anna@example.com"]

    await world.change(clara, is_email_verified=True)
    await world.settles()
    assert world.names() == ["anna@example.com", "clara@example.com"]

    await world.change(clara, groups=())
    await world.settles()
    assert world.service.names()["clara@example.com"]["active"] is False


async def test_a_client_with_pairwise_subjects_gets_these(world: World) -> None:
    await world.client(
        "app", subject_type=SubjectType.PAIRWISE, redirect_uris=("https://app.example.com/cb",)
    )
    anna = await world.user("anna")
    await world.application()

    await world.settles()

    assert anna.id not in str(world.service.resources)


async def test_groups_are_written_with_their_members(world: World) -> None:
    staff, _ = await world.group("staff"), await world.group("board", display_name="The board")
    anna = await world.user("anna", groups=("staff", "board"))
    bob = await world.user("bob", groups=("staff",))
    await world.application(sync_groups=True)
    await world.settles()
    assert world.service.members("staff") == {"anna@example.com", "bob@example.com"}
    assert world.service.members("The board") == {"anna@example.com"}
    assert world.service.requests.count(("PATCH", "Groups")) == 2

    await world.change(anna, groups=("board",))
    await world.change(bob, groups=("staff", "board"))
    await world.settles()
    assert world.service.members("staff") == {"bob@example.com"}
    assert world.service.members("The board") == {"anna@example.com", "bob@example.com"}

    await world.store.of(GROUPS).replace(replace(staff, name="employees"))
    await world.change(bob, groups=("employees", "board"), says=False)
    await world.events.emit(ACME.tenant_id, EventType.CHANGED, text="group employees")
    await world.settles()
    assert world.service.members("employees") == {"bob@example.com"}

    await world.store.of(GROUPS).take(ACME.tenant_id, staff.id)
    await world.change(bob, groups=("board",), says=False)
    await world.events.emit(ACME.tenant_id, EventType.DELETED, text="group employees")
    await world.settles()
    assert sorted(world.service.names("Groups")) == ["The board"]
    assert (await world.status()).state is ScimState.SYNCHRONIZED


async def test_a_prefix_selects_groups_and_their_users(world: World) -> None:
    for name in ("app:admins", "staff"):
        await world.group(name)
    await world.user("anna", groups=("app:admins", "staff"))
    await world.user("bob", groups=("staff",))

    await world.application(sync_groups=True, group_sync_prefix="app:")
    await world.settles()

    assert sorted(world.service.names("Groups")) == ["app:admins"]
    assert world.names() == ["anna@example.com"]
    assert world.service.members("app:admins") == {"anna@example.com"}


async def test_a_group_that_the_service_has_lost_gets_its_members_again(world: World) -> None:
    await world.group("staff")
    await world.user("anna", groups=("staff",))
    bob = await world.user("bob", groups=("staff",))
    await world.application(sync_groups=True)
    await world.settles()
    del world.service.resources[world.service.names("Groups")["staff"]["id"]]

    await world.change(bob, groups=())
    await world.passes(COMPARES_EVERY * 2, step=timedelta(minutes=1))

    assert world.service.members("staff") == {"anna@example.com"}


async def test_a_service_without_changes_of_members_gets_the_users_and_few_requests(world: World) -> None:
    world.service.lacks_patch = True
    await world.group("staff")
    for number in range(100):
        await world.user(f"user-{number:02}", groups=("staff",))
    await world.application(sync_groups=True)
    await world.passes(COMPARES_EVERY * 3, step=timedelta(minutes=1))
    assert len(world.names()) == 100
    assert world.service.requests.count(("PATCH", "Groups")) <= 4
    refused = await world.status()
    assert (refused.state, refused.refusals[0].error) == (ScimState.SYNCHRONIZED, "HTTP 501")

    world.service.lacks_patch = False
    await world.passes(COMPARES_EVERY * 2, step=timedelta(minutes=1))
    assert len(world.service.members("staff")) == 100
    assert (await world.status()).refused == 0


async def test_an_application_that_fails_for_days_is_disabled_and_completes_when_enabled(
    world: World,
) -> None:
    await world.application()
    await world.settles()
    world.service.status = 500
    await world.user("anna")

    await world.passes(DISABLED_AFTER + timedelta(hours=3), step=timedelta(minutes=30))

    assert (await world.status()).state is ScimState.DISABLED
    events = await world.store.of(EVENTS).page(ACME.tenant_id, most=1000)
    assert [event.level for event in events if event.text and "disabled" in event.text] == [Level.CRITICAL]
    requests = len(world.service.requests)
    await world.passes(timedelta(days=31), step=timedelta(hours=12))
    assert len(world.service.requests) == requests

    world.service.status = 0
    await world.application()
    await world.passes(timedelta(minutes=5))
    assert world.names() == ["anna@example.com"]


SLOW = 20


async def test_all_of_many_applications_get_a_new_user_though_a_pass_takes_few() -> None:
    world = in_memory()
    many = range(250)
    for number in many:
        world.services.services = {f"{BASE}/{number:03}": FakeService(), **world.services.services}
        await world.application(f"app-{number}", base_uri=f"{BASE}/{number:03}")
    passes = [await world.visits() for _ in range(4)]
    await world.user("anna")
    world.clock.advance(SETTLES_IN + timedelta(seconds=1))

    passes += [await world.visits() for _ in range(4)]

    assert passes == [100, 100, 50, 0, 100, 100, 50, 0]
    assert all(
        world.services.services[f"{BASE}/{number:03}"].names().keys() == {"anna@example.com"}
        for number in many
    )


async def test_slow_services_hold_no_other_tenant() -> None:
    world = in_memory()
    for number in range(SLOW):
        base = f"{BASE}/{number}"
        world.services.services = {base: FakeService(is_hanging=True), **world.services.services}
        await world.application(f"app-{number}", base_uri=base)
    await world.user("anna", says=False)
    await world.application(tenant=UMBRELLA, base_uri=OTHER_BASE)

    async def pause(seconds: float) -> None:
        world.clock.advance(timedelta(seconds=seconds))
        await ticks(20)

    def is_written(name: str) -> bool:
        return name in world.other.names()

    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(world.synchronization.run(lambda: (ACME, UMBRELLA), pause))
        for number in range(5):
            await world.user(f"u{number}", UMBRELLA)
            await until(partial(is_written, f"u{number}@example.com"))
        running.cancel()

    assert sum(len(each.requests) for each in world.services.services.values() if each.is_hanging) == SLOW


async def test_two_processes_write_each_user_once(world: World) -> None:
    for number in range(10):
        await world.user(f"user-{number}")
    await world.application()
    other, [(tenant, application)] = world.process(), await world.due()

    await asyncio.gather(world.synchronization.visit(tenant, application), other.visit(tenant, application))

    assert (len(world.service.resources), len(world.service.requests)) == (10, 10)


async def test_an_interrupted_visit_leaves_no_second_account(world: World) -> None:
    await world.user("anna")
    await world.application()
    [(tenant, application)] = await world.due()

    async def is_interrupted() -> None:
        raise asyncio.CancelledError

    world.services.after = is_interrupted
    with pytest.raises(asyncio.CancelledError):
        await world.synchronization.visit(tenant, application)
    world.services.after = None
    await world.passes(timedelta(minutes=5))

    assert world.names() == ["anna@example.com"]
    assert (await world.status()).refused == 0


async def test_a_removed_application_is_forgotten_and_the_service_keeps_its_users(world: World) -> None:
    await world.user("anna")
    await world.application()
    await world.settles()

    await world.administration.delete(ACME, "app", actor=ADMINISTRATOR)
    await world.user("bob")
    await world.passes(timedelta(minutes=10))

    assert world.names() == ["anna@example.com"]
    assert await world.store.of(SCIM_RESOURCES).page(ACME.tenant_id) == []
    with pytest.raises(NotFound):
        await world.status()


async def test_an_application_that_is_removed_during_a_visit_leaves_nothing(world: World) -> None:
    await world.user("anna")
    await world.user("bob")
    await world.application()
    [(tenant, application)] = await world.due()

    async def is_removed() -> None:
        world.services.before = None
        await world.administration.delete(ACME, "app", actor=ADMINISTRATOR)

    world.services.before = is_removed
    await world.synchronization.visit(tenant, application)

    assert await world.store.of(SCIM_RESOURCES).page(ACME.tenant_id) == []


async def test_settings_that_change_during_a_visit_apply_to_the_next_one(world: World) -> None:
    await world.user("anna")
    await world.application()
    [(tenant, application)] = await world.due()

    async def changes() -> None:
        world.services.before = None
        changed = await world.application(bearer_token="", sync_groups=True)
        assert changed.state is ScimState.SYNCHRONIZING

    await world.group("staff")
    world.services.before = changes
    await world.synchronization.visit(tenant, application)
    assert await world.due() == []
    await world.passes(timedelta(minutes=3))

    assert sorted(world.service.names("Groups")) == ["staff"]
    assert world.service.requests == [("POST", "Users"), ("POST", "Groups")]


async def test_an_application_without_its_client_is_removed(world: World) -> None:
    await world.user("anna")
    await world.application()
    await world.settles()
    await world.store.of(CLIENTS).take(ACME.tenant_id, "app")

    await world.passes(timedelta(minutes=10))

    assert await world.store.of(SCIM_APPLICATIONS).page(ACME.tenant_id) == []
    assert await world.store.of(SCIM_RESOURCES).page(ACME.tenant_id) == []
    assert len(world.service.requests) == 1


async def test_another_address_needs_the_token_and_gets_all_users(world: World) -> None:
    await world.user("anna")
    await world.application()
    await world.settles()
    with pytest.raises(InvalidArgument, match="bearer_token"):
        await world.application(base_uri=OTHER_BASE, bearer_token="")

    await world.application(base_uri=OTHER_BASE)
    await world.settles()
    assert list(world.other.names()) == ["anna@example.com"]
    assert len(await world.store.of(SCIM_RESOURCES).page(ACME.tenant_id)) == 1

    world.other.token = "rotated"
    await world.application(base_uri=OTHER_BASE, bearer_token="rotated")
    await world.user("bob")
    await world.settles()
    assert sorted(world.other.names()) == ["anna@example.com", "bob@example.com"]


async def test_the_token_is_stored_encrypted(world: World) -> None:
    await world.application(bearer_token="s3cret-t0ken")

    [application] = await world.store.of(SCIM_APPLICATIONS).page(ACME.tenant_id)

    assert b"s3cret-t0ken" not in application.bearer_token.content
    assert "s3cret-t0ken" not in repr(application)
    assert world.tokens.open(application) == "s3cret-t0ken"


async def test_the_token_gets_under_another_master_key(world: World) -> None:
    await world.application(bearer_token="s3cret-t0ken")
    keys = MasterKeys({"one": b"1" * 32, "two": b"2" * 32}, "two", randomness=CountedRandomness())
    tokens = ScimTokens(world.store, keys)

    await tokens.reseal(ACME.tenant_id)

    [application] = await world.store.of(SCIM_APPLICATIONS).page(ACME.tenant_id)
    assert application.bearer_token.key_id == "two"
    assert tokens.open(application) == "s3cret-t0ken"


async def test_two_thousand_events_are_handled_in_two_visits(world: World) -> None:
    anna = await world.user("anna")
    await world.application()
    await world.settles()
    for _ in range(1999):
        await world.says(anna, EventType.LOGIN_SUCCEEDED)
    await world.change(anna, given_name="Ann")
    world.clock.advance(SETTLES_IN * 2)

    await world.visits()
    await world.visits()

    assert (await world.status()).pending == 0
    assert world.service.names()["anna@example.com"]["name"]["givenName"] == "Ann"


async def test_events_that_change_no_account_hold_no_change_up() -> None:
    world = in_memory()
    anna = await world.user("anna")
    await world.application()
    await world.settles()
    for _ in range(5000):
        await world.says(anna, EventType.TOKEN_ISSUED)
    await world.change(anna, given_name="Ann")
    world.clock.advance(SETTLES_IN * 2)

    await world.visits()

    assert (await world.status()).pending == 0
    assert world.service.names()["anna@example.com"]["name"]["givenName"] == "Ann"


async def test_an_application_of_a_disabled_client_waits(world: World) -> None:
    await world.client("app", is_enabled=False)
    await world.user("anna")
    await world.application()

    await world.passes(timedelta(minutes=10))
    assert world.service.requests == []
    client = await world.store.of(CLIENTS).get(ACME.tenant_id, "app")
    assert client is not None
    await world.store.of(CLIENTS).replace(replace(client, is_enabled=True))
    await world.passes(timedelta(minutes=6))

    assert world.names() == ["anna@example.com"]


@pytest.mark.parametrize(
    "base_uri",
    [
        "http://app.example.com/scim",
        "https://10.0.0.1/scim",
        "https://127.0.0.1/scim",
        "http://localhost:8080/scim",
        "https://[::ffff:169.254.169.254]/scim",
        "https://user:password@app.example.com/scim",
        "https://app.example.com/scim?tenant=1",
        "https://app.example.com/scim#1",
        "ftp://app.example.com/",
        "not an address",
        "",
    ],
)
async def test_addresses_that_the_server_must_not_connect_to_are_refused(base_uri: str) -> None:
    world = in_memory()

    with pytest.raises(InvalidArgument, match="base_uri"):
        await world.application(base_uri=base_uri)


async def test_applications_belong_to_clients_and_have_readable_tokens(world: World) -> None:
    with pytest.raises(NotFound):
        await world.administration.put(ACME, "nobody", FIELDS, actor=ADMINISTRATOR)
    for token in ("", "two words", "new\nline", "ümlaut"):
        with pytest.raises(InvalidArgument, match="bearer_token"):
            await world.application(bearer_token=token)
