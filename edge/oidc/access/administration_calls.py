"""Shared parts of the administration endpoints: caller, path parameters, pages of lists and JSON responses."""

from collections.abc import Mapping, Sequence

import orjson
from aiohttp import web

from edge.oidc.access.body import bad_request
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.callers import caller_of
from edge.oidc.access.documents import Members
from edge.oidc.access.refusal import Refused
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from gnomon.identity.v1 import caller_pb2, user_pb2

_MOST_OF_A_PAGE = 1000
_MAX_ID = 256
_PARTIAL_CONTENT = 206


class AdministrationCalls:
    """Bounds of calls, and the caller of each request."""

    def __init__(self, config: OidcConfig, browsers: Browsers) -> None:
        self.timeout = config.call_timeout_seconds
        self.long_timeout = config.long_call_timeout_seconds
        self.max_bytes = config.max_form_bytes
        self._browsers = browsers

    def caller(self, request: web.Request) -> caller_pb2.Caller:
        """Raises Refused."""
        return caller_of(request, self._browsers)

    def peer_address(self, request: web.Request) -> str:
        return self._browsers.peer_address(request)


def tenant_and_id(request: web.Request, name: str = "id") -> tuple[str, str]:
    """Return the tenant and an id of the path; raises Refused for an id that no message can hold."""
    return tenant_of(request), named(request, name)


def named(request: web.Request, name: str) -> str:
    """Return an id of the path; raises Refused for one that no message can hold."""
    text = request.match_info[name]
    if not text.isprintable() or not 0 < len(text) <= _MAX_ID:
        raise Refused(404, "NotFound", "there is nothing with this name")
    return text


def segment(request: web.Request, name: str) -> str:
    """Return a segment of the path, empty for one that no message can hold."""
    text = request.match_info[name]
    return text if text.isascii() else ""


def page_asked(request: web.Request) -> tuple[int, str]:
    """Return the size of a page and its continuation token; raises Refused.

    Lists can be read forwards only, from the end of the previous page.
    """
    query = request.query
    if query.get("offset", "0") != "0" or query.get("backwards", "false") != "false":
        raise bad_request("lists support continuation_token, not offset and backwards")
    size, token = query.get("page_size", "0"), query.get("continuation_token", "")
    if not size.isascii() or not size.isdecimal() or len(size) > len(str(_MOST_OF_A_PAGE)):
        raise bad_request(f"expected a page_size of at most {_MOST_OF_A_PAGE}")
    if not token.isascii():
        raise bad_request("expected the continuation_token of a previous page")
    return int(size), token


def page_written(page: Sequence[Members], size: int, continuation_token: str) -> web.Response:
    """Answer with the whole list, or with a page and the continuation token of the next one."""
    if not continuation_token and not size:
        return written(page)
    headers = {"x-page-size": str(size or _MOST_OF_A_PAGE)}
    if continuation_token:
        headers["x-continuation-token"] = continuation_token
    return written(page, status=_PARTIAL_CONTENT, headers=headers)


def names_of(names: Sequence[str] | None) -> user_pb2.Names | None:
    return None if names is None else user_pb2.Names(names=names)


def written(document: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(
        status=status, body=orjson.dumps(document), content_type="application/json", headers=headers
    )
