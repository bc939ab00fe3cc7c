"""Access tokens in HTTP requests, and errors about them: RFC 6750, RFC 9449 §7."""

import re

from aiohttp import hdrs, web

from edge.oidc.access.dpop import ALGORITHMS, NONCE_HEADER, proof_of
from edge.oidc.access.refusal import Refused, dpop_nonce, invalid_request, refused_by_protocol
from gnomon.identity.v1 import user_info_service_pb2 as pb
from server.platform.errors import InvalidArgument, OAuthError, ServiceError

SCHEMES = frozenset({"bearer", "dpop"})

_NOT_QUOTABLE = re.compile(r"[^ -!#-\[\]-~]")
_OF_PROOFS = frozenset({"invalid_dpop_proof", "use_dpop_nonce"})


def token_in_header(request: web.Request) -> pb.PresentedToken | None:
    """Return the token of the Authorization header, None without one; raises Refused."""
    authorizations = request.headers.getall(hdrs.AUTHORIZATION, ())
    if len(authorizations) > 1:
        raise invalid_request("the Authorization header comes more than once")
    if not authorizations:
        return None
    scheme, _, access_token = authorizations[0].partition(" ")
    if scheme.lower() not in SCHEMES or not access_token.strip():
        raise nothing_presented()
    return token_of(request, access_token.strip(), is_dpop=scheme.lower() == "dpop")


def token_of(request: web.Request, access_token: str, *, is_dpop: bool) -> pb.PresentedToken:
    if not access_token.isascii():
        raise refused_to_bearer(
            OAuthError("invalid_token", "the token is not of this provider"), is_dpop=is_dpop
        )
    return pb.PresentedToken(access_token=access_token, is_dpop=is_dpop, dpop=proof_of(request))


def nothing_presented() -> Refused:
    """Challenge the caller to present a token, without an error code: RFC 6750 §3.1."""
    headers: dict[str, str] = {hdrs.WWW_AUTHENTICATE: f'Bearer, DPoP algs="{ALGORITHMS}"'}
    return Refused(401, "invalid_token", "expected an access token", is_oauth=True, headers=headers)


def refused_to_bearer(error: ServiceError, *, is_dpop: bool) -> Refused:
    """Map an error of the service to the response for a request with a token."""
    refusal = refused_by_protocol(error)
    if not isinstance(error, OAuthError | InvalidArgument) or not refusal.is_oauth:
        return refusal
    is_of_proof = refusal.error in _OF_PROOFS
    parameters = f'error="{refusal.error}", error_description="{_quotable(refusal.message)}"'
    is_of_dpop = is_dpop or is_of_proof
    challenge = f'DPoP {parameters}, algs="{ALGORITHMS}"' if is_of_dpop else f"Bearer {parameters}"
    nonce = dpop_nonce(error) if isinstance(error, OAuthError) else {}
    return Refused(
        401 if is_of_proof else refusal.status,
        refusal.error,
        refusal.message,
        is_oauth=True,
        headers={hdrs.WWW_AUTHENTICATE: challenge, **nonce},
    )


def nonce_header(dpop_nonce: str) -> dict[str, str]:
    return {NONCE_HEADER: dpop_nonce} if dpop_nonce else {}


def _quotable(text: str) -> str:
    """RFC 6750 §3: characters of error_description."""
    return _NOT_QUOTABLE.sub("'", text)
