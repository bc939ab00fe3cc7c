"""Maps HTTP requests to request messages: one function per route."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from multidict import MultiDict, MultiMapping

from edge.contract import JSON, BodyForm, Route
from edge.fields import Kind, kind_of
from edge.transcode import multipart
from edge.transcode.malformed import Malformed
from edge.transcode.objects import Members, decoded, single_shape, text_decoder
from edge.transcode.parameters import parameter_reader, path_reader

ReadBody = Callable[[bytes, str], Members]


class Decode(Protocol):
    """Returns a request message; raises InvalidArgument. An absent content type is the empty string."""

    def __call__(
        self, body: bytes, content_type: str, *, path: Mapping[str, str], query: MultiMapping[str]
    ) -> Message: ...


def decoder_of(route: Route) -> Decode:
    create: Callable[..., Message] = route.policy.request
    read_body = _body_reader(route)
    read_path = path_reader(route.path_fields)
    read_query = parameter_reader(route.query_fields)

    def decode(
        body: bytes, content_type: str, *, path: Mapping[str, str], query: MultiMapping[str]
    ) -> Message:
        try:
            return create(**read_path(path), **read_query(query), **read_body(body, content_type))
        except Malformed as error:
            raise error.refusal() from error
        except UnicodeEncodeError as error:
            raise Malformed("expected text in UTF-8").refusal() from error

    return decode


def _body_reader(route: Route) -> ReadBody:
    match route.body:
        case BodyForm.MULTIPART:
            return _form_reader(route)
        case BodyForm.FIELD:
            return _json(_field_decoder(route.body_fields[0]))
        case BodyForm.MEMBERS | BodyForm.NONE:
            return _json(text_decoder(route.body_fields))


def _json(decode: Callable[[bytes], Members]) -> ReadBody:
    def read(body: bytes, content_type: str) -> Members:
        if not body:
            return decode(b"{}")
        if content_type != JSON and _media_type(content_type) != JSON:
            raise Malformed(f"expected content type {JSON}, found {content_type or 'none'}")
        return decode(body)

    return read


def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _field_decoder(field: FieldDescriptor) -> Callable[[bytes], Members]:
    """For a body that consists of one field."""
    if kind_of(field) not in {Kind.OBJECT, Kind.MESSAGE} or field.is_repeated:
        raise TypeError(f"{field.full_name} is no object and cannot be a body")
    shape = single_shape(field)
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(shape.type)

    def decode(text: bytes) -> Members:
        return {field.name: shape.convert(decoded(decoder, text))}

    return decode


def _form_reader(route: Route) -> ReadBody:
    files, file = _file_field(route)
    read_texts = parameter_reader(field for field in route.body_fields if field is not files)

    def read(body: bytes, content_type: str) -> Members:
        if _media_type(content_type) != multipart.MEDIA_TYPE:
            raise Malformed(f"expected content type {multipart.MEDIA_TYPE}, found {content_type or 'none'}")
        found = list(multipart.parts(body, content_type))
        texts = MultiDict((part.name, part.text) for part in found if part.file_name is None)
        contents = [
            file(name=part.file_name, content=part.content) for part in found if part.file_name is not None
        ]
        return {files.name: contents} | read_texts(texts)

    return read


def _file_field(route: Route) -> tuple[FieldDescriptor, Callable[..., Message]]:
    """Find the repeated field whose message has `name` and `content`."""
    for field in route.body_fields:
        message = field.message_type if field.is_repeated else None
        if message is not None and {"name", "content"} <= set(message.fields_by_name):
            return field, GetMessageClass(message)
    raise TypeError(f"{route.policy.path} takes a form but has no field for its files")
