"""Checks of the origin of a request by W3C Fetch Metadata Request Headers.

Clients other than browsers send no such headers and are admitted, because only a browser's cookies can be abused.
"""

from aiohttp import web

from edge.oidc.access.refusal import Refused

_EMBEDDING = frozenset({"embed", "iframe", "object", "frame", "fencedframe"})
_OWN = frozenset({"", "same-origin"})


def from_anywhere(_request: web.Request) -> None:
    """Admit every request."""


def from_our_pages(request: web.Request) -> None:
    """Admit requests of our own pages, and followed links; raises Refused."""
    if _site(request) in _OWN or _is_followed_link(request):
        return
    raise _from_elsewhere()


def from_our_origin(request: web.Request) -> None:
    """Admit requests of our own pages, and addresses that the user typed; raises Refused."""
    if _site(request) in _OWN or (_site(request) == "none" and request.method in {"GET", "HEAD"}):
        return
    raise _from_elsewhere()


def from_browser_itself(request: web.Request) -> None:
    """Admit FedCM requests of the browser itself, which pages cannot send; raises Refused."""
    if request.headers.get("Sec-Fetch-Dest") != "webidentity":
        raise Refused(400, "BadRequest", "the request did not come from the browser itself")


def _is_followed_link(request: web.Request) -> bool:
    if request.method not in {"GET", "HEAD"}:
        return False
    if _site(request) == "none":
        return True
    mode = request.headers.get("Sec-Fetch-Mode", "")
    destination = request.headers.get("Sec-Fetch-Dest", "")
    if mode == "no-cors":
        return destination == "image"
    return mode == "navigate" and destination not in _EMBEDDING


def _site(request: web.Request) -> str:
    return request.headers.get("Sec-Fetch-Site", "")


def _from_elsewhere() -> Refused:
    return Refused(400, "BadRequest", "the request came from a page of another site")
