"""Languages of user-facing texts: translation catalogues, and the choice of a language.

English is the source language: the texts in the code are the keys of each catalogue. A language is one file,
`catalogues/<tag>.po`, read once when the process starts.
"""

from server.platform.languages.language import Language, marked
from server.platform.languages.languages import ENGLISH, Languages, languages

__all__ = ["ENGLISH", "Language", "Languages", "languages", "marked"]
