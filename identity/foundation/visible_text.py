"""Texts that pages show to users, of clients, administrators and other systems; and which of them may name somebody.

The classes of characters are those of PRECIS, RFC 8264 §9, as the module `unicodedata` knows them.
"""

import re
import unicodedata

import idna

# General categories of characters without a meaning for readers, and of further invisible ones.
_CONTROL = frozenset({"Cc", "Co", "Cs", "Cn"})
_UNSEEN = _CONTROL | {"Cf", "Zl", "Zp"}
# Bidirectional classes that change the order of text; isolates do so inside their paragraph only.
_EMBEDDING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF"})
_TURNING = _EMBEDDING | {"LRI", "RLI", "FSI", "PDI"}
_LAYOUT = frozenset("\n\t")

# Derived property Default_Ignorable_Code_Point, as far as the categories do not tell it; and the empty Braille pattern.
_IGNORED = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
_IDEOGRAPHIC_VARIATIONS = ("\U000e0100", "\U000e01ef")

# RFC 8264 §9.1, §9.6, §9.7, §9.9.
_LETTERS_AND_DIGITS = frozenset({"Ll", "Lu", "Lo", "Nd", "Lm", "Mn", "Mc"})
_CONTEXTUAL = frozenset("\u00b7\u0375\u05f3\u05f4\u30fb")
_VALID_EXCEPTIONS = frozenset("\u00df\u03c2\u06fd\u06fe\u0f0b\u3007")
_INVALID_EXCEPTIONS = frozenset("\u0640\u07fa\u302e\u302f\u3031\u3032\u3033\u3034\u3035\u303b")


def is_visible(text: str) -> bool:
    """Whether all characters of a short text are visible, and none of them changes the order of the others."""
    return not any(_has(letter, _UNSEEN, _TURNING) for letter in text)


def is_readable(text: str) -> bool:
    """Whether a long text has no control characters but line feeds and tabs; writing systems need some invisible ones."""
    return not any(_has(letter, _CONTROL, _EMBEDDING) for letter in text if letter not in _LAYOUT)


def visible_name(text: str) -> str | None:
    """Return a name of a person or a place as it is stored, None for one with characters that nobody sees.

    Spaces are made uniform as RFC 8266 §2.1 says, and the text has the normalization form NFC. An invisible joiner is
    accepted where its script needs it (RFC 5892, appendix A), a variation selector behind the ideograph that it varies.
    """
    spaced = "".join(" " if unicodedata.category(letter) == "Zs" else letter for letter in text)
    name = unicodedata.normalize("NFC", re.sub(" +", " ", spaced).strip(" "))
    return name if all(_is_seen(name, place) for place in range(len(name))) else None


def is_identifier(text: str) -> bool:
    """Whether all characters belong to the IdentifierClass of RFC 8264 §4.2, in their context."""
    return all(_identifies(text, place) for place in range(len(text)))


def _is_seen(text: str, place: int) -> bool:
    letter = text[place]
    if letter in _JOINERS:
        return _joins(text, place)
    if _IDEOGRAPHIC_VARIATIONS[0] <= letter <= _IDEOGRAPHIC_VARIATIONS[1]:
        return place > 0 and unicodedata.name(text[place - 1], "").startswith("CJK ")
    return unicodedata.category(letter) not in _UNSEEN and _IGNORED.match(letter) is None


def _identifies(text: str, place: int) -> bool:
    letter = text[place]
    if letter.isascii():
        return "!" <= letter <= "~"
    if letter in _JOINERS:
        return _joins(text, place)
    if letter in _CONTEXTUAL or "\u0660" <= letter <= "\u0669" or "\u06f0" <= letter <= "\u06f9":
        return idna.valid_contexto(text, place)
    if letter in _VALID_EXCEPTIONS:
        return True
    is_plain = unicodedata.normalize("NFKC", letter) == letter
    is_letter = unicodedata.category(letter) in _LETTERS_AND_DIGITS and _is_seen(letter, 0)
    return is_letter and is_plain and letter not in _INVALID_EXCEPTIONS and not _is_old_hangul(letter)


def _is_old_hangul(letter: str) -> bool:
    return "\u1100" <= letter <= "\u11ff" or "\ua960" <= letter <= "\ua97c" or "\ud7b0" <= letter <= "\ud7fb"


def _joins(text: str, place: int) -> bool:
    try:
        return idna.valid_contextj(text, place)
    except ValueError:
        return False


def _has(letter: str, categories: frozenset[str], directions: frozenset[str]) -> bool:
    return unicodedata.category(letter) in categories or unicodedata.bidirectional(letter) in directions
