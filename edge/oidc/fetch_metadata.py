"""Who made the browser send a request: W3C Fetch Metadata Request Headers.

A client that is no browser says nothing of the kind and is let through; cookies are what there is to abuse.
"""

from aiohttp import web

from edge.oidc.refusal import Refused

_EMBEDDING = frozenset({"embed", "iframe", "object", "frame", "fencedframe"})
_OWN = frozenset({"", "same-origin"})


def from_anywhere(_request: web.Request) -> None:
    """Let everybody through."""


def from_our_pages(request: web.Request) -> None:
    """Let our own pages through, and whoever follows a link; raises Refused."""
    if _site(request) in _OWN or _is_followed_link(request):
        return
    raise _from_elsewhere()


def from_our_origin(request: web.Request) -> None:
    """Let our own pages through and addresses that a person typed; raises Refused."""
    if _site(request) in _OWN or (_site(request) == "none" and request.method in {"GET", "HEAD"}):
        return
    raise _from_elsewhere()


def from_browser_itself(request: web.Request) -> None:
    """Let through what FedCM has the browser send, and no page can; raises Refused."""
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
    return Refused(400, "BadRequest", "the request came from a page that is not ours")
