import pytest

from server.feel import DialectName, Value, compile_expression


def value_of(text: str, dialect: DialectName = "camunda") -> Value:
    return compile_expression(text, dialect=dialect).evaluate({}).value


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
        pytest.param(r'extract("abcba", "[a-z&&[^b]]+")', ["a", "c", "a"], id="characters in common"),
        pytest.param(r'matches("a-b", "^a-[bc]$")', True, id="minus before characters"),
        pytest.param(r'extract("aα", "\p{IsAlphabetic}")', ["a", "α"], id="property of characters"),
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
        pytest.param('string join(["a", "b"], ",", null, null)', "a,b", id="join without ends"),
        pytest.param('string join(["a", "b"], ",", "<", null)', None, id="join with one end"),
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(r'extract("abcba", "[a-z-[b]]+")', ["a", "c", "a"], id="subtracted characters"),
        pytest.param(r'extract("aé1", "\p{IsBasicLatin}")', ["a", "1"], id="block of characters"),
        pytest.param(r'extract("a b", "[\s\i]")', ["a", " ", "b"], id="characters of a name among others"),
        pytest.param(r'extract("1a-b c", "\i\c*")', ["a-b", "c"], id="characters of a name"),
        pytest.param(r'matches("a", "\I")', False, id="no character of a name"),
        pytest.param('replace("a.b", ".", "-", "q")', "a-b", id="pattern taken as it is"),
        pytest.param('matches("a", "a", "y")', None, id="unknown flag"),
        pytest.param(r'matches("ü", "\w")', True, id="letter of Unicode"),
        pytest.param(r'matches("Ü", "ü", "i")', True, id="letter of Unicode in either case"),
        pytest.param('replace("abc", "b", "x", null)', "axc", id="flags that are null"),
    ],
)
def test_patterns_of_the_standard_are_those_of_xpath(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text, "standard"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(r'matches("ü", "\w")', False, id="word of ASCII"),
        pytest.param(r'matches("ü", "\W")', True, id="no word of ASCII"),
        pytest.param(r'matches("٣", "\d")', False, id="digit of ASCII"),
        pytest.param(r'matches("ü", "\p{L}")', True, id="letter of Unicode"),
        pytest.param(r'matches("ü1", "\p{L}\d")', True, id="letter of Unicode and digit of ASCII"),
        pytest.param(r'matches("ü", "\p{Alpha}")', False, id="letter of ASCII"),
        pytest.param(r'matches("a", "[\P{Alpha}]")', False, id="no letter of ASCII among others"),
        pytest.param('matches("Ü", "ü", "i")', False, id="case of ASCII letters only"),
        pytest.param(r'matches("a.c", "\Qa.c\E")', True, id="quoted"),
        pytest.param(r'matches("abc", "\Qa.c\E")', False, id="quoted dot"),
        pytest.param(r'matches("a.", "a\Q.")', True, id="quoted up to the end"),
        pytest.param('replace("abc", "(?<n>b)", "[${n}]")', "a[b]c", id="group with a name"),
        pytest.param('replace("abc", "(b)", "[${n}]")', None, id="name of no group"),
        pytest.param('replace("abc", "(b)", "[$12]")', "a[b2]c", id="group and a digit"),
        pytest.param('replace("abc", "(a)(b)(c)", "$3$2$1")', "cba", id="groups"),
        pytest.param('replace("abc", "b", "$")', None, id="lone dollar"),
        pytest.param(r'replace("abc", "b", "\$")', "a$c", id="escaped dollar"),
        pytest.param('replace("abc", "b", "x", "z")', "axc", id="unknown flag"),
        pytest.param('replace("abc", "b", "x", null)', None, id="flags that are null"),
        pytest.param('matches("ABC", "b", "qi")', True, id="unknown flag beside a known one"),
        pytest.param(r'matches("a\rb", "a.b")', False, id="dot and a line end"),
        pytest.param(r'matches("a\rb", "a.b", "s")', True, id="dot that takes line ends"),
        pytest.param(r'matches("abc\n", "c$")', True, id="end before the last line end"),
        pytest.param('matches("b", "[a-c&&[^b]]")', False, id="intersection"),
        pytest.param('matches("b", "[a-c-[b]]")', True, id="no subtraction but a union"),
        pytest.param('matches("c", "[ab[c]]")', True, id="set within a set"),
        pytest.param('matches("é", "[[:alpha:]]")', False, id="set that looks like a class of POSIX"),
        pytest.param('matches("[", "[[]")', None, id="open set within a set"),
        pytest.param('matches("-", "[a--b]")', True, id="two hyphens in a set"),
        pytest.param('matches("a b", "a[ ]b", "x")', None, id="blank in a set, with flag x"),
        pytest.param('matches("a b", "a b")', True, id="blank without flag x"),
    ],
)
def test_patterns_of_camundas_dialect_are_those_of_java(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))
