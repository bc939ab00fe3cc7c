"""Names and identifiers: what readers see is accepted, what they do not see is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from identity.foundation.visible_text import is_identifier, visible_name

REAL = [
    *("Davis, Jr.", "Renée (Nina)", "O\u2019Neill", "O'Neill", "María-José", "John 3rd", "D. B."),
    *('Robert "Bob"', "Smith/Jones", "Åse & Søn", "Nguyễn", "Ελένη", "Владимир", "מרים", "علي", "李小龍"),
    *(
        "김",
        "한글",
        "さくら",
        "नमस्ते",
        "ஔவை",
        "ไพลิน",
        "X Æ A-12",
        "Ⅷ",
        "½",
        "<b>",
        "=1+1",
        "😀",
        "Ａｄａ",
        "Иван\u00a0IV",
    ),
    # RFC 5892, appendix A: a virama before the joiner, or letters that join.
    *("क्\u200dष", "ක්\u200dෂ", "नेपाल्\u200cको", "نامه\u200cای"),
    # The ideograph of a family register.
    *("葛\U000e0100飾", "辻\U000e0101"),
]

UNSEEN = {
    "line feed": "a\nb",
    "carriage return": "a\rb",
    "tabulator": "a\tb",
    "null": "a\0b",
    "escape": "a\x1bb",
    "delete": "a\x7fb",
    "next line": "a\x85b",
    "a control at the end": "a\x1f",
    "a line feed at the end": "a\n",
    "soft hyphen": "a\u00adb",
    "combining grapheme joiner": "a\u034fb",
    "Arabic letter mark": "a\u061cb",
    "Hangul filler": "a\u115fb",
    "half-width Hangul filler": "a\uffa0b",
    "a filler alone": "\u3164",
    "Khmer inherent vowel": "a\u17b4b",
    "Mongolian variation selector": "a\u180bb",
    "Mongolian vowel separator": "a\u180eb",
    "zero-width space": "a\u200bb",
    "zero-width non-joiner between Latin letters": "a\u200cb",
    "zero-width joiner between Latin letters": "a\u200db",
    "zero-width joiner at the begin": "\u200dष",
    "left-to-right mark": "a\u200eb",
    "right-to-left mark": "a\u200fb",
    "line separator": "a\u2028b",
    "paragraph separator": "a\u2029b",
    "left-to-right embedding": "a\u202ab",
    "right-to-left override": "a\u202eb",
    "word joiner": "a\u2060b",
    "invisible times": "a\u2062b",
    "right-to-left isolate": "a\u2067b",
    "empty Braille pattern": "\u2800",
    "variation selector": "a\ufe0f",
    "byte order mark": "\ufeffa",
    "interlinear annotation": "a\ufff9b",
    "musical control": "a\U0001d173b",
    "tag": "a\U000e0041",
    "ideographic variation selector of a letter": "a\U000e0100",
    "ideographic variation selector of nothing": "\U000e0100",
    "private use": "a\ue000",
    "noncharacter": "a\uffff",
    "unassigned": "a\u0378",
    "surrogate": "a\ud800",
}


@pytest.mark.parametrize("name", REAL)
def test_names_of_people_are_accepted(name: str) -> None:
    assert visible_name(name) == name.replace("\u00a0", " ")


@pytest.mark.parametrize("name", UNSEEN.values(), ids=UNSEEN)
def test_characters_that_nobody_sees_are_refused(name: str) -> None:
    assert visible_name(name) is None
    assert not is_identifier(name)


@pytest.mark.parametrize(
    ("given_name", "stored"),
    [
        pytest.param("Zoe\u0308", "Zoë", id="composed"),
        pytest.param("  Ada   Maria ", "Ada Maria", id="spaces"),
        pytest.param("Ada\u3000Maria", "Ada Maria", id="ideographic space"),
        pytest.param("   ", "", id="only spaces"),
    ],
)
def test_a_name_is_stored_in_one_form(given_name: str, stored: str) -> None:
    assert visible_name(given_name) == stored


@given(st.text())
def test_a_stored_name_is_stored_as_it_is(text: str) -> None:
    name = visible_name(text)

    assert name is None or visible_name(name) == name


@pytest.mark.parametrize(
    "text", ["ada", "jürgen", "Ada.Lovelace+x", "δοκιμή", "用户", "l·l", "क्\u200dष", "كتاب٣", "straße"]
)
def test_an_identifier_has_letters_and_digits_of_every_script(text: str) -> None:
    assert is_identifier(text)


@pytest.mark.parametrize(
    "text", ["a b", "ａｄａ", "½", "Ⅷ", "a\u2019b", "😀", "a·b", "ـa", "\u1112\u1161", "٣۳", "a\u0488"]
)
def test_an_identifier_has_no_spaces_signs_and_look_alikes(text: str) -> None:
    assert not is_identifier(text)
