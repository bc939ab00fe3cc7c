"""Every module of the plans has a test that bears its name."""

import re
from pathlib import Path

import pytest

FAPI_2 = [
    f"fapi2-security-profile-final-{suffix}"
    for suffix in (
        "discovery-end-point-verification",
        "happy-flow",
        "user-rejects-authentication",
        "ensure-other-scope-order-succeeds",
        "ensure-authorization-request-without-state-success",
        "ensure-authorization-request-without-nonce-success",
        "ensure-authorization-request-with-64-char-nonce-success",
        "ensure-authorization-request-with-long-nonce",
        "ensure-authorization-request-with-long-state",
        "access-token-type-header-case-sensitivity",
        "ensure-redirect-uri-in-authorization-request",
        "ensure-registered-redirect-uri",
        "ensure-unsigned-authorization-request-without-using-par-fails",
        "ensure-response-type-code-idtoken-fails",
        "ensure-response-type-token-fails",
        "par-attempt-reuse-request-uri",
        "par-attempt-to-use-expired-request-uri",
        "par-attempt-to-use-request-uri-for-different-client",
        "par-authorization-request-containing-request-uri-form-param",
        "par-attempt-invalid-http-method",
        "par-without-duplicate-parameters",
        "par-ensure-pkce-required",
        "par-plain-pkce-rejected",
        "ensure-pkce-code-verifier-required",
        "incorrect-pkce-code-verifier-rejected",
        "attempt-reuse-authorization-code-after-one-second",
        "ensure-token-endpoint-fails-with-expired-auth-code",
        "ensure-authorization-code-is-bound-to-client",
        "ensure-client-id-in-token-endpoint",
        "ensure-client-assertion-in-token-endpoint",
        "ensure-signed-client-assertion-with-RS256-fails",
        "ensure-client-assertion-with-no-sub-fails",
        "ensure-client-assertion-with-exp-is-5-minutes-in-past-fails",
        "ensure-client-assertion-with-wrong-aud-fails",
        "par-test-array-as-audience-fails",
        "par-test-par-endpoint-url-as-audience-fails",
        "par-test-token-endpoint-url-as-audience-fails",
        "par-ensure-jwt-client-assertions-nbf-8-seconds-in-the-future-is-accepted",
        "par-ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails",
        "ensure-holder-of-key-required",
        "dpop-negative-tests",
        "check-dpop-proof-nbf-exp",
        "ensure-dpopproof-with-iat-10seconds-before-succeeds",
        "ensure-dpopproof-with-iat-10seconds-after-succeeds",
        "ensure-mismatched-dpop-jkt-fails",
        "ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt",
        "ensure-token-endpoint-fails-with-mismatched-dpop-jkt",
        "ensure-dpopproof-at-par-endpoint-binding-success",
        "ensure-dpop-auth-code-binding-success",
        "refresh-token",
    )
]

MODULES = [
    "oidcc-server",
    "oidcc-response-type-missing",
    "oidcc-idtoken-signature",
    "oidcc-idtoken-unsigned",
    "oidcc-userinfo-get",
    "oidcc-userinfo-post-header",
    "oidcc-userinfo-post-body",
    "oidcc-ensure-request-without-nonce-succeeds-for-code-flow",
    "oidcc-scope-profile",
    "oidcc-scope-email",
    "oidcc-scope-address",
    "oidcc-scope-phone",
    "oidcc-scope-all",
    "oidcc-alternate-happy-flow",
    "oidcc-display-page",
    "oidcc-display-popup",
    "oidcc-prompt-login",
    "oidcc-prompt-none-not-logged-in",
    "oidcc-prompt-none-logged-in",
    "oidcc-max-age-1",
    "oidcc-max-age-10000",
    "oidcc-ensure-request-with-unknown-parameter-succeeds",
    "oidcc-id-token-hint",
    "oidcc-login-hint",
    "oidcc-ui-locales",
    "oidcc-claims-locales",
    "oidcc-ensure-request-with-acr-values-succeeds",
    "oidcc-codereuse",
    "oidcc-codereuse-30seconds",
    "oidcc-ensure-registered-redirect-uri",
    "oidcc-ensure-post-request-succeeds",
    "oidcc-server-client-secret-post",
    "oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported",
    "oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported",
    "oidcc-claims-essential",
    "oidcc-ensure-request-object-with-redirect-uri",
    "oidcc-refresh-token",
    "oidcc-ensure-request-with-valid-pkce-succeeds",
    "oidcc-discovery-endpoint-verification",
    "oidcc-rp-initiated-logout-discovery-endpoint-verification",
    "oidcc-rp-initiated-logout",
    "oidcc-rp-initiated-logout-no-state",
    "oidcc-rp-initiated-logout-bad-post-logout-redirect-uri",
    "oidcc-rp-initiated-logout-modified-id-token-hint",
    "oidcc-rp-initiated-logout-no-id-token-hint",
    "oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri",
    "oidcc-rp-initiated-logout-bad-id-token-hint",
    "oidcc-rp-initiated-logout-no-params",
    "oidcc-rp-initiated-logout-no-post-logout-redirect-uri",
    "oidcc-rp-initiated-logout-only-state",
    "oidcc-backchannel-logout-discovery-endpoint-verification",
    "oidcc-backchannel-rp-initiated-logout",
    "oidcc-frontchannel-logout-discovery-endpoint-verification",
    "oidcc-frontchannel-rp-initiated-logout",
    "oidcc-idtoken-rs256",
    "oidcc-userinfo-rs256",
    "oidcc-ensure-redirect-uri-in-authorization-request",
    "oidcc-redirect-uri-query-OK",
    "oidcc-redirect-uri-query-mismatch",
    "oidcc-redirect-uri-query-added",
    "oidcc-redirect-uri-regfrag",
    "oidcc-registration-jwks-uri",
    "oidcc-registration-sector-uri",
    "oidcc-registration-sector-bad",
    "oidcc-request-uri-signed-rs256",
    "oidcc-refresh-token-rp-key-rotation",
    *FAPI_2,
]

_NAMES = re.compile(r"def test_((?:oidcc|fapi2)_\w+)|id=\"((?:oidcc|fapi2)-[\w-]+)\"")


def _tested() -> set[str]:
    texts = [path.read_text() for path in Path(__file__).parent.glob("test_*.py")]
    return {(match[1] or match[2]).replace("_", "-") for text in texts for match in _NAMES.finditer(text)}


@pytest.mark.parametrize("module", MODULES)
def test_the_module_is_tested(module: str) -> None:
    assert module in _tested()


def test_nothing_else_bears_such_a_name() -> None:
    assert _tested() == set(MODULES)
