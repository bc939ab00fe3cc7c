"""Iteration over all records of a tenant, page by page."""

from collections.abc import AsyncIterator

from server.platform.call import TenantId
from server.platform.errors import Unavailable
from server.platform.records.port import R, Records

_PAGE = 500
_MOST_PAGES = 2000


async def every(records: Records[R], tenant_id: TenantId, *, after: str = "") -> AsyncIterator[R]:
    """Yield the records after an id in id order; the caller may change and remove them meanwhile.

    Raises Unavailable for more than a million records.
    """
    for _ in range(_MOST_PAGES):
        page = await records.page(tenant_id, after=after, most=_PAGE)
        if not page:
            return
        for record in page:
            yield record
        after = page[-1].id
    raise Unavailable(f"there are more than {_PAGE * _MOST_PAGES} records")
