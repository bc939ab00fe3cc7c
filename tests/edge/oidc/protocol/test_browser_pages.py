"""Headers and content of all pages, whatever text they contain."""

from collections.abc import Mapping
from typing import Any

import pytest

from gnomon.identity.v1 import (
    authorization_service_pb2,
    backchannel_authentication_service_pb2,
    device_service_pb2,
    logout_service_pb2,
)
from gnomon.identity.v1.browser_pb2 import RESPONSE_MODE_FORM_POST, ErrorPage, Parameter, Redirect
from gnomon.identity.v1.session_service_pb2 import GetSessionResponse, Session
from tests.edge.oidc.protocol.provider import Provider, directives

CODE = Redirect(
    uri="https://shop.example/cb",
    response_mode=RESPONSE_MODE_FORM_POST,
    parameters=[Parameter(name="code", value="abc")],
)
BEGUN = authorization_service_pb2.BeginAuthorizationResponse
SIGN_IN = authorization_service_pb2.SignInPage(authorization_id="r", csrf_token="proof")
QUESTION = authorization_service_pb2.GetConsentPageResponse(
    page=authorization_service_pb2.ConsentPage(authorization_id="r", csrf_token="proof")
)
ASKED = logout_service_pb2.LogoutPage(logout_id="l", csrf_token="proof")

PAGES: list[Any] = [
    pytest.param("oidc/authorize", {"begin_authorization": BEGUN(page=SIGN_IN)}, id="sign-in"),
    pytest.param("oidc/authorize", {"begin_authorization": BEGUN(redirect=CODE)}, id="form post"),
    pytest.param("oidc/authorize", {"begin_authorization": BEGUN(error=ErrorPage(status=400))}, id="error"),
    pytest.param("oidc/authorize/consent?authorization_id=r", {"get_consent_page": QUESTION}, id="consent"),
    pytest.param(
        "oidc/logout", {"begin_logout": logout_service_pb2.BeginLogoutResponse(page=ASKED)}, id="logout"
    ),
    pytest.param("sign-in", {}, id="shared sign-in"),
    pytest.param(
        "sign-in-requests",
        {
            "list_backchannel_requests": backchannel_authentication_service_pb2.ListBackchannelRequestsResponse()
        },
        id="requests",
    ),
    pytest.param(
        "device", {"get_session": GetSessionResponse(session=Session(id="s", csrf_token="p"))}, id="device"
    ),
]


@pytest.mark.parametrize(("path", "answers"), PAGES)
async def test_a_page_is_framed_by_nobody_kept_nowhere_and_tells_no_address(
    provider: Provider, path: str, answers: Mapping[str, Any]
) -> None:
    provider.answers(**answers)

    response = await provider.http.get(f"/auth/v1/{path}")

    assert response.content_type == "text/html"
    assert directives(response)["frame-ancestors"] == "'none'"
    assert (response.headers["X-Frame-Options"], response.headers["Referrer-Policy"]) == (
        "DENY",
        "no-referrer",
    )
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    ["oidc/token", "oidc/token/revoke", "oidc/introspect", "oidc/par", "oidc/device", "oidc/bc-authorize"],
)
async def test_what_takes_credentials_takes_them_by_post_alone(provider: Provider, path: str) -> None:
    response = await provider.http.get(f"/auth/v1/{path}", params={"client_id": "shop", "client_secret": "s"})

    assert (response.status, response.headers["Allow"]) == (405, "POST, OPTIONS")
    assert "shop" not in repr(provider.servicers.requests)


@pytest.mark.parametrize(
    "path", ["oidc/token/revoke", "oidc/introspect", "oidc/par", "oidc/device", "oidc/bc-authorize"]
)
async def test_what_stands_in_the_query_proves_nobody(provider: Provider, path: str) -> None:
    provider.answers(start_device_authorization=device_service_pb2.StartDeviceAuthorizationResponse())

    await provider.http.post(
        f"/auth/v1/{path}", params={"client_id": "shop", "client_secret": "s"}, data={"a": "b"}
    )

    assert "shop" not in repr(provider.servicers.requests)
