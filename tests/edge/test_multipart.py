from typing import Any

import pytest
from multidict import MultiDict

from edge.contract import routes
from edge.transcode import decoder_of
from server.platform.errors import InvalidArgument

DECODE = decoder_of(next(route for route in routes() if route.operation_id == "createDeployment"))
CONTENT_TYPE = "multipart/form-data; boundary=XX"
FILE = 'Content-Disposition: form-data; name="resources"; filename="{}"\r\nContent-Type: text/xml'


def form(*parts: tuple[str, bytes], end: bytes = b"--XX--\r\n") -> bytes:
    return (
        b"".join(b"--XX\r\n" + head.encode() + b"\r\n\r\n" + content + b"\r\n" for head, content in parts)
        + end
    )


def decode(body: bytes, content_type: str = CONTENT_TYPE) -> Any:
    return DECODE(body, content_type, path={}, query=MultiDict())


def refusal(body: bytes, content_type: str = CONTENT_TYPE) -> str:
    with pytest.raises(InvalidArgument) as caught:
        decode(body, content_type)
    return caught.value.detail


def test_files_become_resources_in_their_order() -> None:
    found = decode(form((FILE.format("b.bpmn"), b"<b/>"), (FILE.format("a.dmn"), b"\x00\xff\r\n--X\r\n")))

    assert [(file.name, file.content) for file in found.resources] == [
        ("b.bpmn", b"<b/>"),
        ("a.dmn", b"\x00\xff\r\n--X\r\n"),
    ]


def test_text_parts_become_fields() -> None:
    found = decode(
        form(('Content-Disposition: form-data; name="tenantId"', "é".encode()), (FILE.format("a"), b"x"))
    )

    assert found.tenant_id == "é"


@pytest.mark.parametrize(
    ("parameter", "name"),
    [
        ('filename="a b.bpmn"', "a b.bpmn"),
        ("filename=a.bpmn", "a.bpmn"),
        ('filename="é.bpmn"', "é.bpmn"),
        ("filename*=UTF-8''%C3%A9.bpmn", "é.bpmn"),
        ('filename="a\\"b.bpmn"', 'a"b.bpmn'),
    ],
)
def test_a_file_name_is_read_in_every_spelling(parameter: str, name: str) -> None:
    found = decode(form((f"Content-Disposition: form-data; name=x; {parameter}", b"x")))

    assert [file.name for file in found.resources] == [name]


@pytest.mark.parametrize(
    "content_type", ['multipart/form-data; boundary="XX"', "Multipart/Form-Data;boundary=XX"]
)
def test_the_boundary_may_be_quoted(content_type: str) -> None:
    assert len(decode(form((FILE.format("a"), b"x")), content_type).resources) == 1


def test_a_form_without_parts_is_left_to_the_bounds() -> None:
    assert list(decode(b"--XX--").resources) == []


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (form(('Content-Disposition: form-data; name="nope"', b"x")), "nope: unknown parameter"),
        (
            form(*[('Content-Disposition: form-data; name="tenantId"', b"x")] * 2),
            "tenantId: given more than once",
        ),
        (
            form(('Content-Disposition: form-data; name="tenantId"', b"\xff")),
            "tenantId: expected text in UTF-8",
        ),
        (form(("Content-Disposition: form-data", b"x")), "request: expected a form-data part with a name"),
        (
            form(('Content-Disposition: attachment; name="a"', b"x")),
            "request: expected a form-data part with a name",
        ),
        (form(("Content-Type: text/xml", b"x")), "request: expected a form-data part with a name"),
        (
            form((FILE.format("a"), b"x"), end=b""),
            "request: expected a multipart body that ends with its boundary",
        ),
        (b"", "request: expected a multipart body that ends with its boundary"),
        (b"--XX\r\nno headers\r\n--XX--", "request: expected headers in every part"),
        (b"--XXmore\r\n\r\nx\r\n--XX--", "request: expected headers in every part"),
        (b"--XX\r\nA: \xff\r\n\r\nx\r\n--XX--", "request: expected headers in UTF-8"),
    ],
)
def test_other_forms_are_refused(body: bytes, detail: str) -> None:
    assert refusal(body) == detail


def test_a_transfer_encoding_is_refused() -> None:
    head = 'Content-Disposition: form-data; name="tenantId"\r\nContent-Transfer-Encoding: base64'

    assert refusal(form((head, b"eA=="))) == "tenantId: expected a part without transfer encoding"


@pytest.mark.parametrize("content_type", ["", "application/json", "multipart/mixed; boundary=XX"])
def test_other_content_types_are_refused(content_type: str) -> None:
    assert refusal(form((FILE.format("a"), b"x")), content_type).startswith(
        "request: expected content type multipart"
    )


@pytest.mark.parametrize("content_type", ["multipart/form-data", "multipart/form-data; boundary=é"])
def test_a_form_without_a_usable_boundary_is_refused(content_type: str) -> None:
    assert refusal(form(), content_type) == "request: expected a boundary in the content type"


DOCUMENT = decoder_of(next(route for route in routes() if route.operation_id == "createDocument"))
HTML = (
    'Content-Disposition: form-data; name="file"; filename="a.html"\r\nContent-Type: text/html; charset=utf-8'
)
METADATA = 'Content-Disposition: form-data; name="metadata"'


def decode_document(*parts: tuple[str, bytes], **query: str) -> Any:
    return DOCUMENT(form(*parts), CONTENT_TYPE, path={}, query=MultiDict(query))


def document_refusal(*parts: tuple[str, bytes]) -> str:
    with pytest.raises(InvalidArgument) as caught:
        decode_document(*parts)
    return caught.value.detail


def test_one_file_becomes_one_message_with_its_content_type() -> None:
    found = decode_document((HTML, b"<a>"))

    assert (found.file.name, found.file.content) == ("a.html", b"<a>")
    assert found.file.content_type == "text/html; charset=utf-8"
    assert not found.HasField("metadata")


def test_a_part_with_the_name_of_the_file_needs_no_file_name() -> None:
    found = decode_document(('Content-Disposition: form-data; name="file"', b"\xff"))

    assert (found.file.name, found.file.content, found.file.content_type) == ("", b"\xff", "")


@pytest.mark.parametrize("head", ["", "\r\nContent-Type: application/json", '; filename="blob"'])
def test_a_part_of_another_message_is_json(head: str) -> None:
    text = b'{"fileName": "b", "processInstanceKey": "7", "customProperties": {"a": 1}}'

    found = decode_document((HTML, b""), (METADATA + head, text))

    assert (found.metadata.file_name, found.metadata.process_instance_key) == ("b", 7)
    assert found.metadata.custom_properties == b'{"a": 1}'


def test_parameters_of_the_query_stand_beside_a_form() -> None:
    assert decode_document((HTML, b""), documentId="a").document_id == "a"


def test_a_form_without_a_file_is_left_to_the_bounds() -> None:
    assert not decode_document((METADATA, b"{}")).HasField("file")


@pytest.mark.parametrize(
    ("part", "detail"),
    [
        ((METADATA, b"{"), "metadata: expected valid JSON in UTF-8"),
        ((METADATA, b"\xff"), "metadata: expected valid JSON in UTF-8"),
        ((METADATA, b"[]"), "metadata: expected"),
        ((METADATA, b'{"colour": 1}'), "metadata.colour: unknown property"),
        ((METADATA, b'{"processInstanceKey": "x"}'), "metadata.processInstanceKey: expected a key"),
        ((HTML, b""), "file: given more than once"),
        (('Content-Disposition: form-data; name="documentId"', b"a"), "documentId: unknown parameter"),
    ],
)
def test_a_part_that_does_not_fit_is_refused(part: tuple[str, bytes], detail: str) -> None:
    assert document_refusal((HTML, b""), part).startswith(detail)


def test_an_object_is_given_once() -> None:
    assert document_refusal((METADATA, b"{}"), (METADATA, b"{}")) == "metadata: given more than once"


SEVERAL = decoder_of(next(route for route in routes() if route.operation_id == "createDocuments"))
LIST = 'Content-Disposition: form-data; name="metadataList"'
FILES = 'Content-Disposition: form-data; name="files"; filename="{}"'


def decode_documents(*parts: tuple[str, bytes]) -> Any:
    return SEVERAL(form(*parts), CONTENT_TYPE, path={}, query=MultiDict())


@pytest.mark.parametrize(
    "texts",
    [[b'[{"fileName": "a"}, {}]'], [b'{"fileName": "a"}', b"{}"], [b' [{"fileName": "a"}]', b"{}"]],
)
def test_a_list_of_objects_stands_in_one_part_or_in_several(texts: list[bytes]) -> None:
    parts = [(LIST, text) for text in texts]

    found = decode_documents((FILES.format("x"), b"x"), *parts, (FILES.format("y"), b"y"))

    assert [file.name for file in found.files] == ["x", "y"]
    assert [about.file_name for about in found.metadata_list] == ["a", ""]


def test_an_object_of_a_list_is_refused_with_its_place() -> None:
    with pytest.raises(InvalidArgument) as caught:
        decode_documents((FILES.format("x"), b""), (LIST, b'[{}, {"colour": 1}]'))

    assert caught.value.detail == "metadataList[1].colour: unknown property"
