"""The available languages, and the choice among them (RFC 4647 §3.4, RFC 9110 §12.5.4)."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import Final

from babel import Locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from server.platform.languages.language import Language

FOLDER: Final = Path(__file__).parent / "catalogues"
# Uses the British date format, which most English texts outside the United States use.
ENGLISH: Final = Language("en", Locale.parse("en_GB"), NullTranslations())

# Further preferences in the header are ignored.
_MOST_PREFERENCES = 16


class Languages:
    """The available languages; English is the fallback."""

    def __init__(self, others: Iterable[Language]) -> None:
        self._by_tag: Mapping[str, Language] = {
            language.tag.lower(): language for language in (ENGLISH, *others)
        }

    def __iter__(self) -> Iterator[Language]:
        return iter(self._by_tag.values())

    def chosen(
        self, *, ui_locales: Iterable[str] = (), accept_language: str = "", of_user: str = ""
    ) -> Language:
        """Return the first available language of: the request's `ui_locales`, the browser, the user's settings."""
        wishes = (*ui_locales, *preferences(accept_language), of_user)
        return next(filter(None, map(self._found, wishes)), ENGLISH)

    def of(self, tag: str) -> Language:
        """Return the language for a stored tag, or English."""
        return self._found(tag) or ENGLISH

    def _found(self, tag: str) -> Language | None:
        """Look a tag up, dropping subtags from the end until one is found: `de-AT` falls back to `de`."""
        found = tag.strip().lower().replace("_", "-")
        while found:
            if found in self._by_tag:
                return self._by_tag[found]
            found = found.rpartition("-")[0]
        return None


def preferences(accept_language: str) -> list[str]:
    """Return the language ranges of an Accept-Language header, best first, without ranges of weight 0."""
    weighted = [
        _weighted(entry) for entry in accept_language.split(",", _MOST_PREFERENCES)[:_MOST_PREFERENCES]
    ]
    # The sort is stable: ranges of one weight keep their order.
    by_weight = sorted(weighted, key=lambda entry: entry[1], reverse=True)
    return [tag for tag, weight in by_weight if weight > 0]


@cache
def languages() -> Languages:
    """Return the languages of this process; the first call reads the catalogues."""
    return Languages(_read(path) for path in sorted(FOLDER.glob("*.po")))


def _weighted(entry: str) -> tuple[str, float]:
    tag, _, parameter = entry.partition(";")
    name, _, value = parameter.strip().partition("=")
    if name.strip().lower() != "q":
        return tag.strip(), 1.0
    try:
        return tag.strip(), float(value)
    except ValueError:
        return tag.strip(), 0.0


def _read(path: Path) -> Language:
    locale = Locale.parse(path.stem, sep="-")
    compiled = BytesIO()
    with path.open("rb") as file:
        # Fuzzy translations are skipped, so these texts appear in English.
        write_mo(compiled, read_po(file, locale=locale))
    compiled.seek(0)
    return Language(path.stem, locale, GNUTranslations(compiled))
