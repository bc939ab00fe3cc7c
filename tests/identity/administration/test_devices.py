from datetime import timedelta

import pytest

from identity.directory.user import UserId
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied
from tests.identity.administration.administration import ALICE, ROOT, Administration
from tests.identity.browsers import NOON

BOB = UserId("bob")


async def test_a_person_has_the_devices_that_it_let_in(administration: Administration) -> None:
    phone = await administration.device("phone")
    await administration.device("television", BOB)
    await administration.grant(device_id="phone")

    [listed] = await administration.devices.of_user(administration.tenant, ALICE)

    assert (listed.device, listed.refresh_until) == (phone, NOON + timedelta(hours=1))


async def test_a_device_is_called_otherwise(administration: Administration) -> None:
    await administration.device("phone")

    await administration.devices.rename(administration.tenant, ALICE, "phone", name="The phone", actor=ROOT)

    [listed] = await administration.devices.of_user(administration.tenant, ALICE)
    assert listed.device.name == "The phone"


@pytest.mark.parametrize("name", ["x", "a" * 129, "a\nb"])
async def test_a_name_can_be_shown(administration: Administration, name: str) -> None:
    await administration.device("phone")

    with pytest.raises(InvalidArgument):
        await administration.devices.rename(administration.tenant, ALICE, "phone", name=name, actor=ROOT)


async def test_a_device_without_tokens_stays_in_the_list(administration: Administration) -> None:
    await administration.device("phone")
    await administration.grant(device_id="phone")
    other = await administration.grant(device_id="tablet")

    await administration.devices.revoke(administration.tenant, ALICE, "phone", actor=ROOT)

    [listed] = await administration.devices.of_user(administration.tenant, ALICE)
    assert (listed.device.id, listed.refresh_until) == ("phone", None)
    assert await administration.live_token_sets() == [other]


async def test_another_persons_device_is_not_touched(administration: Administration) -> None:
    await administration.device("television", BOB)

    with pytest.raises(PermissionDenied):
        await administration.devices.revoke(administration.tenant, ALICE, "television", actor=ROOT)
    with pytest.raises(PermissionDenied):
        await administration.devices.rename(
            administration.tenant, ALICE, "television", name="Mine", actor=ROOT
        )


async def test_a_device_that_there_is_not_is_not_found(administration: Administration) -> None:
    with pytest.raises(NotFound):
        await administration.devices.revoke(administration.tenant, ALICE, "nothing", actor=ROOT)
