"""Reviewed differences between Zeebe 8.6 and our engine: one row for each, with the rule that decides.

A row says which differences are its own. A difference without a row is unexplained, and the run fails.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.peer.predicates import (
    Found,
    answers,
    asks_at_the_end_again,
    begins_itself_again,
    begins_next,
    beside_handlers,
    compensates_inside,
    completes_sooner,
    ends_itself,
    enters_again,
    fails_to_map_again,
    has_closing_signal,
    has_event_of_completing,
    has_event_of_entering,
    has_event_sub_process,
    has_flow,
    has_forgotten,
    has_gateway,
    has_handler,
    has_incident_of_start_event,
    has_incidents,
    has_late_event,
    has_missed_signal,
    has_orphan,
    has_outer_variable,
    has_outputs_alone,
    has_timer_of_completing,
    has_unhandled_error,
    has_waits_alone,
    is_entered_again,
    is_in_another_scope,
    is_interrupted_sooner,
    is_of_answers_alone,
    is_refused_for_scope,
    maps_again,
    never_ends,
    reads_collection_again,
    reads_what_a_script_sets,
    stays_for_event_sub_process,
    takes_another_subscription,
    waits_for_handler,
    waits_in_vain,
)


@dataclass(frozen=True, slots=True)
class Difference:
    """With `goes_on` both engines stand at the same place, and the history is compared further.

    `beside` gives what differs elsewhere than at the row's own elements: another row may explain that.
    """

    name: str
    rule: str
    takes: Callable[[Found], bool]
    goes_on: bool = False
    beside: Callable[[Found], Found | None] | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A difference that pictures leave out, or that random processes avoid."""

    name: str
    rule: str


def explanations(found: Found) -> Sequence[Difference]:
    """The row that takes all that differs, or the two that share it; empty when there are none."""
    whole = _row(found)
    return [whole] if whole is not None else next(_pairs(found), [])


def _row(found: Found) -> Difference | None:
    return next((row for row in DIFFERENCES if row.takes(found)), None)


def _pairs(found: Found) -> Iterator[Sequence[Difference]]:
    for row in DIFFERENCES:
        rest = row.beside(found) if row.beside is not None else None
        other = _row(rest) if rest is not None else None
        if other is not None:
            yield [row, other]


DIFFERENCES: Sequence[Difference] = (
    Difference(
        "incident of an event sub-process",
        "An event sub-process is subscribed to before the start event of its scope, so a failing expression is an incident"
        " of the scope (reference §5.13). Zeebe 8.6 subscribes when the start event completes, and that has the incident.",
        has_incident_of_start_event,
    ),
    Difference(
        "called process by an expression",
        "A process id that is no text is an EXTRACT_VALUE_ERROR (reference §5.6); Zeebe 8.6 has CALLED_ELEMENT_ERROR.",
        lambda found: has_incidents(found, "EXTRACT_VALUE_ERROR", "CALLED_ELEMENT_ERROR"),
    ),
    Difference(
        "subscriptions of an activity with an incident",
        "Events are subscribed to before the job is made, whatever becomes of that (reference §5.3). Zeebe 8.6 evaluates"
        " the type and the retries of the job first.",
        lambda found: has_waits_alone(found) or has_event_of_entering(found),
    ),
    Difference(
        "merge of an equal value",
        "The first scope that holds the name is updated (reference §5.4). When it has the same value already, Zeebe 8.6"
        " goes on outwards, and sets an outer variable, too.",
        has_outer_variable,
    ),
    Difference(
        "outputs of a multi-instance activity in another",
        "Both have the output collection `items`, and the outer one is no variable before its body completes (decision 055):"
        " what the inner one brings goes further out than in Zeebe.",
        has_outputs_alone,
    ),
    Difference(
        "signal of an event with an incident",
        "A subscription of a signal is closed when the signal comes. In Zeebe it stays until the event completes, which an"
        " incident of an output mapping puts off; another signal does nothing there.",
        has_closing_signal,
    ),
    Difference(
        "resolved incidents of elements",
        "Resolution retries the failed step (reference §5.6). Zeebe 8.6 enters or completes the element again: it maps the"
        " inputs and asks the listeners once more.",
        lambda found: (
            is_entered_again(found)
            or enters_again(found)
            or asks_at_the_end_again(found)
            or maps_again(found)
            or fails_to_map_again(found)
        ),
    ),
    Difference(
        "events of an activity that completes",
        "An activity unsubscribes when it has completed (reference §5.3), so an event on its boundary interrupts it while it"
        " has an incident of its output mappings. In Zeebe 8.6 nothing happens, and the subscription stays.",
        lambda found: has_event_of_completing(found) or has_timer_of_completing(found),
    ),
    Difference(
        "scripts on concurrent paths",
        "The order of concurrent paths is not defined. A script task that waits for nothing has set its variable here before"
        " the other path reads it, in Zeebe afterwards, or the other way round.",
        reads_what_a_script_sets,
    ),
    Difference(
        "signal that interrupts its own event",
        "A throwing event has completed when its signal goes out: broadcasts are commands of their own (reference §5.9)."
        " Zeebe 8.6 carries them out in between on the same partition, so the event is terminated.",
        ends_itself,
        goes_on=True,
    ),
    Difference(
        "collection of a multi-instance activity",
        "The collection is read when the body is entered (reference §5.11). Zeebe 8.6 reads it again when an instance"
        " completes, takes the next item from it, and has an incident when it has become another value.",
        reads_collection_again,
    ),
    Difference(
        "elements without a scope",
        "A sub-process completes when nothing in it is active (reference §5.3). Zeebe 8.6 completes it beside an event"
        " sub-process that has just begun, which stays for ever, and its job.",
        has_orphan,
    ),
    Difference(
        "signals that miss an event sub-process",
        "A signal triggers every subscription with its name (reference §5.9). Zeebe 8.6 leaves out that of an event"
        " sub-process now and then, such as beside a boundary event of the same scope.",
        has_missed_signal,
    ),
    Difference(
        "subscriptions of one process",
        "A message correlates once per process, and which of its subscriptions takes it is not defined (reference §5.8). In ours"
        " it is the one that has waited longest since it took one, in Zeebe that of the oldest element instance.",
        takes_another_subscription,
    ),
    Difference(
        "one of several scopes",
        "Timers that are due at once trigger in an order that is not defined (reference §5.10). When several instances of a"
        " sub-process have begun event sub-processes by then, the job that a move takes may be in another one of them.",
        is_in_another_scope,
    ),
    Difference(
        "event sub-processes of a scope that completes",
        "A terminate end event ends what else is in its scope (reference §5.13), and no event sub-process begins any more: ours"
        " closes their subscriptions, Zeebe when the scope has completed, which an incident of its output mappings puts off.",
        waits_in_vain,
    ),
    Difference(
        "failures of jobs that nobody has activated",
        "A job that is not activated cannot fail: 409 (specification: an activated job fails). Zeebe 8.6 takes the failure.",
        lambda found: (
            found.move == "fail"
            and answers(found, "FAILED_PRECONDITION", "OK")
            and bool(re.search("is ACTIVATABLE, not ACTIVATED", found.reason))
        ),
    ),
    Difference(
        "scopes that do not end",
        "A scope is terminated when all that it contains has ended (reference §5.17). Zeebe 8.6 still counts"
        " a flow that waited at a join when an event sub-process interrupted the scope, and terminates it for ever.",
        never_ends,
    ),
    Difference(
        "event sub-process of a scope that ends",
        "A sub-process completes when nothing in it is active (reference §5.3). Zeebe 8.6 completes it although an event"
        " sub-process has been triggered, and then does not begin that.",
        has_event_sub_process,
        goes_on=True,
    ),
    Difference(
        "event sub-process of a scope that an event inside ends",
        "Which subscription a signal triggers first is not defined (reference §5.9). In ours an event sub-process interrupts its"
        " scope before an event inside is triggered; in Zeebe 8.6 that may come first, and end the scope.",
        stays_for_event_sub_process,
    ),
    Difference(
        "events in a scope that is interrupted",
        "An interrupted scope enters nothing more (reference §5.13). When one signal triggers an event inside, too, Zeebe 8.6"
        " carries that out, and terminates what follows from it.",
        has_late_event,
    ),
    Difference(
        "buffered messages of a scope that is entered",
        "A buffered message comes to a new subscription by a command of its own (reference §5.8). How far the scope has gone"
        " until then, when an event sub-process waits for it, is not defined: ours goes on to the next wait state.",
        is_interrupted_sooner,
        goes_on=True,
    ),
    Difference(
        "buffered messages of a sub-process that waits for nothing",
        "When the partition correlates a message that is buffered already is not defined (reference §5.8). Ours completes the"
        " sub-process that meets no wait state first, Zeebe interrupts it by its boundary event now and then.",
        completes_sooner,
    ),
    Difference(
        "resolved without retries",
        "The incident of a job without retries is refused with INVALID_STATE (reference §2.2, resolveIncident); Zeebe"
        " answers NOT_FOUND.",
        lambda found: (
            found.move == "resolve"
            and is_of_answers_alone(found)
            and answers(found, "FAILED_PRECONDITION", "NOT_FOUND")
        ),
        goes_on=True,
    ),
    Difference(
        "a fault of Zeebe",
        "Zeebe 8.6 answers INTERNAL: it cannot find the events that catch an error which the job of a message throw event"
        " throws. By reference §5.7 that is like any other job.",
        lambda found: answers(found, "OK", "INTERNAL"),
    ),
    Difference(
        "errors of event sub-processes",
        "An error is searched for outwards (reference §5.7): from an event sub-process to the scope around it and its"
        " boundary. Zeebe 8.6 does not find the boundary of a scope that the event sub-process has interrupted.",
        has_unhandled_error,
    ),
    Difference(
        "event sub-processes that begin anew",
        "A scope that a modification has brought back still waits for errors and escalations (decision 077), which are"
        " searched for outwards (reference §5.7): one from inside or beside the event sub-process begins it anew. In Zeebe"
        " 8.6 the throwing event stays active for ever.",
        begins_itself_again,
    ),
    Difference(
        "claims of the assignee",
        "An assigned user task is refused to those who do not override (reference §2.0, assignUserTask). Zeebe lets its"
        " assignee have it again.",
        lambda found: (
            found.move == "assign"
            and is_of_answers_alone(found)
            and answers(found, "FAILED_PRECONDITION", "OK")
        ),
        goes_on=True,
    ),
    Difference(
        "handlers of a throwing event that a modification terminates",
        "They run inside of it (decision 059), and end with it. In Zeebe they are beside it, and go on.",
        has_handler,
        beside=beside_handlers,
    ),
    Difference(
        "activation in a scope that is not active",
        "A modification is refused when a flow scope that it needs is not active, or is terminated by it (reference §5.16)."
        " Zeebe 8.6 accepts it, and then activates nothing.",
        is_refused_for_scope,
    ),
    Difference(
        "throwing events whose handlers a modification terminates",
        "A throwing event waits for its compensation handlers (reference §5.12), and goes on when the last one has ended. Zeebe"
        " 8.6 does not count one that a modification terminates, and waits for ever.",
        waits_for_handler,
    ),
    Difference(
        "jobs that do not time out",
        "A job is offered again when its deadline passes (reference §5.5). Zeebe 8.6 misses some when many deadlines pass at"
        " once, and their workers keep them.",
        has_forgotten,
    ),
    Difference(
        "messages that wait for the end of a process instance",
        "The next message with the correlation key of a process instance begins one when that ends (reference §5.8). In Zeebe 8.6"
        " it does not when a modification has ended it.",
        begins_next,
    ),
    Difference(
        "handlers inside a sub-process with a handler",
        "A handler of a sub-process compensates it alone (decision 059: it takes the place of what the activities inside have)."
        " Zeebe 8.6 also compensates multi-instance activities inside.",
        compensates_inside,
    ),
    Difference(
        "flows at joins beside a modification",
        "A scope completes when no flow is in transit (reference §5.3), such as one that waits at a join. In Zeebe 8.6 an element"
        " that a modification activates uses such a flow up, and the scope ends without the join, then or later.",
        has_flow,
    ),
    Difference(
        "gateways that a modification activates",
        "A modification activates a gateway at once (reference §5.16 excepts none). Zeebe 8.6 drops the activation of a"
        " parallel or inclusive one to which no flow was taken.",
        has_gateway,
    ),
)

STANDING: Sequence[Standing] = (
    Standing(
        "order of sequence flows",
        "Sequence flows are looked at in document order (reference §5.13). Zeebe 8.6 begins with the last one of the"
        " document, whatever the order of `outgoing` is. Its files have them the other way round.",
    ),
    Standing(
        "mappings of tasks that are passed",
        "Manual and undefined tasks have input and output mappings like other activities (reference §5.2). Zeebe 8.6"
        " ignores them. Random processes have none there.",
    ),
    Standing(
        "events while end listeners run",
        "An element unsubscribes after its end listeners (reference §5.3), in Zeebe before them. Random processes have"
        " either.",
    ),
    Standing(
        "outputs of a multi-instance body",
        "The output collection is a variable of the body when that completes, not before (decision 055). Pictures leave it"
        " out while a body is active.",
    ),
    Standing(
        "flows behind an event-based gateway",
        "The flow to the event that was triggered counts as taken. Zeebe never records it. Pictures leave it out.",
    ),
    Standing(
        "scope of compensation handlers",
        "They run inside of the throwing event (decision 059), in Zeebe beside it. Paths leave throwing events out.",
    ),
    Standing(
        "phase of a gateway with an incident",
        "Conditions are evaluated in the phase COMPLETING, in Zeebe in ACTIVATING. Both are ACTIVE on the wire (reference"
        " §5.3), and so they are in pictures.",
    ),
    Standing(
        "conditions of gateways",
        "A condition that gives no boolean is a CONDITION_ERROR (reference §5.6); Zeebe 8.6 has EXTRACT_VALUE_ERROR. Pictures"
        " say CONDITION_ERROR for both.",
    ),
    Standing(
        "local variables of start events",
        "Without output mappings, a triggered start event merges what came with its trigger (reference §5.4). In Zeebe it keeps"
        " these as local variables, too, which stay while it has an incident. Pictures leave local variables of start"
        " events out.",
    ),
    Standing(
        "variables of throwing events",
        "Compensation handlers run inside of the throwing event (decision 059) and see its variables; in Zeebe they are beside"
        " it. Random moves set none there.",
    ),
    Standing(
        "user tasks without an element",
        "A user task is canceled when its element is terminated (reference §5.17). Zeebe 8.6 forgets those that a modification"
        " terminates. Pictures have user tasks of active elements.",
    ),
    Standing(
        "activation of the process",
        "A modification activates what is inside of the process (reference §5.16). Zeebe 8.6 makes the process again within"
        " itself when its own id is given. Random modifications do not.",
    ),
    Standing(
        "due dates in headers",
        "The headers of a job for a user task have times in UTC, with seconds. Zeebe keeps offsets, and leaves seconds out"
        " that are zero. Random dates have neither.",
    ),
    Standing(
        "paths into values that are no objects",
        "An output mapping to `c.x` where `c` is a text makes an object of it (reference §5.4: an object is built); in"
        " Zeebe 8.6 `c` becomes null. Nothing but mappings changes the variables of such targets.",
    ),
    Standing(
        "mappings into one another",
        "Mappings are made in their order, a later one sees the targets before it (reference §5.4). Of mappings to `c` and"
        " to `c.y` Zeebe makes the second alone, and a mapping to `c.y` sees nothing of one to `c.x`. Random processes have"
        " either.",
    ),
    Standing(
        "signals that trigger themselves",
        "A path that throws the signal with which it begins gets an incident when it meets no wait state (decision 041); Zeebe 8.6"
        " goes on for ever, and answers nothing else. A job stands behind each event that could begin such a path.",
    ),
    Standing(
        "ids of expired messages",
        "A message id is unique while its message is buffered (reference §5.8). Zeebe 8.6 looks once a minute for messages"
        " that have expired, and refuses their ids until then. Messages with ids live longer than random histories.",
    ),
    Standing(
        "order of paths without a worker",
        "The order of concurrent paths is not defined. Most of them begin with a job. Instances of parallel multi-instance"
        " activities that wait for nothing complete one by one; in Zeebe all are active before the first one completes."
        " Random processes have sequential ones.",
    ),
)
