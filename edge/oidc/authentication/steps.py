"""Responses of the sign-in steps: a redirect to the client, or the consent page.

A script gets 206, with the consent request as members and the address of its page in Location.
"""

from urllib.parse import urlencode

import orjson
from aiohttp import hdrs, web

from edge.oidc.access.tenant import issuer_path
from edge.oidc.authentication.redirects import accepted, sent_back
from edge.oidc.pages import Pages
from gnomon.identity.v1 import authorization_service_pb2 as pb
from gnomon.identity.v1.federation_service_pb2 import ReturnFromProviderResponse
from gnomon.identity.v1.one_time_code_service_pb2 import SubmitOneTimeCodeResponse
from gnomon.identity.v1.passkey_service_pb2 import FinishPasskeyAuthenticationResponse

Step = (
    pb.SubmitCredentialsResponse
    | pb.RefreshAuthorizationResponse
    | pb.AnswerTermsResponse
    | ReturnFromProviderResponse
    | FinishPasskeyAuthenticationResponse
    | SubmitOneTimeCodeResponse
)


def navigated(request: web.Request, step: Step, pages: Pages, *, status: int = 303) -> web.Response:
    """Answer a browser that submitted a form or was redirected here."""
    if step.HasField("consent"):
        return web.Response(status=303, headers=_to_page(request, step.consent))
    return sent_back(step.redirect, pages, status=status)


def scripted(request: web.Request, step: Step) -> web.Response:
    """Answer a script, which navigates by itself."""
    if not step.HasField("consent"):
        return accepted(step.redirect)
    asked = step.consent
    members = {
        "authorization_id": asked.authorization_id,
        "consent": {
            "client_id": asked.client_id,
            "client_name": asked.client_name,
            "scopes": list(asked.scopes),
            "resources": list(asked.resources),
            "claims": list(asked.claims),
            "authorization_details": [orjson.Fragment(each.detail) for each in asked.authorization_details],
        },
    }
    return web.Response(
        status=206,
        body=orjson.dumps(members),
        content_type="application/json",
        headers=_to_page(request, asked),
    )


def _to_page(request: web.Request, asked: pb.ConsentPage) -> dict[str, str]:
    query = urlencode({"authorization_id": asked.authorization_id})
    return {hdrs.LOCATION: f"{issuer_path(request)}/oidc/authorize/consent?{query}"}
