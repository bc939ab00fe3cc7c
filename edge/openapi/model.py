"""The parts of an OpenAPI document that clients depend on, as types."""

import msgspec


class Schema(msgspec.Struct, frozen=True, rename="camel"):
    ref: str = msgspec.field(default="", name="$ref")
    type: str | list[str] = ""
    properties: dict[str, "Schema"] = {}
    required: tuple[str, ...] = ()
    items: "Schema | None" = None
    additional_properties: "Schema | bool" = True
    one_of: tuple["Schema", ...] = ()
    enum: list[str | int | None] | None = None
    pattern: str | None = None
    format: str | None = None
    unique_items: bool | None = None
    min_length: int | None = None
    max_length: int | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    exclusive_minimum: int | float | None = None
    exclusive_maximum: int | float | None = None
    min_items: int | None = None
    max_items: int | None = None
    min_properties: int | None = None
    max_properties: int | None = None


class Parameter(msgspec.Struct, frozen=True):
    ref: str = msgspec.field(default="", name="$ref")
    name: str = ""
    place: str = msgspec.field(default="", name="in")
    required: bool = False
    schema: Schema = Schema()


class Media(msgspec.Struct, frozen=True):
    schema: Schema = Schema()


class RequestBody(msgspec.Struct, frozen=True):
    content: dict[str, Media] = {}
    required: bool = False


class Response(msgspec.Struct, frozen=True):
    ref: str = msgspec.field(default="", name="$ref")
    content: dict[str, Media] = {}


class Operation(msgspec.Struct, frozen=True, rename="camel"):
    parameters: tuple[Parameter, ...] = ()
    request_body: RequestBody = RequestBody()
    responses: dict[str, Response] = {}


class Components(msgspec.Struct, frozen=True):
    schemas: dict[str, Schema] = {}
    parameters: dict[str, Parameter] = {}


class Document(msgspec.Struct, frozen=True):
    paths: dict[str, dict[str, Operation]] = {}
    components: Components = Components()

    def schema(self, schema: Schema) -> Schema:
        """Resolve a reference."""
        return self.schema(self.components.schemas[_name(schema.ref)]) if schema.ref else schema

    def parameter(self, parameter: Parameter) -> Parameter:
        return self.components.parameters[_name(parameter.ref)] if parameter.ref else parameter

    def by_type(self, schema: Schema) -> dict[str, Schema]:
        """Split a schema by JSON type; `any` for an untyped schema."""
        found = self.schema(schema)
        if found.one_of:
            return {
                name: one for alternative in found.one_of for name, one in self.by_type(alternative).items()
            }
        types = [found.type] if isinstance(found.type, str) else found.type
        return {name or ANY: found for name in types}


ANY = "any"


def _name(ref: str) -> str:
    return ref.rpartition("/")[2]
