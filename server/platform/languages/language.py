"""One language: its translations, and its formats of dates, times and numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from gettext import NullTranslations
from typing import Final, Literal

from babel import Locale
from babel.dates import format_date, format_timedelta
from babel.numbers import format_decimal

# Seconds per unit, the unit's name, and the smallest number of seconds for which the unit is used.
_UNITS: Final[tuple[tuple[int, Literal["day", "hour", "minute", "second"], int], ...]] = (
    (86_400, "day", 36 * 3600),
    (3600, "hour", 90 * 60),
    (60, "minute", 60),
    (1, "second", 0),
)
# A threshold that no duration reaches, so that Babel keeps the given unit.
_NEVER = 1e12


def marked(text: str) -> str:
    """Mark a text for extraction into the catalogues; it is translated where it is displayed."""
    return text


@dataclass(frozen=True, slots=True)
class Language:
    """A language with its translations; `tag` is the BCP 47 language tag."""

    tag: str
    locale: Locale
    catalogue: NullTranslations = field(repr=False)

    @property
    def name(self) -> str:
        """The language's own name for itself."""
        return Locale.parse(self.tag, sep="-").get_display_name() or self.tag

    @property
    def direction(self) -> str:
        return self.locale.text_direction

    def translated(self, text: str, /, **values: object) -> str:
        """Translate a text, and replace `%(name)s` with the values."""
        # The catalogue's entry for the empty text is its header.
        found = self.catalogue.gettext(text) if text else ""
        return found % values if values else found

    def translated_plural(self, one: str, many: str, number: int, /, **values: object) -> str:
        return self.catalogue.ngettext(one, many, number) % ({"num": number} | values)

    def translations_of(self, texts: tuple[str, ...]) -> Mapping[str, str]:
        """Return the translations that differ from their source text, by source text."""
        found = ((text, self.catalogue.gettext(text)) for text in texts)
        return {text: translation for text, translation in found if translation != text}

    def moment(self, at: datetime) -> str:
        """Format a time in UTC, because the server does not know the reader's time zone."""
        shown = at.astimezone(UTC)
        return f"{format_date(shown, 'long', locale=self.locale)}, {shown:%H:%M} UTC"

    def precise_moment(self, at: datetime) -> str:
        """Format a time in UTC with seconds, for tables."""
        shown = at.astimezone(UTC)
        return f"{format_date(shown, 'medium', locale=self.locale)}, {shown:%H:%M:%S} UTC"

    def territory(self, code: str) -> str:
        """Return the name of a country with an ISO 3166 code, or the code for an unknown one."""
        return str(self.locale.territories.get(code, code))

    def number(self, value: float) -> str:
        return format_decimal(value, locale=self.locale)

    def in_time(self, seconds: int) -> str:
        """Format a rounded duration from now, such as `in 9 minutes`; empty for 0 seconds."""
        if not seconds:
            return ""
        length, unit = next((length, unit) for length, unit, least in _UNITS if least <= seconds)
        rounded = timedelta(seconds=-(-seconds // length) * length)
        return format_timedelta(
            rounded, granularity=unit, threshold=_NEVER, add_direction=True, locale=self.locale
        )
