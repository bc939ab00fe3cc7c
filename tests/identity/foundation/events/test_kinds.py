from identity.foundation.events.kinds import EVENT_KINDS, EventType


def test_every_type_of_event_is_one_kind_with_a_number_of_its_own() -> None:
    numbers = [kind.number for kind in EVENT_KINDS.values()]

    assert EVENT_KINDS.keys() == set(EventType)
    assert len(set(numbers)) == len(numbers)
