"""Translations of texts in scripts: a page sends those of its own scripts along."""

from collections.abc import Mapping
from pathlib import Path

from babel.messages.extract import extract

from server.platform.languages import Language


class ScriptTexts:
    """Finds the texts of `_("…")` in scripts of a folder. Each script is read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._texts: dict[str, tuple[str, ...]] = {}
        self._translations: dict[tuple[str, tuple[str, ...]], Mapping[str, str]] = {}

    def of(self, language: Language, names: tuple[str, ...]) -> Mapping[str, str]:
        """Return the translations by their English; English itself has none."""
        key = (language.tag, names)
        if key not in self._translations:
            texts = tuple(text for name in names for text in self._of_script(name))
            self._translations[key] = language.translations_of(texts)
        return self._translations[key]

    def _of_script(self, name: str) -> tuple[str, ...]:
        if name not in self._texts:
            with (self._folder / name).open("rb") as script:
                found = extract("javascript", script, keywords={"_": None})
                self._texts[name] = tuple(text for _, text, _, _ in found if isinstance(text, str))
        return self._texts[name]
