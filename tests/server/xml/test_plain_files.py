"""A file that is parsed in one go is read as the parser with bounds reads it, and refused with the same words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.xml import MAX_ATTRIBUTES, MAX_DEPTH, Document, Markup, XmlError, parse

PIECES = st.sampled_from([
    b"<a>", b"<b>", b'<a x="1">', b"<x:a>", b"</a>", b"</b>", b"</x:a>", b"<a/>", b'<b y="&lt;" x:z="2"/>',
    b'<c xmlns:y="urn:y" y:d="1"/>', b"text", b" ", b"&amp;", b"&nothing;", b"\n", b"<!-- < -->", b"<?note?>",
    b"<![CDATA[</a>=]]>", b"<!DOCTYPE a>", b"<a" * 70, b"<a>" * (MAX_DEPTH + 1),
    b"<a" + b"".join(b' n%d=""' % number for number in range(MAX_ATTRIBUTES + 1)) + b"/>",
])  # fmt: skip
ROOT, END = b'<root xmlns:x="urn:x">', b"</root>"
NESTED = st.recursive(
    PIECES,
    lambda inside: st.lists(inside, max_size=4).map(lambda pieces: b"<n>" + b"".join(pieces) + b"</n>"),
)
UNDECLARED = b'<?xml version="1.0" encoding="cp1252"?>'
"""An encoding of which the octets are not looked at, so that the file is parsed with bounds."""


def read(xml: bytes) -> Markup | tuple[str, int]:
    try:
        return markup(parse(xml))
    except XmlError as error:
        return error.message, error.line


def markup(document: Document) -> Markup:
    return document.markup({"": "", "urn:x": "x:"})


@given(st.lists(NESTED, max_size=6).map(b"".join))
def test_both_parsers_read_the_same(inside: bytes) -> None:
    xml = b"".join([ROOT, inside, END])

    assert read(UNDECLARED + xml) == read(xml)


@pytest.mark.parametrize("declaration", [b"", b'<?xml version="1.0" encoding="UTF-8"?>'])
def test_a_comment_and_a_section_are_no_markup(declaration: bytes) -> None:
    xml = declaration + b"<a><!-- <b/> --><![CDATA[<c>]]></a>"

    assert parse(xml).markup({"": ""}) == Markup("a", text="<c>", line=1)
