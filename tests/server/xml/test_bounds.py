"""Each bound of a document: at the bound it is read, one beyond it is refused with the bound, the number and the line."""

import tracemalloc
from collections.abc import Callable

import pytest

from server.xml import (
    MAX_ALL_ATTRIBUTES,
    MAX_ATTRIBUTES,
    MAX_COMMENTS,
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_INSTRUCTIONS,
    MAX_NAME_LENGTH,
    MAX_NAMESPACES,
    MAX_VALUE_LENGTH,
    Markup,
    XmlError,
    parse,
)

MEBIBYTE = 1024 * 1024
FULL_ELEMENT = b"<b" + b"".join(b' a%d=""' % index for index in range(100)) + b"/>"


def read(xml: bytes) -> Markup:
    document = parse(xml)
    return document.markup({document.namespace: ""})


def nested(levels: int) -> bytes:
    return b"<a>" * levels + b"</a>" * levels


def elements(count: int) -> bytes:
    return b"<a>" + b"<b/>" * (count - 1) + b"</a>"


def foreign_elements(count: int) -> bytes:
    return b'<a><f:a xmlns:f="urn:foreign">' + b"<f:b/>" * (count - 2) + b"</f:a></a>"


def attributes(count: int) -> bytes:
    return b"<a" + b"".join(b' a%d=""' % index for index in range(count)) + b"/>"


def foreign_attributes(count: int) -> bytes:
    return b'<a xmlns:f="urn:foreign"' + b"".join(b' f:a%d=""' % index for index in range(count)) + b"/>"


def all_attributes(count: int) -> bytes:
    return b'<a c="">' + _filled(count - 1) + b"</a>"


def attributes_and_a_declaration(count: int) -> bytes:
    return b'<a xmlns="urn:a">' + _filled(count - 1) + b"</a>"


def _filled(count: int) -> bytes:
    return FULL_ELEMENT * (count // 100) + b'<b c=""/>' * (count % 100)


def namespaces(count: int) -> bytes:
    return b"<a" + b"".join(b' xmlns:a%d="urn:a"' % index for index in range(count)) + b"/>"


def comments(count: int) -> bytes:
    return b"<!---->" + b"<a>" + b"<!-- note -->" * (count - 1) + b"</a>"


def instructions(count: int) -> bytes:
    return b"<?note?>" + b"<a>" + b"<?note one?>" * (count - 1) + b"</a>"


BOUNDS = [
    pytest.param(nested, MAX_DEPTH, "nested elements", id="depth"),
    pytest.param(elements, MAX_ELEMENTS, "elements", id="elements"),
    pytest.param(foreign_elements, MAX_ELEMENTS, "elements", id="elements of another namespace"),
    pytest.param(attributes, MAX_ATTRIBUTES, "attributes of an element", id="attributes"),
    pytest.param(
        foreign_attributes, MAX_ATTRIBUTES, "attributes of an element", id="attributes of another namespace"
    ),
    pytest.param(
        all_attributes, MAX_ALL_ATTRIBUTES, "attributes of all elements", id="attributes of all elements"
    ),
    pytest.param(
        attributes_and_a_declaration,
        MAX_ALL_ATTRIBUTES,
        "attributes of all elements",
        id="a namespace among the attributes of all elements",
    ),
    pytest.param(namespaces, MAX_NAMESPACES, "namespaces of an element", id="namespaces"),
    pytest.param(
        lambda length: b"<" + b"a" * length + b"/>",
        MAX_NAME_LENGTH,
        "characters of a name",
        id="name of an element",
    ),
    pytest.param(
        lambda length: b"<a " + b"b" * length + b"=''/>",
        MAX_NAME_LENGTH,
        "characters of a name",
        id="name of an attribute",
    ),
    pytest.param(
        lambda length: b"<a xmlns:" + b"b" * length + b"='urn:b'/>",
        MAX_NAME_LENGTH,
        "characters of a prefix",
        id="prefix",
    ),
    pytest.param(
        lambda length: b"<a xmlns='" + b"u" * length + b"'/>",
        MAX_NAME_LENGTH,
        "characters of a namespace",
        id="namespace",
    ),
    pytest.param(
        lambda length: b"<a b='" + b"x" * length + b"'/>",
        MAX_VALUE_LENGTH,
        "characters of an attribute",
        id="value of an attribute",
    ),
    pytest.param(comments, MAX_COMMENTS, "comments", id="comments"),
    pytest.param(instructions, MAX_INSTRUCTIONS, "processing instructions", id="processing instructions"),
]


@pytest.mark.parametrize(("written", "bound", "_what"), BOUNDS)
def test_a_document_at_a_bound_is_read(written: Callable[[int], bytes], bound: int, _what: str) -> None:
    document = parse(written(bound))

    assert read(written(bound)).tag == document.name


@pytest.mark.parametrize(("written", "bound", "what"), BOUNDS)
def test_one_beyond_a_bound_is_refused_with_the_bound_and_what_was_found(
    written: Callable[[int], bytes], bound: int, what: str
) -> None:
    with pytest.raises(XmlError) as refusal:
        read(written(bound + 1))

    assert refusal.value.message == f"expected at most {bound} {what}, found {bound + 1}"


@pytest.mark.parametrize(
    "xml",
    [
        pytest.param(nested(MAX_DEPTH + 1), id="depth"),
        pytest.param(elements(MAX_ELEMENTS + 1), id="elements"),
        pytest.param(attributes(MAX_ATTRIBUTES + 1), id="attributes"),
        pytest.param(namespaces(MAX_NAMESPACES + 1), id="namespaces"),
    ],
)
def test_a_refusal_names_the_line_of_the_element(xml: bytes) -> None:
    with pytest.raises(XmlError) as refusal:
        read(b"\n\n" + xml)

    assert refusal.value.line == 3


def test_an_element_with_too_many_attributes_is_refused_before_they_are_read() -> None:
    xml = attributes(100_000)

    tracemalloc.start()
    with pytest.raises(XmlError, match=r"found 100000$"):
        read(xml)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < MEBIBYTE + len(xml)


def test_a_document_with_too_many_elements_is_refused_before_the_rest_is_read() -> None:
    xml = b"<a>" + b"<b/>" * MAX_ELEMENTS + attributes(MAX_ATTRIBUTES + 1) + b"</a>"

    with pytest.raises(XmlError, match=f"at most {MAX_ELEMENTS} elements"):
        parse(xml)


def test_a_long_namespace_is_refused_before_a_name_is_made_of_it() -> None:
    namespace = b"u" * 100_000
    xml = (
        b'<f:a xmlns:f="' + namespace + b'"' + b"".join(b' f:a%d=""' % index for index in range(100)) + b"/>"
    )

    tracemalloc.start()
    with pytest.raises(XmlError, match=f"at most {MAX_NAME_LENGTH} characters of a namespace, found 100000"):
        parse(xml)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < MEBIBYTE
