"""Functions on strings; characters are Unicode code points (DMN 1.5 §10.3.4.3)."""

import base64
import binascii

from server.feel import patterns
from server.feel.decimals import Number, truncated
from server.feel.errors import InvocationError
from server.feel.limits import MAX_STRING_LENGTH
from server.feel.run import Run, joined
from server.feel.signatures import Family
from server.feel.text import shown
from server.feel.values import Value


def substring(run: Run, string: str, start_position: Number) -> str | None:
    return _part(run, string, truncated(start_position, MAX_STRING_LENGTH), None)


def substring_of_length(run: Run, string: str, start_position: Number, length: Number) -> str | None:
    position = truncated(start_position, MAX_STRING_LENGTH)
    return _part(run, string, position, truncated(length, MAX_STRING_LENGTH))


def _part(run: Run, string: str, position: int, length: int | None) -> str | None:
    start = position - 1 if position > 0 else len(string) + position
    end = len(string) if length is None else min(start + length, len(string))
    if 0 <= start < end or (run.dialect.has_empty_substrings and 0 <= start == end):
        return string[start:end]
    run.refuse("a substring reaches out of {}", string)
    return None


def string_length(string: str) -> int:
    return len(string)


def upper_case(string: str) -> str:
    return string.upper()


def lower_case(string: str) -> str:
    return string.lower()


def contains(string: str, match: str) -> bool:
    return match in string


def starts_with(string: str, match: str) -> bool:
    return string.startswith(match)


def ends_with(string: str, match: str) -> bool:
    return string.endswith(match)


def substring_before(string: str, match: str) -> str:
    before, found, _ = string.partition(match) if match else ("", "", "")
    return before if found else ""


def substring_after(string: str, match: str) -> str:
    return string.partition(match)[2] if match else string


def replace(run: Run, input_: str, pattern: str, replacement: str, flags: str | None = "") -> str:
    with run.matching():
        return joined(
            patterns.replaced(input_, pattern, replacement, _flags(run, flags), syntax=run.dialect.patterns)
        )


def matches(run: Run, input_: str, pattern: str, flags: str | None = "") -> bool:
    with run.matching():
        return patterns.is_found(input_, pattern, _flags(run, flags), syntax=run.dialect.patterns)


def _flags(run: Run, flags: str | None) -> str:
    if flags is None and not run.dialect.takes_null_flags:
        raise InvocationError("expected flags but found 'null'")
    return flags or ""


def split(run: Run, string: str, delimiter: str) -> list[Value]:
    with run.matching():
        return patterns.split(string, delimiter, syntax=run.dialect.patterns)


def extract(run: Run, input_: str, pattern: str) -> list[Value]:
    with run.matching():
        return patterns.find_all(input_, pattern, syntax=run.dialect.patterns)


def string_join(list_: list[Value], delimiter: str | None = None) -> str:
    return string_join_within(list_, delimiter, None, None)


def string_join_within(
    list_: list[Value], delimiter: str | None, prefix: str | None, suffix: str | None
) -> str:
    """Join strings; prefix and suffix must be given together."""
    if (prefix is None) is not (suffix is None):
        raise InvocationError("expected a prefix and a suffix but found only one of them")
    strings: list[str] = []
    for item in list_:
        if isinstance(item, str):
            strings.append(item)
        elif item is not None:
            raise InvocationError(f"expected a list of strings but found '{shown(item)}'")
    length = sum(map(len, strings)) + len(strings) * len(delimiter or "")
    if length > MAX_STRING_LENGTH:
        raise InvocationError(f"the result is longer than {MAX_STRING_LENGTH} characters")
    return (prefix or "") + (delimiter or "").join(strings) + (suffix or "")


def trim(string: str) -> str:
    return string.strip(_UP_TO_SPACE)


_UP_TO_SPACE = "".join(map(chr, range(0x21)))


def is_blank(string: str) -> bool:
    return not string or string.isspace()


def to_base64(value: str) -> str:
    return base64.b64encode(value.encode("utf-8", "replace")).decode("ascii")


def from_base64(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeError) as error:
        raise InvocationError(f"Invalid Base64 value '{value}'") from error


FUNCTIONS: Family = {
    "substring": (substring, substring_of_length),
    "string length": string_length,
    "upper case": upper_case,
    "lower case": lower_case,
    "contains": contains,
    "starts with": starts_with,
    "ends with": ends_with,
    "substring before": substring_before,
    "substring after": substring_after,
    "replace": replace,
    "matches": matches,
    "split": split,
    "extract": extract,
    "string join": (string_join, string_join_within),
    "trim": trim,
    "is blank": is_blank,
    "to base64": to_base64,
    "from base64": from_base64,
}
