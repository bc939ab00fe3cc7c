"""CSV files of users (RFC 4180), with a header row."""

import csv
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import BinaryIO

from gnomon.identity.v1.user_transfer_service_pb2 import TransferredUser
from server.cli.users.row import Row, UnreadableFile

_TRUE, _FALSE = frozenset({"true", "1", "yes"}), frozenset({"false", "0", "no"})
_BETWEEN_NAMES = ";"

TEXTS = ("email", "given_name", "family_name", "language", "password_hash", "attributes")
BOOLEANS = ("enabled", "email_verified", "password_expired")
NAMES = ("groups", "roles")
VALUES = ("preferred_username", "birthdate", "phone", "street", "zip", "city", "country", "tz")
CREATED_AT = "created_at"
COLUMNS = (*TEXTS, *BOOLEANS, *NAMES, *VALUES, CREATED_AT)


def csv_rows(file: BinaryIO) -> Iterator[Row]:
    """Yield the users; raises UnreadableFile."""
    reader = csv.reader(_lines(file), strict=True)
    try:
        names = next(reader, [])
        _expect_names(names)
        line = reader.line_num + 1
        for values in reader:
            if values:
                yield _row(line, dict(zip(names, values, strict=False)), is_whole=len(values) == len(names))
            line = reader.line_num + 1
    except (csv.Error, UnicodeDecodeError) as error:
        raise UnreadableFile(f"line {max(reader.line_num, 1)}: the file is not CSV in UTF-8") from error


def _lines(file: BinaryIO) -> Iterator[str]:
    for number, line in enumerate(file):
        # Spreadsheets write a byte order mark at the start of a file.
        yield line.decode("utf-8" if number else "utf-8-sig")


def values_of(user: TransferredUser) -> Mapping[str, str]:
    """Return the CSV columns of a user."""
    own = {name: getattr(user, name) for name in TEXTS}
    own |= {name: str(getattr(user, name)).lower() for name in BOOLEANS}
    own |= {name: _BETWEEN_NAMES.join(getattr(user, name)) for name in NAMES}
    own |= {name: getattr(user.user_values, name) for name in VALUES}
    made = datetime.fromtimestamp(user.created_at, UTC).isoformat() if user.created_at else ""
    return {**own, CREATED_AT: made}


def _expect_names(names: list[str]) -> None:
    unknown = sorted(set(names) - set(COLUMNS))
    if unknown:
        raise UnreadableFile(f"line 1: unknown column {unknown[0]!r}; expected some of {', '.join(COLUMNS)}")
    if "email" not in names or len(set(names)) < len(names):
        raise UnreadableFile("line 1: expected the names of columns, email among them, each once")


def _row(line: int, values: Mapping[str, str], *, is_whole: bool) -> Row:
    name = values.get("email", "")
    if not is_whole:
        return Row.refused(line, name, "expected as many values as there are columns")
    user = TransferredUser()
    try:
        for column, text in values.items():
            if text:
                _put(user, column, text)
    except ValueError as error:
        return Row.refused(line, name, str(error))
    return Row.of(line, name, user)


def _put(user: TransferredUser, column: str, text: str) -> None:
    """Set a user's field from a column's text; raises ValueError."""
    if column in VALUES:
        setattr(user.user_values, column, text)
    elif column in NAMES:
        getattr(user, column).extend(filter(None, map(str.strip, text.split(_BETWEEN_NAMES))))
    else:
        setattr(user, column, _PARSED[column](column, text) if column in _PARSED else text)


def _boolean(column: str, text: str) -> bool:
    lower = text.lower()
    if lower not in _TRUE | _FALSE:
        raise ValueError(f"{column}: expected true or false")
    return lower in _TRUE


def _seconds(column: str, text: str) -> int:
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"{column}: expected a time like 2026-01-31T12:00:00Z") from error
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())


_PARSED: Mapping[str, Callable[[str, str], object]] = {
    **dict.fromkeys(BOOLEANS, _boolean),
    CREATED_AT: _seconds,
}
