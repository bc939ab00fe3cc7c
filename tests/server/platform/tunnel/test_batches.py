from hypothesis import given
from hypothesis import strategies as st

from gnomon.tunnel.v1 import tunnel_service_pb2 as pb
from server.platform.tunnel.batches import MOST_ITEMS, batches

calls = st.lists(
    st.builds(pb.Call, id=st.integers(0, 2**64 - 1), request=st.binary(max_size=200)),
    max_size=3 * MOST_ITEMS,
)


@given(calls, st.integers(300, 5_000))
def test_nothing_is_lost_and_the_order_stays(items: list[pb.Call], limit: int) -> None:
    assert items == [item for batch in batches(items, limit) for item in batch]


@given(calls, st.integers(300, 5_000))
def test_every_message_is_within_its_bounds(items: list[pb.Call], limit: int) -> None:
    messages = [pb.ExchangeRequest(calls=batch) for batch in batches(items, limit)]

    assert all(message.ByteSize() <= limit and 1 <= len(message.calls) <= MOST_ITEMS for message in messages)


def test_an_item_above_the_limit_goes_alone() -> None:
    small, large = pb.Call(id=1), pb.Call(id=2, request=b"x" * 1_000)

    assert [[small], [large], [small]] == list(batches([small, large, small], 100))
