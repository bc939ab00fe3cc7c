"""The sign-in, from the page to the code."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from identity.access.sessions.browser import Browser
from identity.authentication.authorization.asked import Reference
from identity.authentication.authorization.steps import Credentials
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirection import Redirection
from identity.directory.user import UserId
from identity.foundation.vocabulary import SubjectType
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied, ServiceError, Unauthenticated
from tests.identity.browsers import CALLBACK, ISSUER, NOON, PASSWORD, Provider, alice, app, calls

NO_PARAMETERS = Parameters(())


@pytest.fixture
async def provider() -> Provider:
    provider = Provider()
    await provider.register(
        app(),
        app(id="other", redirect_uris=("https://other.example.com/cb",)),
        app(id="staff", restrict_group_prefix="staff/"),
        app(id="vault", requires_mfa=True),
    )
    await provider.admit(alice(), alice(id="bob", email="bob@example.com", groups=("staff/eu",)))
    return provider


async def refresh(provider: Provider, browser: Browser, **reference: str) -> Redirection:
    named = Reference(authorization_id=reference.get("authorization_id", ""), parameters=NO_PARAMETERS)
    return await provider.refresh_step.refresh(provider.tenant, browser, named)


async def refresh_with(provider: Provider, browser: Browser, **parameters: str) -> Redirection:
    named = Reference(authorization_id="", parameters=calls(**parameters))
    return await provider.refresh_step.refresh(provider.tenant, browser, named)


async def test_whoever_signs_in_goes_back_with_a_code(provider: Provider) -> None:
    step, browser = await provider.page()

    signed_in = await provider.submit(step, browser, email="Alice@Example.COM")

    answer = dict(signed_in.outcome.parameters)
    assert (signed_in.outcome.uri, answer["state"], answer["iss"]) == (CALLBACK, "s1", ISSUER)
    assert (len(answer["code"]), answer["code"].isalnum()) == (64, True)


async def test_a_code_is_bound_to_all_that_its_request_was(provider: Provider) -> None:
    step, browser = await provider.page(claims='{"userinfo":{"email":null}}', dpop_jkt="j" * 43)

    signed_in = await provider.submit(step, browser)

    code = await provider.code(signed_in.outcome)
    assert signed_in.session is not None
    assert code.authentication == signed_in.session.authentication
    assert (code.authentication.user_id, code.authentication.amr) == ("alice", ("pwd",))
    assert (code.authentication.sid, code.authentication.at) == (signed_in.session.sid, NOON)
    assert (code.client_id, code.redirect_uri, code.nonce) == ("app", CALLBACK, "n1")
    assert (code.oauth_scopes, code.dpop_jkt) == (("openid", "email"), "j" * 43)
    assert code.code_challenge == step.request.code_challenge
    assert code.redeemable_until == int((NOON + timedelta(seconds=60)).timestamp())


async def test_signing_in_makes_a_new_session_and_a_new_csrf_token(provider: Provider) -> None:
    step, browser = await provider.page()

    signed_in = await provider.submit(step, browser)

    assert signed_in.session is not None
    assert await provider.session(browser) is None
    assert signed_in.session.csrf_token != step.session.csrf_token
    after = await provider.session(replace(browser, cookie=signed_in.cookie))
    assert after is not None
    assert after.clients == ("app",)


@pytest.mark.parametrize(
    ("email", "password"), [("alice@example.com", "wrong"), ("nobody@example.com", PASSWORD)]
)
async def test_a_wrong_password_and_an_unknown_address_are_answered_alike(
    provider: Provider, email: str, password: str
) -> None:
    step, browser = await provider.page()

    with pytest.raises(Unauthenticated) as refusal:
        await provider.submit(step, browser, email=email, password=password)

    assert refusal.value.detail == "the e-mail address or the password is wrong"
    assert refusal.value.metadata == {}


@pytest.mark.parametrize(
    "lost",
    [
        pytest.param({"cookie": ""}, id="no cookie"),
        pytest.param({"cookie": "another"}, id="no session"),
        pytest.param({"csrf_token": "another"}, id="page of another session"),
    ],
)
async def test_a_lost_session_is_told_from_a_wrong_password(provider: Provider, lost: dict[str, str]) -> None:
    step, browser = await provider.page()

    with pytest.raises(Unauthenticated) as refusal:
        await provider.submit(step, replace(browser, **lost))

    assert refusal.value.metadata == {"cause": "SESSION_ENDED"}


async def test_a_request_that_has_ended_is_told_from_a_wrong_password(provider: Provider) -> None:
    step, browser = await provider.page()

    with pytest.raises(Unauthenticated) as refusal:
        await provider.submit(replace(step, authorization_id="another"), browser)

    assert refusal.value.metadata == {"cause": "SESSION_ENDED"}


async def test_after_a_wrong_password_the_right_one_is_taken(provider: Provider) -> None:
    step, browser = await provider.page()
    with pytest.raises(Unauthenticated):
        await provider.submit(step, browser, password="wrong")

    signed_in = await provider.submit(step, browser)

    assert "code" in dict(signed_in.outcome.parameters)


async def test_of_many_submissions_at_a_time_one_gets_a_code(provider: Provider) -> None:
    step, browser = await provider.page()

    outcomes = await asyncio.gather(
        *(provider.submit(step, browser) for _ in range(10)), return_exceptions=True
    )

    assert sum(not isinstance(outcome, BaseException) for outcome in outcomes) == 1
    assert all(isinstance(outcome, Unauthenticated) for outcome in outcomes if isinstance(outcome, Exception))


async def test_a_page_without_our_csrf_token_signs_nobody_in(provider: Provider) -> None:
    step, browser = await provider.page()

    with pytest.raises(Unauthenticated):
        await provider.submit(step, replace(browser, csrf_token="ünlike ours"))


async def test_another_sessions_request_is_none(provider: Provider) -> None:
    step, _ = await provider.page()
    _, browser = await provider.page()

    with pytest.raises(Unauthenticated):
        await provider.submit(step, browser)


async def test_the_proof_of_work_goes_before_the_account(provider: Provider) -> None:
    step, browser = await provider.page()
    solution = provider.solution()
    await provider.proof_of_work.spend(provider.tenant, solution)
    credentials = Credentials(email="alice@example.com", password="wrong", proof_of_work=solution)
    reference = Reference(authorization_id=step.authorization_id, parameters=NO_PARAMETERS)

    with pytest.raises(NotFound):
        await provider.credential_step.submit(provider.tenant, browser, reference, credentials=credentials)

    assert provider.pauses.seconds == []


async def test_an_incomplete_form_costs_no_proof_of_work(provider: Provider) -> None:
    step, browser = await provider.page()
    solution = provider.solution()
    credentials = Credentials(email="", password=PASSWORD, proof_of_work=solution)
    reference = Reference(authorization_id=step.authorization_id, parameters=NO_PARAMETERS)

    with pytest.raises(InvalidArgument):
        await provider.credential_step.submit(provider.tenant, browser, reference, credentials=credentials)

    await provider.proof_of_work.spend(provider.tenant, solution)


CAUSES = [
    pytest.param("GROUP_REQUIRED", {"client_id": "staff"}, id="no group of the client"),
    pytest.param("SECOND_FACTOR_REQUIRED", {"client_id": "vault"}, id="one factor only"),
]


@pytest.mark.parametrize(("cause", "parameters"), CAUSES)
async def test_a_client_may_turn_somebody_away(
    provider: Provider, cause: str, parameters: dict[str, str]
) -> None:
    step, browser = await provider.page(**parameters)

    with pytest.raises(PermissionDenied) as refusal:
        await provider.submit(step, browser)

    assert refusal.value.metadata == {"cause": cause}


async def test_a_member_of_the_clients_groups_is_let_in(provider: Provider) -> None:
    step, browser = await provider.page(client_id="staff")

    signed_in = await provider.submit(step, browser, email="bob@example.com")

    assert "code" in dict(signed_in.outcome.parameters)


async def test_somebody_else_than_the_hint_says_is_no_answer(provider: Provider) -> None:
    step, browser = await provider.page(id_token_hint=provider.id_token(sub="bob"))

    signed_in = await provider.submit(step, browser)

    assert dict(signed_in.outcome.parameters)["error"] == "login_required"
    assert signed_in.session is None


async def test_signing_in_again_keeps_the_name_of_the_session(provider: Provider) -> None:
    browser = await provider.signed_in()
    before = await provider.session(browser)
    step, browser = await provider.page(
        browser, prompt="login", client_id="other", redirect_uri="https://other.example.com/cb"
    )

    signed_in = await provider.submit(step, browser)

    after = await provider.session(replace(browser, cookie=signed_in.cookie))
    assert before is not None
    assert after is not None
    assert (before.sid, ("app", "other")) == (after.sid, after.clients)


async def test_signing_in_as_somebody_else_ends_what_was_there(provider: Provider) -> None:
    browser = await provider.signed_in()
    before = await provider.session(browser)
    step, browser = await provider.page(browser, prompt="login")

    signed_in = await provider.submit(step, browser, email="bob@example.com")

    assert before is not None
    assert signed_in.session is not None
    assert before.sid != signed_in.session.sid
    assert provider.token_sets.sids == [before.sid]


async def test_parameters_stand_for_a_page(provider: Provider) -> None:
    _, browser = await provider.page()
    credentials = Credentials(email="alice@example.com", password=PASSWORD, proof_of_work=provider.solution())
    reference = Reference(authorization_id="", parameters=calls(state="mine"))

    signed_in = await provider.credential_step.submit(
        provider.tenant, browser, reference, credentials=credentials
    )

    assert dict(signed_in.outcome.parameters)["state"] == "mine"


@pytest.mark.parametrize(
    ("expected", "parameters"),
    [(Unauthenticated, {"client_id": "nobody"}), (InvalidArgument, {"response_type": "token"})],
)
async def test_bad_parameters_never_count_as_a_failed_sign_in(
    provider: Provider, expected: type[ServiceError], parameters: dict[str, str]
) -> None:
    _, browser = await provider.page()
    credentials = Credentials(email="alice@example.com", password="wrong", proof_of_work=provider.solution())
    reference = Reference(authorization_id="", parameters=calls(**parameters))

    with pytest.raises(expected):
        await provider.credential_step.submit(provider.tenant, browser, reference, credentials=credentials)


async def test_without_a_page_a_session_gets_a_code_at_once(provider: Provider) -> None:
    browser = await provider.signed_in()

    outcome = await provider.begin(browser, prompt="none")

    assert isinstance(outcome, Redirection)
    assert {"code", "state", "iss"} == dict(outcome.parameters).keys()


SILENT = [
    pytest.param("login_required", {"max_age": "0"}, id="must sign in"),
    pytest.param("login_required", {"claims": '{"id_token":{"sub":{"value":"bob"}}}'}, id="somebody else"),
    pytest.param("interaction_required", {"client_id": "vault"}, id="second factor"),
    pytest.param("access_denied", {"client_id": "staff"}, id="no group of the client"),
]


@pytest.mark.parametrize(("error", "parameters"), SILENT)
async def test_without_a_page_what_is_missing_is_an_error(
    provider: Provider, error: str, parameters: dict[str, str]
) -> None:
    browser = await provider.signed_in()

    outcome = await provider.begin(browser, prompt="none", **parameters)

    assert isinstance(outcome, Redirection)
    assert dict(outcome.parameters)["error"] == error


@pytest.mark.parametrize(("named", "error"), [("pairwise", None), ("alice", "login_required")])
async def test_the_claims_parameter_names_a_user_by_the_pairwise_subject(
    provider: Provider, named: str, error: str | None
) -> None:
    browser = await provider.signed_in()
    client = app(id="reserved", subject_type=SubjectType.PAIRWISE)
    await provider.register(client)
    pairwise = provider.subjects.of(provider.tenant, client, UserId("alice"))
    subject = pairwise if named == "pairwise" else named
    claims = f'{{"id_token":{{"sub":{{"value":"{subject}"}}}}}}'

    outcome = await provider.begin(browser, prompt="none", client_id="reserved", claims=claims)

    assert isinstance(outcome, Redirection)
    assert dict(outcome.parameters).get("error") == error


async def test_without_a_page_and_a_session_a_sign_in_is_required(provider: Provider) -> None:
    outcome = await provider.begin(prompt="none")

    assert isinstance(outcome, Redirection)
    assert (dict(outcome.parameters)["error"], dict(outcome.parameters)["state"]) == ("login_required", "s1")


async def test_a_disabled_account_is_signed_in_nowhere(provider: Provider) -> None:
    browser = await provider.signed_in()
    user = await provider.users.find_by_email(provider.tenant, "alice@example.com")
    assert user is not None
    await provider.users.replace(replace(user, is_enabled=False))

    outcome = await provider.begin(browser, prompt="none")

    assert isinstance(outcome, Redirection)
    assert dict(outcome.parameters)["error"] == "login_required"


@pytest.mark.parametrize(("is_required", "error"), [(True, "login_required"), (False, "")])
async def test_r11_a_session_is_not_enough_for_who_has_to_confirm_an_address(
    provider: Provider, *, is_required: bool, error: str
) -> None:
    browser = await provider.signed_in()
    user = await provider.users.find_by_email(provider.tenant, "alice@example.com")
    assert user is not None
    marked = replace(user, is_self_registered=True, is_email_verified=False, changed_at=provider.clock.now())
    await provider.users.replace(marked)
    provider.confirmation.is_required = is_required

    outcome = await provider.begin(browser, prompt="none")

    assert isinstance(outcome, Redirection)
    assert dict(outcome.parameters).get("error", "") == error


async def test_a_session_goes_on_without_credentials(provider: Provider) -> None:
    browser = await provider.signed_in()
    step, browser = await provider.page(browser)

    redirection = await refresh(provider, browser, authorization_id=step.authorization_id)

    assert step.is_signed_in
    assert "code" in dict(redirection.parameters)


@pytest.mark.parametrize("parameters", [{"prompt": "login"}, {"max_age": "60"}, {"max_age": "0"}])
async def test_a_page_cannot_go_round_a_sign_in_that_is_asked_for(
    provider: Provider, parameters: dict[str, str]
) -> None:
    browser = await provider.signed_in()
    provider.clock.advance(timedelta(seconds=61))
    step, browser = await provider.page(browser, **parameters)

    for refreshing in (
        refresh(provider, browser, authorization_id=step.authorization_id),
        refresh_with(provider, browser, **parameters),
        # Leaves out parameters with which the page was made.
        refresh_with(provider, browser),
    ):
        with pytest.raises(Unauthenticated):
            await refreshing

    assert not step.is_signed_in


async def test_within_max_age_a_session_is_enough(provider: Provider) -> None:
    browser = await provider.signed_in()
    provider.clock.advance(timedelta(seconds=59))

    step, browser = await provider.page(browser, max_age="60")

    assert step.is_signed_in


async def test_a_request_is_gone_once_it_was_answered(provider: Provider) -> None:
    browser = await provider.signed_in()
    step, browser = await provider.page(browser)
    await refresh(provider, browser, authorization_id=step.authorization_id)

    with pytest.raises(Unauthenticated):
        await refresh(provider, browser, authorization_id=step.authorization_id)


async def test_nobody_goes_on_without_signing_in_first(provider: Provider) -> None:
    step, browser = await provider.page()

    with pytest.raises(Unauthenticated):
        await refresh(provider, browser, authorization_id=step.authorization_id)


async def test_of_many_pages_in_a_session_the_newest_stay(provider: Provider) -> None:
    browser = await provider.signed_in()
    oldest, browser = await provider.page(browser)
    for _ in range(20):
        provider.clock.advance(timedelta(seconds=1))
        newest, browser = await provider.page(browser)

    with pytest.raises(Unauthenticated):
        await refresh(provider, browser, authorization_id=oldest.authorization_id)

    assert "code" in dict(
        (await refresh(provider, browser, authorization_id=newest.authorization_id)).parameters
    )
