"""Parser of multipart/form-data (RFC 7578) for a complete body."""

from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message as Headers
from email.parser import HeaderParser

from edge.transcode.malformed import Malformed

MEDIA_TYPE = "multipart/form-data"
_PLAIN_ENCODINGS = frozenset({"", "7bit", "8bit", "binary"})


@dataclass(frozen=True, slots=True)
class Part:
    """One part; a file has a file name. The content type is empty where the part has none."""

    name: str
    file_name: str | None
    content_type: str
    content: bytes

    @property
    def text(self) -> str:
        try:
            return self.content.decode()
        except UnicodeDecodeError:
            raise Malformed("expected text in UTF-8", self.name) from None


def parts(body: bytes, content_type: str) -> Iterator[Part]:
    """Split a body; raises Malformed when it does not match its content type."""
    # RFC 2046 §5.1.1: the line break before a delimiter belongs to the delimiter.
    _, *sections = (b"\r\n" + body).split(b"\r\n--" + _boundary(content_type))
    if not sections or not sections[-1].startswith(b"--"):
        raise Malformed("expected a multipart body that ends with its boundary")
    yield from map(_part, sections[:-1])


def _boundary(content_type: str) -> bytes:
    headers = Headers()
    headers["Content-Type"] = content_type
    boundary = headers.get_boundary()
    if not boundary or not boundary.isascii():
        raise Malformed("expected a boundary in the content type")
    return boundary.encode()


def _part(section: bytes) -> Part:
    padding, line_break, rest = section.partition(b"\r\n")
    head, blank, content = rest.partition(b"\r\n\r\n")
    if padding.strip(b" \t") or not line_break or not blank:
        raise Malformed("expected headers in every part")
    headers = _headers(head)
    name = headers.get_param("name", header="content-disposition")
    if headers.get_content_disposition() != "form-data" or not isinstance(name, str):
        raise Malformed("expected a form-data part with a name")
    if headers.get("content-transfer-encoding", "").lower() not in _PLAIN_ENCODINGS:
        raise Malformed("expected a part without transfer encoding", name)
    return Part(name, headers.get_filename(), headers.get("content-type", ""), content)


def _headers(head: bytes) -> Headers:
    try:
        return HeaderParser().parsestr(head.decode())
    except UnicodeDecodeError:
        raise Malformed("expected headers in UTF-8") from None
