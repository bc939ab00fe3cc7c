"""The language of the response to a request: `ui_locales` (OpenID Connect Core 1.0 §3.1.2.1), then `Accept-Language`."""

from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from aiohttp import hdrs, web

from server.platform.languages import Language, languages

_PARAMETER = "ui_locales"
# A few languages suffice; the rest of a longer list is ignored.
_MOST_LOCALES = 16


@dataclass(frozen=True, slots=True)
class _Wishes:
    ui_locales: tuple[str, ...] = ()
    accept_language: str = ""


_NONE: Final = _Wishes()
_current: ContextVar[web.Request | None] = ContextVar("request with wishes for a language", default=None)


def keep_language(request: web.Request) -> None:
    """Store the request for pages that the current task renders in a language of its browser."""
    _current.set(request)


def language_of(request: web.Request, *, of_user: str = "") -> Language:
    return _chosen(_wishes(request), of_user=of_user)


def kept_language(*, ui_locales: Iterable[str] = (), of_user: str = "") -> Language:
    """Return the language of the current request; `ui_locales` are those of its authorization request, if any."""
    request = _current.get()
    wishes = _NONE if request is None else _wishes(request)
    return _chosen(
        _Wishes((*wishes.ui_locales, *ui_locales), wishes.accept_language),
        of_user=of_user,
    )


def name_language(response: web.StreamResponse, language: Language) -> None:
    """Tell caches and browsers about the language: RFC 9110 §8.5, §12.5.5."""
    response.headers[hdrs.CONTENT_LANGUAGE] = language.tag
    response.headers.add(hdrs.VARY, hdrs.ACCEPT_LANGUAGE)


def _wishes(request: web.Request) -> _Wishes:
    locales = request.query.get(_PARAMETER, "").split(" ", _MOST_LOCALES)[:_MOST_LOCALES]
    return _Wishes(tuple(locales), request.headers.get(hdrs.ACCEPT_LANGUAGE, ""))


def _chosen(wishes: _Wishes, *, of_user: str) -> Language:
    return languages().chosen(
        ui_locales=wishes.ui_locales, accept_language=wishes.accept_language, of_user=of_user
    )
