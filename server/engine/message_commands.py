"""Commands about messages and their subscriptions."""

from dataclasses import dataclass, field
from datetime import timedelta

from server.engine.addresses import HERE, Address, HomeOf, OwnersOf
from server.engine.keys import Key
from server.engine.variables import Variables


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishMessage:
    """Publish a message: correlate it now, and to subscriptions that open before its time to live is over.

    An empty `message_id` means none. While a message is buffered, another one with its id is rejected.
    """

    tenant_id: str
    name: str
    correlation_key: str = ""
    time_to_live: timedelta = timedelta()
    message_id: str = ""
    variables: Variables = field(default_factory=dict)

    @property
    def address(self) -> Address:
        return HomeOf(self.tenant_id, self.correlation_key)


@dataclass(frozen=True, slots=True)
class CorrelateMessage:
    """Correlate a message now, to at least one process instance, without buffering it."""

    tenant_id: str
    name: str
    correlation_key: str = ""
    variables: Variables = field(default_factory=dict)

    @property
    def address(self) -> Address:
        return HomeOf(self.tenant_id, self.correlation_key)


@dataclass(frozen=True, slots=True)
class ContinueMessage:
    """Sent by time: continue a correlation that an earlier command postponed."""

    tenant_id: str
    message_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.message_key,))


@dataclass(frozen=True, slots=True)
class ExpireMessage:
    """Sent by time: the time to live of a message is over."""

    tenant_id: str
    message_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.message_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMessageSubscription:
    """To the home partition: a process instance opened a message subscription, or changed its process id."""

    tenant_id: str
    subscription_key: Key
    process_instance_key: Key
    process_definition_id: str
    message_name: str
    correlation_key: str
    is_to_be_confirmed: bool = False

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class ConfirmMessageSubscription:
    """The home partition confirms that it knows the subscription's process id."""

    tenant_id: str
    subscription_key: Key

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class CloseMessageSubscription:
    """To the home partition: a process instance closed a message subscription."""

    tenant_id: str
    subscription_key: Key

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class DeliverMessage:
    """The home partition delivers a message to the partition of the subscribed process instance."""

    tenant_id: str
    message_key: Key
    subscription_key: Key
    variables: Variables

    @property
    def address(self) -> Address:
        return OwnersOf((self.subscription_key,))


@dataclass(frozen=True, slots=True)
class SettleMessage:
    """To the home partition: whether the process instance accepted the message."""

    tenant_id: str
    message_key: Key
    subscription_key: Key
    is_taken: bool

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class BeginNext:
    """Start the process with the next buffered message of this correlation key, after the previous instance ended.

    The home partition sends it to itself.
    """

    tenant_id: str
    process_definition_id: str
    correlation_key: str

    @property
    def address(self) -> Address:
        return HERE
