"""Content negotiation for errors: a browser that navigates gets a page, programs get JSON (RFC 9110 §12.5.1)."""

import re

from aiohttp import hdrs, web

_FORMS = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
_JSON = ("application/json", "application/problem+json")
_WEIGHT = re.compile(r"q\s*=\s*([01](?:\.[0-9]{0,3})?)", re.IGNORECASE)


def opens_address(request: web.Request) -> bool:
    """Whether a browser navigates to the address.

    HTTP clients of some languages prefer HTML by default. Their User-Agent tokens distinguish them from browsers.
    """
    if request.method not in {hdrs.METH_GET, hdrs.METH_HEAD}:
        return False
    return _navigates(request)


def sends_form(request: web.Request) -> bool:
    """Whether a browser submits a form of a page."""
    return request.method == hdrs.METH_POST and request.content_type in _FORMS and _navigates(request)


def prefers_html(accept: str) -> bool:
    """Whether an Accept header prefers HTML to JSON and to all other types."""
    weights = dict(map(_weighted, accept.lower().split(",")))
    html = weights.get("text/html", 0.0)
    return html > max(weights.get(kind, 0.0) for kind in _JSON) and html >= weights.get("*/*", 0.0)


def _navigates(request: web.Request) -> bool:
    scheme = request.headers.get(hdrs.AUTHORIZATION, "basic").partition(" ")[0].lower()
    if scheme != "basic" or request.headers.get("Sec-Fetch-Mode", "navigate") != "navigate":
        return False
    return prefers_html(",".join(request.headers.getall(hdrs.ACCEPT, ())))


def _weighted(media_range: str) -> tuple[str, float]:
    kind, _, parameters = media_range.partition(";")
    weight = _WEIGHT.search(parameters)
    return kind.strip(), float(weight[1]) if weight else 1.0
