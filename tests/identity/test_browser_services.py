"""The services for browsers, as the edge calls them."""

import json
from collections.abc import Mapping

import grpc
import pytest

from gnomon.identity.v1 import (
    authorization_service_pb2,
    browser_pb2,
    logout_service_pb2,
    proof_of_work_service_pb2,
    session_service_pb2,
    token_service_pb2,
)
from gnomon.identity.v1.authorization_service_pb2_grpc import AuthorizationServiceStub
from gnomon.identity.v1.logout_service_pb2_grpc import LogoutServiceStub
from gnomon.identity.v1.proof_of_work_service_pb2_grpc import ProofOfWorkServiceStub
from gnomon.identity.v1.session_service_pb2_grpc import SessionServiceStub
from identity.access.client_authentication.assertions import ClientAssertions
from identity.access.client_authentication.authenticator import ClientAuthenticator
from identity.access.client_authentication.certificates import ClientCertificates
from identity.access.client_authentication.client_keys import ClientKeys
from identity.access.dpop.config import DpopConfig
from identity.access.dpop.nonces import DpopNonces
from identity.access.dpop.proofs import DpopProofs
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.proof_of_work import ProofOfWorkServicer
from identity.authentication.client_screens import Screens
from identity.authentication.rpc.authorization import AuthorizationServicer, PushedRequestAdmission
from identity.authentication.rpc.browser import Offers
from identity.authentication.rpc.session import SessionServicer
from identity.delivery.http.published_keys import PublishedKeys
from identity.directory.authorization_details.detail_types import DetailTypes
from identity.foundation.single_use import SingleUse
from identity.protocol.rpc.logout import LogoutServicer
from server.platform.call import Call
from server.platform.channels import LocalChannel, error_of
from server.platform.dispatch import Dispatcher
from server.platform.errors import NotFound, OAuthError, Unauthenticated
from server.platform.interceptors import interceptors
from server.platform.peer import LOCAL_EDGE
from server.platform.policy import Mode
from tests.identity.browsers import (
    ADDRESS,
    ASKING,
    CALLBACK,
    ISSUER,
    NOON,
    PASSWORD,
    Provider,
    alice,
    app,
    solved,
)
from tests.identity.documents import KnownDocuments

FOUR_HOURS = 14_400


class Services:
    """Stubs of all services, and a browser with its cookie."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        channel = LocalChannel(
            Dispatcher(_servicers(provider), interceptors(Mode.EMBEDDED, _admit)), peer=LOCAL_EDGE
        )
        self.authorization = AuthorizationServiceStub(channel)  # type: ignore[arg-type]
        self.sessions = SessionServiceStub(channel)  # type: ignore[arg-type]
        self.proof_of_work = ProofOfWorkServiceStub(channel)  # type: ignore[arg-type]
        self.logout = LogoutServiceStub(channel)  # type: ignore[arg-type]
        self.browser = browser_pb2.Browser(peer_address=ADDRESS)

    async def page(self, **parameters: str) -> authorization_service_pb2.SignInPage:
        request = authorization_service_pb2.BeginAuthorizationRequest(
            parameters=sent(ASKING | parameters), browser=self.browser
        )
        response = await self.authorization.BeginAuthorization(request)
        if response.HasField("cookie"):
            self.browser.session = response.cookie.value
        self.browser.csrf_token = response.page.csrf_token
        return response.page

    async def sign_in(self) -> browser_pb2.Redirect:
        page = await self.page()
        issued = await self.proof_of_work.IssueChallenge(proof_of_work_service_pb2.IssueChallengeRequest())
        request = authorization_service_pb2.SubmitCredentialsRequest(
            browser=self.browser,
            authorization_id=page.authorization_id,
            email="alice@example.com",
            password=PASSWORD,
            pow=solved(issued.challenge),
        )
        response = await self.authorization.SubmitCredentials(request)
        self.browser.session = response.cookie.value
        self.browser.csrf_token = response.cookie.csrf_token
        return response.redirect


def sent(parameters: Mapping[str, str]) -> list[browser_pb2.Parameter]:
    return [browser_pb2.Parameter(name=name, value=value) for name, value in parameters.items()]


@pytest.fixture
async def services() -> Services:
    provider = Provider()
    await provider.register(app(client_uri="https://app.example.com/"))
    await provider.admit(alice(roles=("admin",), groups=("staff",)))
    return Services(provider)


async def test_the_sign_in_page_has_all_that_is_shown(services: Services) -> None:
    page = await services.page(login_hint="alice@example.com", ui_locales="de en")

    assert page == authorization_service_pb2.SignInPage(
        authorization_id=page.authorization_id,
        client_id="app",
        client_name="The app",
        client_uri="https://app.example.com/",
        login_hint="alice@example.com",
        ui_locales=["de", "en"],
        redirect_origin="https://app.example.com",
        csrf_token=page.csrf_token,
    )
    assert page.authorization_id
    assert page.csrf_token


async def test_a_sign_in_redirects_and_sets_the_cookie_of_the_new_session(services: Services) -> None:
    redirect = await services.sign_in()

    parameters = {parameter.name: parameter.value for parameter in redirect.parameters}
    assert redirect.uri == CALLBACK
    assert redirect.response_mode == browser_pb2.RESPONSE_MODE_QUERY
    assert {"code": parameters["code"], "state": "s1", "iss": ISSUER} == parameters


async def test_the_sign_in_page_of_a_session_needs_no_cookie(services: Services) -> None:
    await services.sign_in()
    cookie = services.browser.session

    page = await services.page()

    assert page.is_signed_in
    assert services.browser.session == cookie


async def test_a_session_goes_on_silently(services: Services) -> None:
    await services.sign_in()
    page = await services.page()
    request = authorization_service_pb2.RefreshAuthorizationRequest(
        browser=services.browser, authorization_id=page.authorization_id
    )

    response = await services.authorization.RefreshAuthorization(request)

    assert response.redirect.parameters[0].name == "code"


async def test_what_is_wrong_with_the_client_is_a_page(services: Services) -> None:
    request = authorization_service_pb2.BeginAuthorizationRequest(
        parameters=sent(ASKING | {"redirect_uri": "https://evil.example.com/<script>"})
    )

    response = await services.authorization.BeginAuthorization(request)

    assert (response.error.status, response.error.error) == (400, "invalid_request")
    assert "evil" not in response.error.description
    assert not response.HasField("cookie")


async def test_a_wrong_password_is_unauthenticated(services: Services) -> None:
    page = await services.page()
    request = authorization_service_pb2.SubmitCredentialsRequest(
        browser=services.browser,
        authorization_id=page.authorization_id,
        email="alice@example.com",
        password="wrong",
        pow=services.provider.solution(),
    )

    with pytest.raises(grpc.RpcError) as failure:
        await services.authorization.SubmitCredentials(request)

    assert isinstance(error_of(failure.value), Unauthenticated)


async def test_a_client_pushes_its_request(services: Services) -> None:
    request = authorization_service_pb2.PushAuthorizationRequest(
        client=token_service_pb2.ClientProof(
            client_id="app", method=token_service_pb2.CLIENT_AUTHENTICATION_NONE
        ),
        parameters=sent(ASKING),
    )

    pushed = await services.authorization.PushAuthorization(request)

    assert pushed.expires_in == 90
    assert (await services.page(**dict.fromkeys(ASKING, ""), request_uri=pushed.request_uri)) is not None


async def test_a_stranger_pushes_nothing(services: Services) -> None:
    request = authorization_service_pb2.PushAuthorizationRequest(
        client=token_service_pb2.ClientProof(client_id="nobody"), parameters=sent(ASKING)
    )

    with pytest.raises(grpc.RpcError) as failure:
        await services.authorization.PushAuthorization(request)

    error = error_of(failure.value)
    assert isinstance(error, OAuthError)
    assert error.error == "invalid_client"


async def test_a_session_begins_before_anybody_signs_in(services: Services) -> None:
    request = session_service_pb2.BeginSessionRequest(browser=services.browser)

    response = await services.sessions.BeginSession(request)

    assert response.session == session_service_pb2.Session(
        id=response.session.id,
        csrf_token=response.cookie.csrf_token,
        expires_at=int(NOON.timestamp()) + FOUR_HOURS,
        idle_until=int(NOON.timestamp()) + 5400,
        state=session_service_pb2.SESSION_STATE_INIT,
    )
    assert response.cookie.max_age == FOUR_HOURS
    assert response.cookie.value != response.session.id


async def test_a_session_that_is_there_stays(services: Services) -> None:
    await services.sign_in()
    request = session_service_pb2.BeginSessionRequest(browser=services.browser)

    response = await services.sessions.BeginSession(request)

    assert not response.HasField("cookie")
    assert response.session.state == session_service_pb2.SESSION_STATE_AUTH


async def test_a_session_says_who_is_signed_in(services: Services) -> None:
    await services.sign_in()
    request = session_service_pb2.GetSessionRequest(browser=services.browser)

    session = (await services.sessions.GetSession(request)).session

    assert (session.user_id, list(session.roles), list(session.groups)) == ("alice", ["admin"], ["staff"])
    assert session.csrf_token == services.browser.csrf_token


async def test_before_anybody_signs_in_there_is_no_session_to_see(services: Services) -> None:
    await services.page()

    with pytest.raises(grpc.RpcError) as failure:
        await services.sessions.GetSession(session_service_pb2.GetSessionRequest(browser=services.browser))

    assert isinstance(error_of(failure.value), Unauthenticated)


async def test_a_challenge_of_an_unknown_tenant_is_not_found(services: Services) -> None:
    request = proof_of_work_service_pb2.IssueChallengeRequest(tenant_id="nobody")

    with pytest.raises(grpc.RpcError) as failure:
        await services.proof_of_work.IssueChallenge(request)

    assert isinstance(error_of(failure.value), NotFound)


async def test_a_logout_is_asked_about_and_confirmed(services: Services) -> None:
    await services.sign_in()
    parameters = sent(
        {"client_id": "app", "post_logout_redirect_uri": "https://app.example.com/bye", "state": "s"}
    )
    asked = await services.logout.BeginLogout(
        logout_service_pb2.BeginLogoutRequest(browser=services.browser, parameters=parameters)
    )

    confirmed = await services.logout.ConfirmLogout(
        logout_service_pb2.ConfirmLogoutRequest(browser=services.browser, logout_id=asked.page.logout_id)
    )

    assert asked.page == logout_service_pb2.LogoutPage(
        client_id="app",
        client_name="The app",
        logout_id=asked.page.logout_id,
        csrf_token=services.browser.csrf_token,
        redirect_origin="https://app.example.com",
    )
    assert confirmed.redirect.uri == "https://app.example.com/bye"
    assert (confirmed.HasField("cookie"), confirmed.cookie.max_age) == (True, 0)


async def test_a_good_hint_logs_out_at_once_and_takes_the_cookie_back(services: Services) -> None:
    await services.sign_in()
    parameters = sent({"id_token_hint": services.provider.id_token()})

    response = await services.logout.BeginLogout(
        logout_service_pb2.BeginLogoutRequest(browser=services.browser, parameters=parameters)
    )

    assert response.signed_out.client_id == "app"
    assert (response.HasField("cookie"), response.cookie.max_age) == (True, 0)


async def test_a_logout_that_contradicts_itself_is_an_error_page(services: Services) -> None:
    parameters = sent({"id_token_hint": services.provider.id_token(), "client_id": "other"})

    response = await services.logout.BeginLogout(
        logout_service_pb2.BeginLogoutRequest(browser=services.browser, parameters=parameters)
    )

    assert (response.error.status, response.error.error) == (400, "invalid_request")


async def test_where_no_provider_vouches_for_anybody_no_logout_token_holds(services: Services) -> None:
    with pytest.raises(grpc.RpcError) as refusal:
        await services.logout.ReceiveLogoutToken(
            logout_service_pb2.ReceiveLogoutTokenRequest(logout_token="x")
        )

    error = error_of(refusal.value)
    assert isinstance(error, OAuthError)
    assert error.error == "invalid_request"


def _servicers(provider: Provider) -> Mapping[object, object]:
    single_use, clock = SingleUse(provider.store), provider.clock
    published = PublishedKeys(KnownDocuments(), clock)
    client_keys = ClientKeys(published)
    authenticator = ClientAuthenticator(
        provider.clients,
        provider.hasher,
        assertions=ClientAssertions(client_keys, single_use, clock),
        certificates=ClientCertificates(client_keys, clock),
        clock=clock,
    )
    dpop = DpopProofs(single_use, DpopNonces(provider.hasher, clock, DpopConfig()), clock)
    screens = Screens(provider.store, provider.clients)
    admission = TenantAdmission(provider.tenants)
    authorization = AuthorizationServicer(
        *(admission, provider.authorization_start),
        credential_step=provider.credential_step,
        refresh_step=provider.refresh_step,
        consent_step=provider.consent_step,
        terms_step=provider.terms_step,
        terms=provider.terms,
        pushed_admission=PushedRequestAdmission(authenticator, dpop, provider.pushing),
        offered=None,
        offers=Offers(registration=False, password_reset=False),
        screens=screens,
        details=DetailTypes(provider.store),
        clock=clock,
    )
    sessions = SessionServicer(admission, provider.sessions, provider.users, clock)
    return {
        authorization_service_pb2.DESCRIPTOR.services_by_name["AuthorizationService"]: authorization,
        session_service_pb2.DESCRIPTOR.services_by_name["SessionService"]: sessions,
        proof_of_work_service_pb2.DESCRIPTOR.services_by_name["ProofOfWorkService"]: ProofOfWorkServicer(
            admission, provider.proof_of_work
        ),
        logout_service_pb2.DESCRIPTOR.services_by_name["LogoutService"]: LogoutServicer(
            admission, provider.end_session, upstream=None, screens=screens
        ),
    }


def _admit(_call: Call) -> None:
    """Admit every call."""


async def test_nothing_that_opens_a_session_reaches_the_log(
    services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    page = await services.page()
    request = authorization_service_pb2.SubmitCredentialsRequest(
        browser=services.browser,
        authorization_id=page.authorization_id,
        email="alice@example.com",
        password="wr0ng-but-nearly-right",
        pow=solved(services.provider.proof_of_work.challenge(services.provider.tenant)),
    )

    with pytest.raises(grpc.RpcError):
        await services.authorization.SubmitCredentials(request)
    redirect = await services.sign_in()

    code = redirect.parameters[0].value
    secrets = (request.password, request.pow, PASSWORD, services.browser.session, page.csrf_token, code)
    logged = json.dumps([vars(record) for record in caplog.records], default=str)
    assert "sign-in refused" in logged
    assert [secret for secret in secrets if secret in logged] == []
