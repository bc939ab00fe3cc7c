"""The start page of the deployment, and the entry page of an issuer."""

from dataclasses import asdict, dataclass

from aiohttp import web

from edge.oidc.pages.renderer import Pages


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFacts:
    """`path` is the path of the tenant's issuer, without a final slash."""

    path: str
    issuer: str
    offers_password_reset: bool
    is_signed_in: bool


def start_page(pages: Pages, issuer: str) -> web.Response:
    """The page at the address of the deployment."""
    return pages.rendered("start.html", {"issuer": issuer})


def entry_page(pages: Pages, facts: EntryFacts) -> web.Response:
    """The page at the address of an issuer."""
    return pages.rendered("entry.html", asdict(facts))
