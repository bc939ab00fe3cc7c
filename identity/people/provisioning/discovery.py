"""Documents that describe the server: RFC 7644 §4, RFC 7643 §5 to §7."""

from collections.abc import Sequence

from identity.foundation.tenants import Tenant
from identity.people.provisioning.answers import MOST_COUNT, page
from identity.people.provisioning.attributes import (
    COMMON,
    GROUP,
    SCHEMAS,
    USER,
    Attribute,
    AttributeType,
    Schema,
)
from identity.people.provisioning.bulk import MOST_BYTES, MOST_OPERATIONS
from identity.people.provisioning.documents import Members
from identity.people.provisioning.users import base_of
from server.platform.errors import NotFound

_CONFIGURATION = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"
_RESOURCE_TYPE = "urn:ietf:params:scim:schemas:core:2.0:ResourceType"
_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Schema"


def document_of(name: str, tenant: Tenant) -> Members:
    """Return the document of this name; raises NotFound."""
    base = base_of(tenant)
    kind, _, wanted = name.partition("/")
    if name == "ServiceProviderConfig":
        return _configuration(base)
    documents = {
        "ResourceTypes": [_resource_type(schema, base) for schema in (USER, GROUP)],
        "Schemas": [_schema(schema, base) for schema in SCHEMAS.values()],
    }.get(kind, [])
    if not wanted and documents:
        return page(documents, total=len(documents), start=1)
    found = next((each for each in documents if each["id"] == wanted), None)
    if found is None:
        raise NotFound("there is no such document")
    return found


def _configuration(base: str) -> Members:
    return {
        "schemas": [_CONFIGURATION],
        "patch": {"supported": True},
        "bulk": {"supported": True, "maxOperations": MOST_OPERATIONS, "maxPayloadSize": MOST_BYTES},
        "filter": {"supported": True, "maxResults": MOST_COUNT},
        "changePassword": {"supported": True},
        "sort": {"supported": True},
        "etag": {"supported": True},
        "authenticationSchemes": [
            {
                "type": "oauthbearertoken",
                "name": "API key or access token",
                "description": "An API key with rights to Provisioning, or an access token with identity:write.",
                "primary": True,
            }
        ],
        "meta": {"resourceType": "ServiceProviderConfig", "location": f"{base}/ServiceProviderConfig"},
    }


def _resource_type(schema: Schema, base: str) -> Members:
    extension = schema.extension
    extensions = [{"schema": extension.urn, "required": False}] if extension is not None else []
    return {
        "schemas": [_RESOURCE_TYPE],
        "id": schema.name,
        "name": schema.name,
        "endpoint": f"/{schema.name}s",
        "description": schema.text,
        "schema": schema.urn,
        "schemaExtensions": extensions,
        "meta": {"resourceType": "ResourceType", "location": f"{base}/ResourceTypes/{schema.name}"},
    }


def _schema(schema: Schema, base: str) -> Members:
    external = () if schema.extension is None and schema is not GROUP else _external_id()
    return {
        "schemas": [_SCHEMA],
        "id": schema.urn,
        "name": schema.name,
        "description": schema.text,
        "attributes": [_attribute(attribute) for attribute in (*external, *schema.attributes)],
        "meta": {"resourceType": "Schema", "location": f"{base}/Schemas/{schema.urn}"},
    }


def _external_id() -> Sequence[Attribute]:
    """Clients read in the schema whether they may map it, although RFC 7643 §3.1 has it for all."""
    return [attribute for attribute in COMMON if attribute.name == "externalId"]


def _attribute(attribute: Attribute) -> Members:
    found: Members = {
        "name": attribute.name,
        "type": attribute.type,
        "multiValued": attribute.is_multi_valued,
        "description": attribute.text,
        "required": attribute.is_required,
        "mutability": attribute.mutability,
        "returned": attribute.returned,
    }
    if attribute.type is AttributeType.COMPLEX:
        return {**found, "subAttributes": [_attribute(part) for part in attribute.parts]}
    return {**found, "caseExact": attribute.is_case_exact, "uniqueness": attribute.uniqueness}
