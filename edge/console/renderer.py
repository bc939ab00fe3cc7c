"""Templates of the console, and the headers of its pages."""

import secrets
from collections.abc import Mapping
from datetime import datetime

from aiohttp import web
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from edge.console.texts import CAUSES, DONE

_NONCE_BYTES = 18
_THEMES = frozenset({"light", "dark"})
_THEME_COOKIE = "GnomonTheme"


class Renderer:
    """`assets` are the addresses of static files by their names."""

    def __init__(self, assets: Mapping[str, str]) -> None:
        self._assets = assets
        self._templates = Environment(
            loader=PackageLoader("edge.console"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._templates.globals |= {"DONE": DONE, "CAUSES": CAUSES}
        self._templates.filters |= {"number": number, "moment": moment, "words": words}

    def page(
        self, request: web.Request, template: str, facts: Mapping[str, object], *, status: int = 200
    ) -> web.Response:
        nonce = secrets.token_urlsafe(_NONCE_BYTES)
        theme = request.cookies.get(_THEME_COOKIE, "")
        own = {
            "assets": self._assets,
            "nonce": nonce,
            "theme": theme if theme in _THEMES else "",
        }
        text = self._templates.get_template(template).render({**own, **facts})
        headers = {"Content-Security-Policy": security_policy(nonce)}
        return web.Response(status=status, text=text, content_type="text/html", headers=headers)


def security_policy(nonce: str) -> str:
    """Permit scripts and styles of the page itself, and requests to our own origin.

    The viewer of diagrams needs nothing more: it sets styles by properties, which no policy governs, and its
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


def number(value: float) -> str:
    """Return a number with groups of three digits, separated by narrow spaces."""
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def moment(value: str | None) -> Markup:
    """Return a time element; the script of the page shows it in the person's time zone."""
    if not value:
        return Markup("\N{EN DASH}")
    shown = datetime.fromisoformat(value).strftime("%d %b %Y, %H:%M:%S UTC").lstrip("0")
    return Markup('<time datetime="{}">{}</time>').format(value, shown)


def words(name: str) -> str:
    """Return the name of a state or a kind in words: `JOB_NO_RETRIES` is `Job no retries`."""
    return name.replace("_", " ").capitalize()
