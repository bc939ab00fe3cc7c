"""Compression of responses: RFC 9110 §8.4, §12.5.3.

Published documents are compressed once. Pages of a search are compressed on request, in a thread, and only where no
secret stands beside texts of others, because the length of a compressed text reveals what repeats in it (BREACH).
Pages for browsers, answers of the provider and variables stay as they are.
"""

import gzip

from aiohttp import hdrs, web
from google.protobuf.descriptor import Descriptor
from multidict import CIMultiDict

GZIP = "gzip"

# Shorter documents gain nothing.
_LEAST_DOCUMENT = 1024
# Shorter answers fit into few packets, and their compression costs more than it saves.
_LEAST_ANSWER = 16 * 1024
_LEVEL = 6
# Octets that are compressed on the event loop, which takes less than a millisecond.
_MOST_ON_THE_LOOP = 16 * 1024


def compressed(document: bytes) -> bytes:
    """Return the document as gzip, empty if that gains nothing."""
    return gzip.compress(document, _LEVEL, mtime=0) if len(document) >= _LEAST_DOCUMENT else b""


def accepts_gzip(request: web.Request) -> bool:
    """Whether the client asks for gzip; `*` alone does not name it."""
    accepted = ",".join(request.headers.getall(hdrs.ACCEPT_ENCODING, ()))
    return any(_is_gzip(coding) for coding in accepted.split(","))


def may_be_compressed(item: Descriptor) -> bool:
    """Whether pages of these items may be compressed; a variable is a secret of some party, and a text of another."""
    return "value" not in item.fields_by_name


def plain_answer(
    body: bytes,
    request: web.Request,  # noqa: ARG001  # as `json_answer`
    *,
    status: int,
    headers: CIMultiDict[str],
) -> web.Response:
    return web.Response(body=body, status=status, headers=headers)


def json_answer(body: bytes, request: web.Request, *, status: int, headers: CIMultiDict[str]) -> web.Response:
    """Return the answer, compressed when the client asks for it and it is large.

    A browser sends cookies with requests of other sites, which could watch the lengths of the answers.
    """
    if len(body) < _LEAST_ANSWER or hdrs.COOKIE in request.headers:
        return web.Response(body=body, status=status, headers=headers)
    response = web.Response(body=body, status=status, headers=headers, zlib_executor_size=_MOST_ON_THE_LOOP)
    response.headers[hdrs.VARY] = hdrs.ACCEPT_ENCODING
    if accepts_gzip(request):
        response.enable_compression(web.ContentCoding.gzip)
    return response


def _is_gzip(coding: str) -> bool:
    name, _, parameter = coding.partition(";")
    if name.strip().lower() not in {GZIP, "x-gzip"}:
        return False
    weight = parameter.strip().lower().removeprefix("q=")
    return weight.strip("0.") != "" or not parameter.strip()
