"""The step that asks for the e-mail address before the password."""

from collections.abc import Awaitable

import pytest

from identity.access.sessions.browser import Browser
from identity.authentication.authorization.asked import Reference
from identity.authentication.authorization.email_step import EmailStep, Routed
from identity.authentication.authorization.start import SignInStep
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirection import Redirection
from identity.directory.tenants.sign_in_domain import Target, TargetType
from identity.directory.tenants.sign_in_targets import SignInTargets
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied, Unauthenticated
from tests.identity.administration.tenants.domains import DEFAULT, Domains, among, at_provider
from tests.identity.administration.tenants.domains import Provider as Upstream
from tests.identity.browsers import Provider, alice, app, calls

NO_PARAMETERS = Parameters(())


@pytest.fixture
async def provider() -> Provider:
    """A provider whose default tenant has example.com, where alice has her account."""
    provider = Provider()
    await provider.register(app())
    await provider.admit(alice())
    domains = Domains(provider.store)
    await domains.keep_tenants()
    await domains.verified(DEFAULT, "example.com")
    return provider


def submitted(
    provider: Provider,
    step: SignInStep,
    browser: Browser,
    *,
    email: str = "alice@example.com",
    proof_of_work: str | None = None,
) -> Awaitable[Routed]:
    return provider.email_step.submit(
        provider.tenant,
        browser,
        Reference(authorization_id=step.authorization_id, parameters=NO_PARAMETERS),
        email=email,
        proof_of_work=provider.solution() if proof_of_work is None else proof_of_work,
    )


async def test_e2_the_page_asks_for_the_address_alone(provider: Provider) -> None:
    step, _ = await provider.page()

    assert step.is_email_first


async def test_h1_a_hint_skips_the_step(provider: Provider) -> None:
    step, _ = await provider.page(login_hint="somebody@example.com")

    assert (step.is_email_first, step.request.login_hint) == (False, "somebody@example.com")


async def test_h2_what_is_no_hint_skips_nothing(provider: Provider) -> None:
    step, _ = await provider.page(login_hint="nobody")

    assert step.is_email_first


async def test_the_password_comes_next_with_the_address_filled_in(provider: Provider) -> None:
    step, browser = await provider.page()

    routed = await submitted(provider, step, browser)

    assert routed.route.type is TargetType.PASSWORD
    assert (routed.step.is_email_first, routed.step.request.login_hint) == (False, "alice@example.com")
    signed_in = await provider.submit(routed.step, browser)
    assert isinstance(signed_in.outcome, Redirection)
    assert "code" in dict(signed_in.outcome.parameters)


async def test_e16_the_step_is_repeated_as_often_as_somebody_goes_back(provider: Provider) -> None:
    step, browser = await provider.page()

    routes = [(await submitted(provider, step, browser)).route for _ in range(3)]

    assert len(set(routes)) == 1


async def test_e17_a_proof_of_work_is_good_for_one_step(provider: Provider) -> None:
    step, browser = await provider.page()
    proof = provider.solution()
    await submitted(provider, step, browser, proof_of_work=proof)

    with pytest.raises(NotFound):
        await submitted(provider, step, browser, proof_of_work=proof)


@pytest.mark.parametrize(("proof", "refusal"), [("", InvalidArgument), ("1:10:x:1", PermissionDenied)])
async def test_e17_without_a_proof_of_work_there_is_no_answer(
    provider: Provider, proof: str, refusal: type[Exception]
) -> None:
    step, browser = await provider.page()

    with pytest.raises(refusal):
        await submitted(provider, step, browser, proof_of_work=proof)


async def test_no_other_page_takes_the_step(provider: Provider) -> None:
    step, browser = await provider.page()

    with pytest.raises(Unauthenticated):
        await submitted(provider, step, Browser(cookie=browser.cookie, peer_address=browser.peer_address))


@pytest.mark.parametrize("email", ["", "nobody", "a@b@c", "a b@example.com", f"{'a' * 250}@example.com"])
async def test_what_is_no_address_is_refused_and_spends_nothing(provider: Provider, email: str) -> None:
    step, browser = await provider.page()
    proof = provider.solution()

    with pytest.raises(InvalidArgument):
        await submitted(provider, step, browser, email=email, proof_of_work=proof)

    assert await submitted(provider, step, browser, proof_of_work=proof)


async def test_who_has_no_page_describes_the_request(provider: Provider) -> None:
    _, browser = await provider.page()

    routed = await provider.email_step.submit(
        provider.tenant,
        browser,
        Reference(authorization_id="", parameters=calls()),
        email="alice@example.com",
        proof_of_work=provider.solution(),
    )

    assert routed.step.client.id == "app"


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        pytest.param(at_provider("okta"), TargetType.PROVIDER, id="E7"),
        pytest.param(among("okta"), TargetType.CHOICE, id="E8"),
    ],
)
@pytest.mark.parametrize("has_account", [True, False])
async def test_e7_e8_a_domain_with_providers_leads_to_them_whoever_has_an_account(
    provider: Provider, target: Target, kind: TargetType, *, has_account: bool
) -> None:
    domains = Domains(provider.store)
    domains.providers.add(DEFAULT, Upstream("okta"))
    await domains.verified(DEFAULT, "acme.example", target)
    targets = SignInTargets(provider.tenants, provider.store, domains.providers)
    provider.email_step = EmailStep(
        *(provider.sessions, provider.proof_of_work), asked=provider.asked, targets=targets
    )
    if has_account:
        await provider.admit(alice(id="bob", email="bob@acme.example"))
    step, browser = await provider.page()

    routed = await submitted(provider, step, browser, email="bob@acme.example")

    assert routed.route.type is kind
    assert [each.id for each in routed.route.providers] == ["okta"]


async def test_e10_no_account_is_looked_at(provider: Provider) -> None:
    step, browser = await provider.page()
    before = await submitted(provider, step, browser, email="alice@example.org")
    await provider.admit(alice(id="other", email="alice@example.org"))

    after = await submitted(provider, step, browser, email="alice@example.org")

    assert before == after


async def test_e23_the_shared_page_sends_an_address_to_the_owner_of_its_domain(provider: Provider) -> None:
    domains = Domains(provider.store)
    await domains.verified(provider.tenants.find("acme").tenant_id, "acme.example")

    found = await provider.shared_sign_in.find(
        provider.tenant, email="a@ACME.example", proof_of_work=provider.solution()
    )

    assert found == provider.tenants.find("acme")


async def test_e24_the_shared_page_sends_every_other_address_to_the_default_tenant(
    provider: Provider,
) -> None:
    acme = provider.tenants.find("acme")

    found = await provider.shared_sign_in.find(
        acme, email="a@nobody.example", proof_of_work=provider.solution(acme)
    )

    assert found == provider.tenant


async def test_the_shared_page_asks_for_a_proof_of_work(provider: Provider) -> None:
    with pytest.raises(PermissionDenied):
        await provider.shared_sign_in.find(provider.tenant, email="a@acme.example", proof_of_work="1:10:x:1")
    with pytest.raises(InvalidArgument):
        await provider.shared_sign_in.find(provider.tenant, email="a@acme.example", proof_of_work="")
