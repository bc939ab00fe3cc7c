"""Languages of texts for people: catalogues of translations, and the choice of a language.

English is the source: the texts in the code are the keys of each catalogue. A language is one file,
`catalogues/<tag>.po`, which is read once when the process starts.
"""

from server.platform.languages.language import Language, marked
from server.platform.languages.languages import ENGLISH, Languages, languages

__all__ = ["ENGLISH", "Language", "Languages", "languages", "marked"]
