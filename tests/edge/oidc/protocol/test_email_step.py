"""Responses of the step that asks for the e-mail address."""

import pytest

from gnomon.identity.v1 import authorization_service_pb2
from gnomon.identity.v1 import sign_in_service_pb2 as pb
from tests.edge.oidc.protocol.provider import Provider, page_of

STEP = "/auth/v1/acme/oidc/authorize/email"
SENT = {"authorization_id": "request-1", "email": "ada@example.com", "pow": "1:10:x:1"}
OKTA = pb.SignInProvider(id="okta", name="The <b>Company</b>")
PAGE = authorization_service_pb2.SignInPage(authorization_id="request-1", login_hint="ada@example.com")


def answered(route: pb.SignInRoute.ValueType, *providers: pb.SignInProvider) -> pb.SubmitEmailResponse:
    return pb.SubmitEmailResponse(route=route, providers=providers, page=PAGE)


@pytest.mark.parametrize(
    ("answer", "members"),
    [
        pytest.param(
            answered(pb.SIGN_IN_ROUTE_PROVIDER, OKTA),
            {"step": "provider", "providers": [{"id": "okta", "name": OKTA.name}], "password": False},
            id="E7",
        ),
        pytest.param(
            answered(pb.SIGN_IN_ROUTE_CHOICE, OKTA),
            {"step": "choice", "providers": [{"id": "okta", "name": OKTA.name}], "password": True},
            id="E8",
        ),
        pytest.param(
            answered(pb.SIGN_IN_ROUTE_PASSWORD),
            {"step": "password", "providers": [], "password": True},
            id="E9",
        ),
    ],
)
async def test_e7_e8_e9_a_script_is_told_the_next_step(
    provider: Provider, answer: pb.SubmitEmailResponse, members: dict[str, object]
) -> None:
    provider.answers(submit_email=answer)

    response = await provider.http.post(STEP, json=SENT, headers={"x-csrf-token": "proof"})

    asked = provider.asked(pb.SubmitEmailRequest)
    assert (response.status, await response.json()) == (200, members)
    assert (asked.tenant_id, asked.authorization_id, asked.email) == ("acme", "request-1", "ada@example.com")
    assert (asked.pow, asked.browser.csrf_token) == ("1:10:x:1", "proof")


async def test_e7_a_form_shows_no_password_field_for_a_provider(provider: Provider) -> None:
    provider.answers(submit_email=answered(pb.SIGN_IN_ROUTE_PROVIDER, OKTA))

    response = await provider.http.post(STEP, data=SENT | {"csrf_token": "proof"})

    page = await page_of(response)
    assert response.status == 409
    assert page.xpath("//input") == []
