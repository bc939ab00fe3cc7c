"""Name of a browser and its system, from a User-Agent header.

The names are words of this module, so a mail can contain them; the header is free text of the sender.
"""

from collections.abc import Iterable

# Many browsers also name those that they are compatible with, so the first match counts.
_BROWSERS = (
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("OPR/", "Opera"),
    ("Vivaldi/", "Vivaldi"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)


def name_of(user_agent: str) -> str:
    """Return a name like `Firefox, Linux`; empty when neither is known."""
    return ", ".join(filter(None, (_first(_BROWSERS, user_agent), _first(_SYSTEMS, user_agent))))


def _first(rows: Iterable[tuple[str, str]], user_agent: str) -> str:
    return next((name for sign, name in rows if sign in user_agent), "")
