import pytest

from server.feel import Value, compile_expression


def value_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('substring("foobar", 3)', "obar", id="substring"),
        pytest.param('substring("foobar", 3, 2)', "ob", id="substring of a length"),
        pytest.param('substring("foobar", -2)', "ar", id="substring from the end"),
        pytest.param('substring("foobar", 3, 10)', "obar", id="substring of a length beyond the end"),
        pytest.param('substring("foobar", -2, 10)', "ar", id="substring from the end, of a length beyond it"),
        pytest.param('substring("abc", 0)', "", id="substring from zero"),
        pytest.param('substring("abc", 0, 2)', "", id="substring of a length from zero"),
        pytest.param('substring("abc", 4)', "", id="substring from behind the last character"),
        pytest.param('string length("🐎ab")', 3, id="length in characters"),
        pytest.param('upper case("aB")', "AB", id="upper case"),
        pytest.param('lower case("aB")', "ab", id="lower case"),
        pytest.param('contains("foobar", "ob")', True, id="contains"),
        pytest.param(r'extract("abcba", "[a-z-[b]]+")', ["a", "c", "a"], id="subtracted characters"),
        pytest.param(r'extract("abcba", "[a-z&&[^b]]+")', ["a", "c", "a"], id="characters in common"),
        pytest.param(r'matches("a-b", "^a-[bc]$")', True, id="minus before characters"),
        pytest.param(r'extract("aé1", "\p{IsBasicLatin}")', ["a", "1"], id="block of characters"),
        pytest.param(r'extract("aα", "\p{IsAlphabetic}")', ["a", "α"], id="property of characters"),
        pytest.param(r'extract("1a-b c", "\i\c*")', ["a-b", "c"], id="characters of a name"),
        pytest.param(r'extract("a b", "[\s\i]")', ["a", " ", "b"], id="characters of a name among others"),
        pytest.param(r'matches("a", "\I")', False, id="no character of a name"),
        pytest.param('replace("a.b", ".", "-", "q")', "a-b", id="pattern taken as it is"),
        pytest.param('matches("a", "a", "y")', None, id="unknown flag"),
        pytest.param('matches("a", "[a")', None, id="bad pattern"),
        pytest.param('replace("a", "a", "$3")', None, id="group that is not there"),
        pytest.param('starts with("foobar", "foo")', True, id="starts with"),
        pytest.param('ends with("foobar", "foo")', False, id="ends with"),
        pytest.param('substring before("foobar", "bar")', "foo", id="before"),
        pytest.param('substring before("foobar", "x")', "", id="before what is not there"),
        pytest.param('substring after("foobar", "ob")', "ar", id="after"),
        pytest.param('substring after("foobar", "x")', "", id="after what is not there"),
        pytest.param('replace("abcd", "(ab)|(a)", "[1=$1][2=$2]")', "[1=ab][2=]cd", id="replace with groups"),
        pytest.param('replace("a", "a", "\\\\$1")', "$1", id="replace with a plain dollar"),
        pytest.param('replace("a.b", "\\.", "$9")', None, id="replace with a missing group"),
        pytest.param('matches("foobar", "O+", "i")', True, id="matches somewhere, with a flag"),
        pytest.param('matches("a", "(")', None, id="bad pattern"),
        pytest.param('split("a;b;;", ";")', ["a", "b", "", ""], id="split"),
        pytest.param('split("a1b22c", "\\d+")', ["a", "b", "c"], id="split by a pattern"),
        pytest.param('extract("fob and fab", "f[a-z]b")', ["fob", "fab"], id="extract"),
        pytest.param('string join(["a", null, "b"], ", ")', "a, b", id="join"),
        pytest.param('string join(["a", "b"], null, "<", ">")', "<ab>", id="join with ends"),
        pytest.param('string join(["a", 1])', None, id="join what is no string"),
        pytest.param('trim("  a b ")', "a b", id="trim"),
        pytest.param('is blank(" \t")', True, id="blank"),
        pytest.param('is blank("a")', False, id="not blank"),
        pytest.param('from base64(to base64("é"))', "é", id="base64"),
        pytest.param('from base64("!")', None, id="bad base64"),
    ],
)
def test_string_functions(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))
