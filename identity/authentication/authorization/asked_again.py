"""Parameters by which a user who returns to the sign-in page later repeats an authorization request.

A pushed request is answered once and expires; these parameters replace a pushed request too.
"""

from collections.abc import Iterator

from identity.authentication.requests.request import AuthorizationRequest, Prompt, ResponseMode
from identity.directory.authorization_details.details import array_of
from identity.directory.client import Client


def asked_again(client: Client, request: AuthorizationRequest) -> tuple[tuple[str, str], ...]:
    """Return parameters for an equal request, without `prompt=create`: a newly registered user signs in.

    For a client that signs its requests this is the client id alone, because only the client can make its requests.
    There are none for a SAML application.
    """
    if request.saml is not None:
        return ()
    if client.requires_signed_request:
        return (("client_id", client.client_id),)
    return tuple((name, value) for name, value in _parameters(request) if value)


def _parameters(request: AuthorizationRequest) -> Iterator[tuple[str, str]]:
    yield "client_id", request.client_id
    yield "redirect_uri", request.redirect_uri
    yield "response_type", "code"
    mode = request.signed_response_mode or request.response_mode
    yield "response_mode", "" if mode is ResponseMode.QUERY else mode
    yield "scope", " ".join(request.oauth_scopes)
    yield "state", request.state or ""
    yield "nonce", request.nonce
    yield "code_challenge", request.code_challenge
    yield "code_challenge_method", "S256" if request.code_challenge else ""
    for resource in request.resources:
        yield "resource", resource
    details = request.authorization_details
    yield "authorization_details", array_of(details).decode() if details else ""
    yield "prompt", " ".join(prompt for prompt in request.prompts if prompt is not Prompt.CREATE)
    yield "max_age", "" if request.max_age is None else str(request.max_age)
    yield "claims", request.claims
    yield "acr_values", " ".join(request.acr_values)
    yield "login_hint", request.login_hint
    yield "ui_locales", " ".join(request.ui_locales)
    yield "dpop_jkt", request.dpop_jkt
