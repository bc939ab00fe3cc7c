"""The canonical host of pages: the issuer's.

Cookies, passkeys and the issuer's own links belong to one host. A listener on loopback has several host names, so
browsers that request a page at another one are redirected.
"""

from dataclasses import dataclass

from aiohttp import hdrs, web

_HTML = "text/html"


@dataclass(frozen=True, slots=True)
class CanonicalHost:
    """`origin` is the issuer's; `aliases` are Host values of the same listener, from which pages redirect."""

    origin: str = ""
    aliases: frozenset[str] = frozenset()

    def redirect(self, request: web.Request) -> web.Response | None:
        """Return a redirect for a navigation to an alias, None for every other request.

        Status 307 preserves method and form. The location has the configured origin, so no header can change it.
        """
        if request.headers.get(hdrs.HOST, "").lower() not in self.aliases or not _is_navigation(request):
            return None
        return web.Response(
            status=307, headers={hdrs.LOCATION: f"{self.origin}{request.rel_url.raw_path_qs}"}
        )


def _is_navigation(request: web.Request) -> bool:
    """Whether a browser navigates and is connected directly: a proxy has a public host of its own."""
    return _HTML in request.headers.get(hdrs.ACCEPT, "") and hdrs.X_FORWARDED_HOST not in request.headers
