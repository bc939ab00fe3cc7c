import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        pytest.param(r'matches("_", "\w")', False, id="punctuation is no word"),
        pytest.param(r'matches("$", "\w")', True, id="symbol of a word"),
        pytest.param(r'matches("٣", "\d")', True, id="digit of Unicode"),
        pytest.param(r'matches("a\rb", "a.b")', False, id="dot and a carriage return"),
        pytest.param(r'matches("a\rb", "a.b", "s")', True, id="dot that takes all"),
        pytest.param(r'matches("abc\n", "c$")', False, id="end of the string alone"),
        pytest.param(r'matches("abc\nd", "c$", "m")', True, id="end of a line"),
        pytest.param(r'matches("abc\nd", "^d", "m")', True, id="begin of a line"),
        pytest.param('matches("c", "[a-d-[b]]")', True, id="subtraction"),
        pytest.param('matches("b", "[^a-d-[b]]")', False, id="subtraction from all others"),
        pytest.param('matches("b", "[a[b]]")', None, id="set within a set"),
        pytest.param('matches("ab", "a b", "x")', True, id="blanks left out"),
        pytest.param('matches("a b", "a[ ]b", "x")', True, id="blank in a set, with flag x"),
        pytest.param(
            'matches("é", "\\p{ I s L a t i n - 1 S u p p l e m e n t }", "x")', True, id="blanks in a name"
        ),
        pytest.param('matches("a", "\\p{ L }")', None, id="blanks in a name, without flag x"),
        pytest.param('matches("a", "\\p{Letter}")', None, id="unknown property"),
        pytest.param('matches("abab", "^(ab)\\1$")', True, id="back-reference"),
        pytest.param('matches("aa", "(a)[\\1]")', None, id="back-reference in a set"),
        pytest.param('matches("aa", "(a\\1)")', None, id="back-reference to an open group"),
        pytest.param('matches("a", "\\Qa\\E")', None, id="quotes of Java"),
        pytest.param('matches("a", "(?=a)")', None, id="look-ahead"),
        pytest.param('matches("a", "(?i)a")', None, id="flags in the pattern"),
        pytest.param('matches("a", "a++")', None, id="possessive"),
        pytest.param('matches("a", "a{,2}")', None, id="braces without a first number"),
        pytest.param(r'matches("a", "\\b")', None, id="bound of a word"),
        pytest.param('matches("]", "]")', None, id="lone bracket"),
        pytest.param('replace("abc", "(b)", "[$1$2]")', "a[b]c", id="group that is not there"),
        pytest.param(
            'replace("abc", "(?:b)", "[$12]")', "a[2]c", id="digits behind a group that is not there"
        ),
        pytest.param('replace("abc", "b", "$")', None, id="lone dollar"),
        pytest.param(r'replace("abc", "b", "\\n")', None, id="escape of a letter"),
        pytest.param('replace("abc", "b", "$1", "q")', "a$1c", id="replacement taken as it is"),
        pytest.param('replace("abc", "x*", "-")', None, id="pattern of nothing"),
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
        pytest.param('replace("ab", "a*", "-")', "--b-", id="empty match behind another"),
        pytest.param('replace("ab", "a*?", "-")', "-a-b-", id="no match where an empty one was"),
        pytest.param('replace("ab", "|ab", "-")', "-a-b-", id="next character behind an empty match"),
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
        pytest.param('matches("ab", "a b # comment", "x")', True, id="comment"),
        pytest.param('matches("a", "[a#]", "x")', None, id="comment in a set"),
        pytest.param('matches("a", "\\p{ L }", "x")', None, id="blanks in a name"),
        pytest.param('matches("a", "\\p{Letter}")', None, id="unknown property"),
        pytest.param('matches("a", "\\p{javaLowerCase}")', True, id="property of a method"),
        pytest.param('matches("aa", "(a)\\1")', True, id="back-reference"),
        pytest.param('matches("a", "\\5")', False, id="back-reference to no group"),
        pytest.param('matches("aa", "(?<n>a)\\k<n>")', True, id="back-reference by name"),
        pytest.param('matches("a", "\\k<n>")', None, id="back-reference to no name"),
        pytest.param('matches("aa", "(a)[\\1]")', None, id="back-reference in a set"),
        pytest.param('matches("aa", "(?<n>a)(?<n>a)")', None, id="name of two groups"),
        pytest.param('matches("a", "(?#b)a")', None, id="comment of other languages"),
        pytest.param('matches("a", "(?P<n>a)")', None, id="group of other languages"),
        pytest.param('matches("a", "a{,2}")', None, id="braces without a first number"),
        pytest.param('matches("a", "{")', None, id="lone brace"),
        pytest.param('matches("}", "}")', True, id="brace that closes"),
        pytest.param('matches("a", "a{1}{1}")', True, id="braces behind braces"),
        pytest.param('matches("a", "(?s)+")', None, id="repeated flags"),
        pytest.param('matches("a", "\\y")', None, id="escape of a letter"),
        pytest.param('matches("a", "\\x61\\u0061?\\0141?")', True, id="codes of characters"),
        pytest.param('matches("]", "[]a.]")', True, id="bracket right behind a bracket"),
        pytest.param('matches("xa", "[]a.]a")', False, id="dot in a set"),
        pytest.param('matches("a\nb", "(?s)a.b")', True, id="flag in the pattern"),
        pytest.param('matches("a\nb", "(?s:a).b")', False, id="flag of a group"),
        pytest.param('matches("É", "(?iu)é")', True, id="case of Unicode by flag"),
        pytest.param('replace("a\r\nb", "$", "-", "m")', "a-\r\nb-", id="ends of lines"),
        pytest.param('replace("a\nb\n", "^", "-", "m")', "-a\n-b\n", id="begins of lines"),
    ],
)
def test_patterns_of_camundas_dialect_are_those_of_java(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))


@pytest.mark.parametrize("dialect", ["camunda", "standard"])
@given(
    pattern=st.text(st.sampled_from(r"ab1 []()<>{}^$.*+?|\-&:=!#,nkpLQEsx"), max_size=12),
    flags=st.text("smixq"),
)
def test_any_text_as_a_pattern_finds_something_or_is_null(
    pattern: str, flags: str, dialect: DialectName
) -> None:
    call = compile_expression("matches(text, pattern, flags)", dialect=dialect)
    variables: dict[str, Value] = {"text": "ab1 ab", "pattern": pattern, "flags": flags}

    found = call.evaluate(variables).value

    assert found in {True, False, None}
