"""Requests for password reset links, and the mails that follow."""

from dataclasses import replace
from datetime import timedelta

import pytest

from identity.directory.client import Registration
from identity.directory.links.link import LINKS, Usage
from identity.directory.user import AccountType
from identity.foundation.events.kinds import EventType
from identity.people.reset.link_mails import ExpiredPasswords, WelcomeMails
from identity.people.reset.magic_links import ShownLink
from identity.people.reset.requests import RequestedReset
from identity.people.user_changes import UserChange
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied
from tests.identity.administration.administration import ALICE, ROOT
from tests.identity.browsers import ACME, CALLBACK, NOON, app
from tests.identity.mailbox import link_in
from tests.identity.people.reset.resets import NEW_ACCOUNT, Company, Resets


async def carry(resets: Resets) -> None:
    """Handle the queued requests, as the loop does."""
    for request in await resets.queued():
        assert await resets.reset_mails.handle(resets.tenant, request)


@pytest.mark.parametrize("email", ["alice@example.com", "nobody@example.com"])
async def test_every_address_is_queued_alike(resets: Resets, email: str) -> None:
    await resets.ask(email)

    (queued,) = await resets.queued()
    assert (queued.email, queued.redirect_uri, queued.next_at) == (email, "", NOON)
    assert resets.mail.letters == []
    assert list(await resets.store.of(LINKS).page(resets.tenant.tenant_id)) == []


async def test_who_has_the_account_is_sent_a_link(resets: Resets) -> None:
    await resets.ask("Alice@Example.com")

    await carry(resets)

    (letter,) = resets.mail.letters
    assert letter.to == "alice@example.com"
    assert "expires at 1 January 2030, 12:30 UTC" in letter.text
    prefix, _, code = link_in(letter.text).rpartition("/")
    assert prefix == "https://id.example.com/auth/v1/users/alice/reset"
    assert len(code) == 64


async def test_nobody_else_is_written_to(resets: Resets) -> None:
    await resets.ask("nobody@example.com")
    await resets.change(is_enabled=False)
    await resets.ask()

    await carry(resets)

    assert resets.mail.letters == []


async def test_an_address_is_written_to_seldom(resets: Resets) -> None:
    for _ in range(3):
        await resets.ask()
    await carry(resets)
    resets.clock.advance(timedelta(minutes=5))
    await resets.ask()

    await carry(resets)

    good = [
        link
        for link in await resets.store.of(LINKS).page(resets.tenant.tenant_id)
        if link.is_good(resets.clock.now())
    ]
    assert len(resets.mail.letters) == 2
    assert len(good) == 2


@pytest.mark.parametrize("account_type", [AccountType.FEDERATED, AccountType.FEDERATED_PASSKEY])
async def test_who_signs_in_by_a_provider_is_told_so(resets: Resets, account_type: AccountType) -> None:
    await resets.change(account_type=account_type)
    await resets.ask()

    await carry(resets)

    assert resets.mail.link() == "https://id.example.com/auth/v1/sign-in"


@pytest.mark.parametrize("email", ["", "alice", "alice@example.com@example.org", "<a@example.com>"])
async def test_what_is_no_address_is_refused(resets: Resets, email: str) -> None:
    with pytest.raises(InvalidArgument):
        await resets.ask(email)


async def test_a_proof_of_work_is_asked_for_and_good_once(resets: Resets) -> None:
    requested, solution = RequestedReset(email="alice@example.com"), resets.provider.solution()
    await resets.requests.ask(resets.tenant, requested, proof_of_work=solution)

    for wrong, refusal in (
        ("", InvalidArgument),
        ("nonsense", PermissionDenied),
        (resets.provider.solution(resets.provider.tenants.find(ACME)), PermissionDenied),
        (solution, NotFound),
    ):
        with pytest.raises(refusal):
            await resets.requests.ask(resets.tenant, requested, proof_of_work=wrong)

    assert len(await resets.queued()) == 1


async def test_where_nobody_is_written_to_nobody_asks(resets: Resets) -> None:
    resets.mail.is_open = False

    with pytest.raises(NotFound):
        await resets.ask()


@pytest.mark.parametrize("email", ["alice@example.com", "nobody@example.com"])
async def test_who_a_provider_signs_in_is_told_so_with_or_without_an_account(
    resets: Resets, email: str
) -> None:
    resets.companies.providers["example.com"] = Company()

    with pytest.raises(PermissionDenied) as refused:
        await resets.ask(email)

    assert (refused.value.metadata["cause"], refused.value.metadata["provider"]) == (
        "COMPANY_SIGN_IN",
        "Corp",
    )
    assert refused.value.metadata["email"] == email
    assert await resets.queued() == []


async def test_the_person_goes_on_where_it_came_from(resets: Resets) -> None:
    await resets.provider.register(app(client_uri="https://app.example.com/"))

    await resets.ask(client_id="app")
    await resets.ask(client_id="app", redirect_uri=CALLBACK)

    assert {queued.redirect_uri for queued in await resets.queued()} == {"https://app.example.com/", CALLBACK}


@pytest.mark.parametrize(
    "fields",
    [
        {"client_uri": "javascript:alert(1)"},
        {
            "client_uri": "https://evil.example.com/",
            "registration": Registration(token_hash=b"hash", issued_at=0),
        },
    ],
    ids=["nowhere on the web", "registered by a stranger"],
)
async def test_a_client_that_nobody_vouches_for_leads_to_the_entry_page(
    resets: Resets, fields: dict[str, object]
) -> None:
    await resets.provider.register(app(**fields))

    await resets.ask(client_id="app")

    assert [queued.redirect_uri for queued in await resets.queued()] == [""]


@pytest.mark.parametrize(
    "fields",
    [
        {"redirect_uri": CALLBACK},
        {"client_id": "unheard-of"},
        {"client_id": "unheard-of", "redirect_uri": CALLBACK},
        {"client_id": "app", "redirect_uri": "https://evil.example.com/"},
        {"client_id": "app", "redirect_uri": f"{CALLBACK}/more"},
        {"client_id": "app", "redirect_uri": "/"},
        {"client_id": "native", "redirect_uri": "javascript:alert(1)"},
        {"client_id": "gone"},
    ],
    ids=str,
)
async def test_nobody_is_led_to_where_a_stranger_wants(resets: Resets, fields: dict[str, str]) -> None:
    native = app(id="native", redirect_uris=("javascript:alert(1)",))
    await resets.provider.register(app(), native, app(id="gone", is_enabled=False))

    with pytest.raises(InvalidArgument):
        await resets.ask(**fields)

    assert await resets.queued() == []


async def test_a_link_leads_on_where_it_was_asked_for(resets: Resets) -> None:
    await resets.provider.register(app())
    await resets.ask(client_id="app", redirect_uri=CALLBACK)
    await carry(resets)
    code = resets.mail.link().rpartition("/")[2]

    location = await resets.set_password(await resets.open(ShownLink(user_id=ALICE, code=code)))

    assert location == CALLBACK


async def test_who_is_made_an_account_without_a_password_is_sent_a_first_link(resets: Resets) -> None:
    made = await resets.users.create(resets.tenant, UserChange(email="bob@example.com"), ROOT)

    (letter,) = resets.mail.letters
    assert letter.to == "bob@example.com"
    assert "expires at 4 January 2030, 12:00 UTC" in letter.text
    (link,) = await resets.store.of(LINKS).page(resets.tenant.tenant_id)
    assert (link.user_id, link.usage) == (made.id, Usage.NEW_ACCOUNT)


async def test_a_first_link_follows_an_address_that_was_mended(resets: Resets) -> None:
    made = await resets.users.create(resets.tenant, UserChange(email="bbo@example.com"), ROOT)
    wrong = ShownLink(user_id=made.user_id, code=resets.mail.link().rpartition("/")[2])

    mended = UserChange(email="bob@example.com")
    await resets.users.update(resets.tenant, made.user_id, mended, actor=ROOT)

    assert [letter.to for letter in resets.mail.letters] == ["bbo@example.com", "bob@example.com"]
    with pytest.raises(InvalidArgument):
        await resets.magic_links.open(resets.tenant, wrong)
    await resets.open(replace(wrong, code=resets.mail.link().rpartition("/")[2]))


async def test_who_is_made_an_account_with_a_password_is_sent_none(resets: Resets) -> None:
    change = UserChange(email="bob@example.com", password="correct horse battery staple")

    await resets.users.create(resets.tenant, change, ROOT)

    assert resets.mail.letters == []


async def test_without_mail_an_account_is_made_all_the_same(resets: Resets) -> None:
    resets.mail.is_open = False

    await resets.users.create(resets.tenant, UserChange(email="bob@example.com"), ROOT)

    assert list(await resets.store.of(LINKS).page(resets.tenant.tenant_id)) == []


async def test_at_a_company_domain_a_new_account_is_sent_to_the_companys_sign_in(resets: Resets) -> None:
    resets.companies.providers["example.com"] = Company()
    await resets.change(**NEW_ACCOUNT)

    await WelcomeMails(magic_links=resets.magic_links, mail=resets.mail).greet(
        resets.tenant, await resets.user()
    )

    assert resets.mail.link() == "https://id.example.com/auth/v1/sign-in"
    assert list(await resets.store.of(LINKS).page(resets.tenant.tenant_id)) == []


async def test_whose_password_has_expired_is_sent_a_link(resets: Resets) -> None:
    resets.told.listen(ExpiredPasswords(tenants=resets.provider.tenants, reset_mails=resets.reset_mails))
    refused = {"event_type": EventType.LOGIN_REFUSED, "user_id": ALICE}
    await resets.told.emit(resets.tenant.tenant_id, text="EMAIL_NOT_CONFIRMED", **refused)
    assert resets.mail.letters == []

    await resets.told.emit(resets.tenant.tenant_id, text="PASSWORD_EXPIRED", **refused)

    assert [letter.to for letter in resets.mail.letters] == ["alice@example.com"]
