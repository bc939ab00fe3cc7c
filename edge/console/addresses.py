"""Addresses of the console's pages: below /console/, then the tenant."""

from urllib.parse import quote, urlencode

START = "/console/"
SIGNED_OUT_PAGE = "/console/signed-out"


def address_of(tenant: str, *segments: str, **query: str) -> str:
    """Return the address of a page of a tenant; parameters without a value are left out."""
    path = "/".join(quote(segment, safe="") for segment in (tenant, *segments))
    asked = urlencode({name: value for name, value in query.items() if value})
    end = "" if segments else "/"
    return f"{START}{path}{end}{'?' if asked else ''}{asked}"
