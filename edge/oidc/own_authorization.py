"""Authorization requests of the pages' own client, which sign people in for one of our pages.

What counts is the session that they leave: the code is not redeemed.
"""

import secrets
from urllib.parse import urlencode

# The provider's own, of each tenant; its redirect URIs are our pages.
_CLIENT_ID = "gnomon-pages"


def own_authorization(issuer: str, *, page: str, **parameters: str) -> str:
    """Return the query of a request that comes back to a page of the issuer, which ends with a slash."""
    return urlencode(
        {
            "client_id": _CLIENT_ID,
            "response_type": "code",
            "redirect_uri": f"{issuer}{page}",
            "scope": "openid",
            # A digest that nobody knows the verifier of: the code is good for nothing.
            "code_challenge": secrets.token_urlsafe(32),
            "code_challenge_method": "S256",
            **parameters,
        }
    )
