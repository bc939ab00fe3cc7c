"""Checks of an authorization request, one row each, in the order in which their errors are reported.

A profile such as FAPI 2 adds rows.
"""

import re
from dataclasses import replace
from datetime import timedelta

from identity.authentication.requests.check_input import Asking, Check
from identity.authentication.requests.claims_parameter import subject_of
from identity.authentication.requests.login_hint import login_hint
from identity.authentication.requests.redirect_uris import is_registered
from identity.authentication.requests.redirection import MAX_STATE
from identity.authentication.requests.request import (
    RESPONSE_MODES,
    AuthorizationRequest,
    Prompt,
    ResponseMode,
    SignedResponseMode,
    signed_mode_of,
)
from identity.directory.oauth_scopes import extent_of, parse
from identity.foundation.absolute_uris import absolute_uri
from identity.foundation.errors import (
    InvalidRequest,
    InvalidScope,
    InvalidTarget,
    UnauthorizedClient,
    UnsupportedResponseType,
)
from identity.foundation.vocabulary import GrantType, Scope

_MAX_NONCE = 1024
_MAX_SCOPE = 512
_MOST_RESOURCES = 10
_MOST_PREFERENCES = 10

# The base64url text of a SHA-256: RFC 7636 §4.2, RFC 7638 §3.
_SHA_256 = re.compile(r"[A-Za-z0-9_-]{43}")
_SCOPE = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]+( +[\x21\x23-\x5B\x5D-\x7E]+)*")
_SECONDS = re.compile(r"[0-9]{1,9}")
_ASKS_FOR_SIGN_IN = frozenset({Prompt.LOGIN, Prompt.SELECT_ACCOUNT, Prompt.CREATE})


def well_formed(calls: Asking, request: AuthorizationRequest) -> AuthorizationRequest:
    if calls.parameters.are_malformed:
        raise InvalidRequest("a parameter is repeated or contains NUL")
    return request


def redirect_uri(calls: Asking, request: AuthorizationRequest) -> AuthorizationRequest:
    uri = calls.parameters.one("redirect_uri")
    if not is_registered(uri, calls.client.redirect_uris):
        raise InvalidRequest("redirect_uri is missing or not registered for this client")
    return replace(request, redirect_uri=uri)


def response_mode(calls: Asking, request: AuthorizationRequest) -> AuthorizationRequest:
    mode = calls.parameters.one("response_mode") or ResponseMode.QUERY
    if mode not in RESPONSE_MODES:
        raise InvalidRequest(f"response_mode has to be one of {', '.join(RESPONSE_MODES)}")
    signed_mode = signed_mode_of(mode)
    if signed_mode is None and calls.client.signs_messages:
        raise InvalidRequest("the client has to ask for signed responses: response_mode=jwt")
    is_posted = mode in {ResponseMode.FORM_POST, SignedResponseMode.FORM_POST}
    return replace(
        request,
        response_mode=ResponseMode.FORM_POST if is_posted else ResponseMode.QUERY,
        signed_response_mode=signed_mode,
    )


def state(calls: Asking, request: AuthorizationRequest) -> AuthorizationRequest:
    text = calls.parameters.one("state")
    if len(text) > MAX_STATE:
        raise InvalidRequest(f"state is longer than {MAX_STATE} characters")
    return replace(request, state=text or None)


def grant(calls: Asking, request: AuthorizationRequest) -> AuthorizationRequest:
    if GrantType.AUTHORIZATION_CODE not in calls.client.grant_types:
        raise UnauthorizedClient("the client may not use this grant type")
    return request


def response_type(calls: Asking, request: AuthorizationRequest) -> AuthorizationRequest:
    asked = calls.parameters.one("response_type")
    if not asked:
        raise InvalidRequest("response_type is missing")
    if asked != "code":
        raise UnsupportedResponseType("response_type has to be code")
    return request


def oauth_scopes(calls: Asking, request: AuthorizationRequest) -> AuthorizationRequest:
    text = calls.parameters.one("scope")
    if text and (len(text) > _MAX_SCOPE or _SCOPE.fullmatch(text) is None):
        raise InvalidScope("scope is malformed")
    asked = extent_of(calls.client, without_defaults=(Scope.OPENID,)).of(parse(text))
    granted = tuple(scope for scope in asked if scope in calls.client.oauth_scopes)
    return replace(request, oauth_scopes=granted)


def code_challenge(calls: Asking, request: AuthorizationRequest) -> AuthorizationRequest:
    """RFC 7636 §4.4.1; a challenge is used even if the client need not send one."""
    challenge, method = (
        calls.parameters.one("code_challenge"),
        calls.parameters.one("code_challenge_method"),
    )
    if not challenge and (calls.client.requires_pkce or calls.client.is_public):
        raise InvalidRequest("code_challenge is missing")
    if (challenge or method) and method != "S256":
        raise InvalidRequest("code_challenge_method has to be S256")
    if (challenge or method) and _SHA_256.fullmatch(challenge) is None:
        raise InvalidRequest("code_challenge is not the base64url text of a SHA-256")
    return replace(request, code_challenge=challenge)


def nonce(calls: Asking, request: AuthorizationRequest) -> AuthorizationRequest:
    text = calls.parameters.one("nonce")
    if len(text) > _MAX_NONCE:
        raise InvalidRequest(f"nonce is longer than {_MAX_NONCE} characters")
    return replace(request, nonce=text)


def resources(calls: Asking, request: AuthorizationRequest) -> AuthorizationRequest:
    """RFC 8707 §2."""
    asked = tuple(dict.fromkeys(calls.parameters.all("resource")))
    if len(asked) > _MOST_RESOURCES or not all(map(absolute_uri, asked)):
        raise InvalidTarget(f"expected at most {_MOST_RESOURCES} absolute resources without a fragment")
    if not set(asked) <= set(calls.client.allowed_resources):
        raise InvalidTarget("a resource is unknown or not granted to this client")
    return replace(request, resources=asked)


def prompt(calls: Asking, request: AuthorizationRequest) -> AuthorizationRequest:
    words = calls.parameters.one("prompt").split()
    if Prompt.NONE in words and len(set(words)) > 1:
        raise InvalidRequest("prompt=none cannot be combined with other values")
    prompts = tuple(known for known in Prompt if known in words)
    return replace(request, prompts=prompts, requires_sign_in=not _ASKS_FOR_SIGN_IN.isdisjoint(prompts))


def max_age(calls: Asking, request: AuthorizationRequest) -> AuthorizationRequest:
    default = calls.client.default_max_age
    text = calls.parameters.one("max_age") or ("" if default is None else str(default))
    if not text:
        return request
    if _SECONDS.fullmatch(text) is None:
        raise InvalidRequest("max_age is not a number of seconds")
    age = int(text)
    return replace(
        request,
        max_age=age,
        not_before=calls.now - timedelta(seconds=age),
        # The sign-in must not be older than now, so there is none yet.
        requires_sign_in=request.requires_sign_in or age == 0,
    )


def claims(calls: Asking, request: AuthorizationRequest) -> AuthorizationRequest:
    text = calls.parameters.one("claims")
    return replace(request, claims=text, user_id=subject_of(text)) if text else request


def hints(calls: Asking, request: AuthorizationRequest) -> AuthorizationRequest:
    return replace(
        request,
        login_hint=login_hint(calls.parameters.one("login_hint")),
        acr_values=tuple(calls.parameters.one("acr_values").split()[:_MOST_PREFERENCES]),
        ui_locales=tuple(calls.parameters.one("ui_locales").split()[:_MOST_PREFERENCES]),
    )


def dpop_jkt(calls: Asking, request: AuthorizationRequest) -> AuthorizationRequest:
    """RFC 9449 §10."""
    thumbprint = calls.parameters.one("dpop_jkt")
    if thumbprint and _SHA_256.fullmatch(thumbprint) is None:
        raise InvalidRequest("dpop_jkt is not the base64url text of a SHA-256")
    return replace(request, dpop_jkt=thumbprint)


CHECKS: tuple[Check, ...] = (
    *(well_formed, redirect_uri, response_mode, state, grant, response_type, oauth_scopes, code_challenge),
    *(nonce, resources, prompt, max_age, claims, hints, dpop_jkt),
)
