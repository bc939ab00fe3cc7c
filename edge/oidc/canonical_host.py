"""The one host at which people see pages: the issuer's.

Cookies, passkeys and the issuer's own links belong to one host. A listener on loopback has several, so browsers that ask
for a page at another one are redirected.
"""

from dataclasses import dataclass

from aiohttp import hdrs, web

_HTML = "text/html"


@dataclass(frozen=True, slots=True)
class CanonicalHost:
    """`origin` is the issuer's, `aliases` are values of Host that reach the same listener; without aliases all stay."""

    origin: str = ""
    aliases: frozenset[str] = frozenset()

    def redirect(self, request: web.Request) -> web.Response | None:
        """Return the answer to a navigation at an alias, None for every other request.

        Status 307 keeps method and form. The location has the configured origin, so no header decides where it leads.
        """
        if request.headers.get(hdrs.HOST, "").lower() not in self.aliases or not _is_navigation(request):
            return None
        return web.Response(
            status=307, headers={hdrs.LOCATION: f"{self.origin}{request.rel_url.raw_path_qs}"}
        )


def _is_navigation(request: web.Request) -> bool:
    """Whether a browser is to show the answer, and connected itself: a proxy has a public host of its own."""
    return _HTML in request.headers.get(hdrs.ACCEPT, "") and hdrs.X_FORWARDED_HOST not in request.headers
