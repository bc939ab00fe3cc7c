"""Responses that return the browser to a relying party: RFC 6749 §4.1.2, OAuth 2.0 Form Post Response Mode §2."""

from urllib.parse import quote, urlencode

import orjson
from aiohttp import hdrs, web

from edge.oidc.pages import Pages
from gnomon.identity.v1 import browser_pb2 as pb

# Characters of a URI; all others are encoded, so that they cannot break the header.
_OF_A_URI = "%/:=&?~#+!$,;'@()*[]"


def sent_back(redirect: pb.Redirect, pages: Pages, *, status: int) -> web.Response:
    """Answer a browser that navigates; `status` is 303 after a form, so that its content is not posted again."""
    if redirect.response_mode == pb.RESPONSE_MODE_FORM_POST:
        return pages.form_post(redirect)
    return web.Response(status=status, headers={hdrs.LOCATION: location(redirect)})


def accepted(redirect: pb.Redirect) -> web.Response:
    """Answer a script, which navigates by itself to Location, or by a form with these members."""
    if redirect.response_mode == pb.RESPONSE_MODE_FORM_POST:
        body = orjson.dumps(
            {
                "response_mode": "form_post",
                "redirect_uri": redirect.uri,
                "parameters": [[parameter.name, parameter.value] for parameter in redirect.parameters],
            }
        )
        return web.Response(status=202, body=body, content_type="application/json")
    return web.Response(status=202, headers={hdrs.LOCATION: location(redirect)})


def location(redirect: pb.Redirect) -> str:
    uri = quote(redirect.uri, safe=_OF_A_URI)
    parameters = urlencode(
        [(parameter.name, parameter.value) for parameter in redirect.parameters], quote_via=quote
    )
    if not parameters:
        return uri
    if redirect.response_mode == pb.RESPONSE_MODE_FRAGMENT:
        return f"{uri}#{parameters}"
    return f"{uri}{'&' if '?' in uri else '?'}{parameters}"
