"""Cache of published documents: provider metadata, key sets, OpenAPI.

A copy is used for at most a second, and while no change in this process affects documents; other processes make
changes, too. A key signs five seconds after its publication, so a key set of that age contains every signing key.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from weakref import WeakValueDictionary

from aiohttp import hdrs, web
from multidict import CIMultiDict

from edge.compression import GZIP, accepts_gzip, compressed
from server.platform.document_revision import DocumentRevision

FRESH_SECONDS = 1.0
MOST_BYTES = 16 * 1024 * 1024
JSON = "application/json"
REVALIDATED = "public, no-cache"
"""Caches must revalidate each time: RFC 9111 §5.2.2.4."""

NO_HEADERS: Mapping[str, str] = {}

_ETAG_LENGTH = 32
# Size of a copy besides its body.
_OVERHEAD_BYTES = 2048

Name = tuple[str, str]
"""The name of a document, and its tenant."""


class Document:
    """A JSON document with the headers of its responses; `headers` are those of its endpoint."""

    def __init__(self, body: bytes, *, caching: str, headers: Mapping[str, str] = NO_HEADERS) -> None:
        self.body = body
        etag = hashlib.sha256(body).hexdigest()[:_ETAG_LENGTH]
        described = {**headers, hdrs.CACHE_CONTROL: caching}
        packed = compressed(body)
        if packed:
            # RFC 9110 §15.4.5: a 304 has it as well.
            described[hdrs.VARY] = ", ".join(filter(None, (headers.get(hdrs.VARY), hdrs.ACCEPT_ENCODING)))
        self._plain = _Representation.of(body, etag, described)
        self._packed = (
            _Representation.of(packed, f"{etag}-{GZIP}", {**described, hdrs.CONTENT_ENCODING: GZIP})
            if packed
            else None
        )

    @property
    def size(self) -> int:
        return len(self.body) + (len(self._packed.body) if self._packed else 0)

    def response(self, request: web.Request) -> web.Response:
        """Return the document, or 304 to a client that has it: RFC 9110 §13.1.2."""
        chosen = self._packed if self._packed is not None and accepts_gzip(request) else self._plain
        if chosen.is_known(request):
            return web.Response(status=304, headers=chosen.not_modified)
        return web.Response(body=chosen.body, headers=chosen.headers)


@dataclass(frozen=True, slots=True)
class _Representation:
    """A document in one content coding; each has its own entity tag: RFC 9110 §8.8.3."""

    body: bytes
    etag: str
    headers: CIMultiDict[str]
    not_modified: CIMultiDict[str]

    @classmethod
    def of(cls, body: bytes, etag: str, described: Mapping[str, str]) -> "_Representation":
        headers = CIMultiDict({**described, hdrs.ETAG: f'"{etag}"', hdrs.CONTENT_TYPE: JSON})
        kept = {hdrs.CONTENT_ENCODING, hdrs.CONTENT_TYPE}
        not_modified = CIMultiDict((name, value) for name, value in headers.items() if name not in kept)
        return cls(body, etag, headers, not_modified)

    def is_known(self, request: web.Request) -> bool:
        named = request.headers.get(hdrs.IF_NONE_MATCH)
        if named is None or named == self.headers[hdrs.ETAG]:
            return named is not None
        return any(known.value in {"*", self.etag} for known in request.if_none_match or ())


@dataclass(frozen=True, slots=True)
class _Copy:
    document: Document
    revision: int
    fresh_until: float


class KeptDocuments:
    """Bounded by the size of all copies; the least recently used copy is dropped first."""

    def __init__(
        self,
        revision: DocumentRevision | None = None,
        *,
        most_bytes: int = MOST_BYTES,
        time: Callable[[], float] = monotonic,
    ) -> None:
        self._revision = revision or DocumentRevision()
        self._most_bytes = most_bytes
        self._time = time
        self._copies: OrderedDict[Name, _Copy] = OrderedDict()
        self._making: WeakValueDictionary[Name, asyncio.Lock] = WeakValueDictionary()
        self.size = 0

    async def get(self, name: Name, make: Callable[[str], Awaitable[Document]]) -> Document:
        """Return the current copy, else what `make` returns for the tenant; concurrent callers share one call."""
        return self.current(name) or await self._made(name, make)

    def current(self, name: Name) -> Document | None:
        """Return the current copy, if there is one."""
        copy = self._copies.get(name)
        if copy is None or copy.revision != self._revision.number or copy.fresh_until <= self._time():
            return None
        self._copies.move_to_end(name)
        return copy.document

    async def _made(self, name: Name, make: Callable[[str], Awaitable[Document]]) -> Document:
        lock = self._making.setdefault(name, asyncio.Lock())
        async with lock:
            known = self.current(name)
            if known is not None:
                return known
            # Read first, so that a change during the call makes the copy outdated.
            revision, fresh_until = self._revision.number, self._time() + FRESH_SECONDS
            document = await make(name[1])
            self._keep(name, _Copy(document, revision, fresh_until))
            return document

    def _keep(self, name: Name, copy: _Copy) -> None:
        before = self._copies.pop(name, None)
        self.size -= _size(before) if before else 0
        self._copies[name] = copy
        self.size += _size(copy)
        while self.size > self._most_bytes:
            _, dropped = self._copies.popitem(last=False)
            self.size -= _size(dropped)


def _size(copy: _Copy) -> int:
    return copy.document.size + _OVERHEAD_BYTES
