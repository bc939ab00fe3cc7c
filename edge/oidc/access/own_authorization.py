"""Authorization requests of the pages' own client, which sign users in for one of our pages.

Only the resulting session matters: the code is not redeemed.
"""

import secrets
from urllib.parse import urlencode

# The client of the provider's pages in each tenant; its redirect URIs are our pages.
_CLIENT_ID = "gnomon-pages"


def own_sign_in(issuer: str, *, login_hint: str) -> str:
    """Return the address at which a user signs in for a page of the issuer."""
    return f"{issuer}oidc/authorize?{own_authorization(issuer, page='sign-in', login_hint=login_hint)}"


def own_authorization(issuer: str, *, page: str, **parameters: str) -> str:
    """Return the query of a request that returns to a page of the issuer, which ends with a slash."""
    return urlencode(
        {
            "client_id": _CLIENT_ID,
            "response_type": "code",
            "redirect_uri": f"{issuer}{page}",
            "scope": "openid",
            # A random challenge without a known verifier: the code cannot be redeemed.
            "code_challenge": secrets.token_urlsafe(32),
            "code_challenge_method": "S256",
            **parameters,
        }
    )
