"""Error responses of SCIM: RFC 7644 §3.12."""

from edge.oidc.access.refusal import Refused, refused
from server.platform.errors import AlreadyExists, ServiceError

MEDIA_TYPE = "application/scim+json"
_ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
_BAD_REQUEST = 400
_CHALLENGE = {"WWW-Authenticate": "Bearer"}


def refused_by_provisioning(error: ServiceError) -> Refused:
    """Map an error of the service to a response."""
    own = refused(error)
    return scim_refusal(own.status, own.error, error.detail, _scim_type(error, own.status))


def scim_refusal(status: int, error: str, detail: str, scim_type: str = "") -> Refused:
    keyword = {"scimType": scim_type} if scim_type else {}
    return Refused(
        status,
        error,
        detail,
        members={"schemas": [_ERROR], "status": str(status), "detail": detail, **keyword},
        headers=_CHALLENGE if status == 401 else {},  # noqa: PLR2004  # RFC 9110 §11.6.1
        media_type=MEDIA_TYPE,
    )


def _scim_type(error: ServiceError, status: int) -> str:
    if isinstance(error, AlreadyExists):
        return "uniqueness"
    return error.metadata.get("scim_type") or ("invalidValue" if status == _BAD_REQUEST else "")
