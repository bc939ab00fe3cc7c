"""Templates of the console, and the headers of its pages."""

import secrets
from collections.abc import Mapping
from datetime import datetime
from functools import partial

from aiohttp import web
from markupsafe import Markup

from edge.console.texts import CAUSES, DONE
from edge.language_of_request import language_of, name_language
from edge.templates import Templates
from server.platform.languages import Language

_NONCE_BYTES = 18
_THEMES = frozenset({"light", "dark"})
_THEME_COOKIE = "GnomonTheme"
_TEMPLATES = Templates(
    "edge.console",
    values=lambda _: {"DONE": DONE, "CAUSES": CAUSES},
    filters=lambda language: {
        "number": language.number,
        "moment": partial(moment, language),
        "words": lambda name: language.translated(words(name)),
    },
)


class Renderer:
    """`assets` are the addresses of static files by their names."""

    def __init__(self, assets: Mapping[str, str]) -> None:
        self._assets = assets

    def page(
        self, request: web.Request, template: str, facts: Mapping[str, object], *, status: int = 200
    ) -> web.Response:
        nonce = secrets.token_urlsafe(_NONCE_BYTES)
        theme = request.cookies.get(_THEME_COOKIE, "")
        own = {
            "assets": self._assets,
            "nonce": nonce,
            "theme": theme if theme in _THEMES else "",
            "acting": None,
        }
        language = language_of(request)
        text = _TEMPLATES.of(language, template).render({**own, **facts})
        headers = {"Content-Security-Policy": security_policy(nonce)}
        response = web.Response(status=status, text=text, content_type="text/html", headers=headers)
        name_language(response, language)
        return response


def security_policy(nonce: str) -> str:
    """Permit scripts and styles of the page itself, and requests to our own origin.

    The viewer of diagrams needs no further permission: it sets styles by properties, which no policy governs, and its
    stylesheets contain images as data.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'nonce-{nonce}'",
            f"style-src 'nonce-{nonce}'",
            "img-src 'self' data:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        )
    )


def moment(language: Language, value: str | None) -> Markup:
    """Return a time element; the script of the page shows it in the person's time zone."""
    if not value:
        return Markup("\N{EN DASH}")
    shown = language.precise_moment(datetime.fromisoformat(value))
    return Markup('<time datetime="{}">{}</time>').format(value, shown)


def words(name: str) -> str:
    """Return the name of a state or a kind as words: `JOB_NO_RETRIES` becomes `Job no retries`."""
    return name.replace("_", " ").capitalize()
