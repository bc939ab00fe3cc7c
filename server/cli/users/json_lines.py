"""Users as JSON lines: one object of the contract per line."""

from collections.abc import Iterator
from typing import BinaryIO

from google.protobuf.json_format import MessageToJson, Parse, ParseError

from gnomon.identity.v1.user_transfer_service_pb2 import TransferredUser
from server.cli.users.row import Row

_LONGEST_LINE = 1_048_576


def json_rows(file: BinaryIO) -> Iterator[Row]:
    place = 0
    while line := file.readline(_LONGEST_LINE + 1):
        place += 1
        if len(line) > _LONGEST_LINE:
            yield Row.refused(place, "", f"expected a line of at most {_LONGEST_LINE} bytes")
            while line and not line.endswith(b"\n"):
                line = file.readline(_LONGEST_LINE)
        elif line.strip():
            yield _row(place, line)


def line_of(user: TransferredUser) -> str:
    return MessageToJson(user, preserving_proto_field_name=True, indent=None, ensure_ascii=False)


def _row(place: int, line: bytes) -> Row:
    try:
        user = Parse(line, TransferredUser())
    except (ParseError, UnicodeDecodeError):
        return Row.refused(place, "", "expected an object with members of a user")
    return Row.of(place, user.email, user)
