"""Which of the things that differ a row of `differences` explains."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from lxml import etree

from tests.peer.models import ITEMS
from tests.peer.picture import OUTPUTS, THROWING

Fact = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What differs after a step: by kind of fact, what only one engine has, and what both have.

    `details` are those of the move, `reason` is that of our refusal.
    """

    number: int
    step: int
    move: str
    details: str
    reason: str
    # Variables that theirs set in this step while an inner scope had one with this value.
    passed: frozenset[Fact]
    was_modified: bool
    # Where theirs has jobs whose deadlines have passed without effect.
    forgotten: frozenset[Fact]
    ours: Mapping[str, Counter[Fact]]
    theirs: Mapping[str, Counter[Fact]]
    both: Mapping[str, Counter[Fact]] = field(default_factory=dict)
    model: str = field(repr=False, default="")

    def __str__(self) -> str:
        lines = [f"process {self.number}, step {self.step}: {self.details}"]
        for name, sides in (("ours", self.ours), ("theirs", self.theirs)):
            for kind, facts in sides.items():
                for fact, times in sorted(facts.items(), key=str):
                    lines.append(
                        f"  only {name:6} {kind:9} {' '.join(map(str, fact))}{f' x{times}' * (times > 1)}"
                    )
        return "\n".join(lines)


_ENDS = ("COMPLETED", "TERMINATED")
# Ids of throwing signal events, and of event sub-processes.
_SIGNAL = re.compile(r"signal\d+|.*_warn")
_BESIDE = re.compile(r"beside|.*_help")


def answers(found: Found, ours: str, theirs: str) -> bool:
    pair = (found.ours.get("answer"), found.theirs.get("answer"))
    return pair == (Counter({(ours,): 1}), Counter({(theirs,): 1}))


def is_of_answers_alone(found: Found) -> bool:
    return {*found.ours, *found.theirs} == {"answer"}


def _facts(found: Found) -> Iterator[Fact]:
    """All that differs."""
    for sides in (found.ours, found.theirs):
        for facts in sides.values():
            yield from facts


def _incidents(found: Found) -> tuple[Fact, Fact] | None:
    """The only incident of ours and the only one of theirs."""
    pair = [[*sides.get("incident", Counter())] for sides in (found.ours, found.theirs)]
    return (pair[0][0], pair[1][0]) if [*map(len, pair)] == [1, 1] else None


def has_incident_of_start_event(found: Found) -> bool:
    """Theirs are at the start events of the scopes that have ours."""
    ours, theirs = (sides.get("incident", Counter()) for sides in (found.ours, found.theirs))
    of_scopes = Counter((*fact[:-3], *fact[-2:]) for fact in theirs if str(fact[-3]).endswith("start"))
    return bool(ours) and len(of_scopes) == len(theirs) and of_scopes == ours


def has_incidents(found: Found, ours: str, theirs: str) -> bool:
    """At the same element; nothing else differs."""
    pair = _incidents(found)
    is_alone = {*found.ours, *found.theirs} == {"incident"}
    return (
        pair is not None
        and is_alone
        and pair == ((*pair[1][:-2], ours, pair[1][-1]), (*pair[0][:-2], theirs, pair[0][-1]))
    )


def has_waits_alone(found: Found) -> bool:
    """Ours has subscriptions of elements with an incident that theirs does not have; nothing else differs."""
    waits = [fact[:-3] for kind in ("timer", "message") for fact in found.ours.get(kind, ())]
    waits += [fact[:-2] for fact in found.ours.get("signal", ())]
    with_incidents = {fact[:-2] for fact in found.both.get("incident", ())}
    kinds = {*found.ours} <= {"timer", "message", "signal"}
    return not found.theirs and kinds and bool(waits) and {*waits} <= with_incidents


def has_event_of_entering(found: Found) -> bool:
    """Only ours has entered an event on the boundary of an activity that has an incident in theirs, and is not active."""
    entered = {end[:-1] for end in found.ours.get("happened", ()) if end[-1] == "COMPLETED"}
    elements = {**found.theirs.get("element", {}), **found.both.get("element", {})}
    return any(
        any((*fact[:-2], kind, "ACTIVATING") in elements for kind in ("SERVICE_TASK", "SEND_TASK"))
        and any(event[:-1] == fact[:-3] and _is_on(event[-1], fact[-3]) for event in entered)
        for fact in found.theirs.get("incident", ())
    )


def has_outer_variable(found: Found) -> bool:
    """Only theirs has such a variable of an outer scope, with what follows from it."""
    changed = {*found.theirs.get("variable", ()), *found.theirs.get("happened", ())}
    return bool(changed & found.passed)


def has_outputs_alone(found: Found) -> bool:
    """The outputs of a multi-instance activity, or jobs that see them; nothing else differs."""
    variables = [*found.ours.get("variable", ()), *found.theirs.get("variable", ())]
    kinds = {*found.ours, *found.theirs}
    return kinds <= {"variable", "job"} and bool(variables) and {fact[-2] for fact in variables} == {OUTPUTS}


def has_closing_signal(found: Found) -> bool:
    """Only theirs still waits for a signal that has come to an event that has not completed."""
    completing = {fact[:-2] for fact in found.both.get("element", ()) if fact[-1] == "COMPLETING"}
    signals = {fact[:-2] for fact in found.theirs.get("signal", ())}
    return not found.ours and {*found.theirs} == {"signal"} and signals <= completing


def is_entered_again(found: Found) -> bool:
    """Behind an incident theirs asks listeners again where ours has the next incident, or maps inputs again."""
    ours, theirs = found.ours, found.theirs
    if found.move != "resolve" or not {*ours, *theirs} <= {"variable", "job", "incident"}:
        return False
    asked = [job for job in theirs.get("job", ()) if job[-4] == "EXECUTION_LISTENER"]
    others = [job[:-1] for job in theirs.get("job", ()) if job not in asked]
    mapped = {fact[:-1] for fact in ours.get("variable", ())}
    return (
        "incident" not in theirs
        and {incident[:-2] for incident in ours.get("incident", ())} == {job[:-7] for job in asked}
        and Counter(job[:-1] for job in ours.get("job", ())) == Counter(others)
        and mapped == {fact[:-1] for fact in theirs.get("variable", ())}
        and len({fact[:-1] for fact in mapped}) <= 1
    )


def enters_again(found: Found) -> bool:
    """Behind an incident theirs asks start listeners of activities again that ours has entered, with what follows.

    It may have mapped their inputs again.
    """
    asked = {job[:-7] for job in found.theirs.get("job", ()) if job[-4:-2] == ("EXECUTION_LISTENER", "START")}
    others = {*found.theirs} - {"job", "element", "variable"}
    entered = {fact[:-2] for fact in found.ours.get("element", ())} | {
        fact[:-1] for sides in (found.ours, found.both) for fact in sides.get("happened", ())
    }
    return (
        found.move == "resolve"
        and bool(asked)
        and not others
        and len(found.theirs["job"]) == len(asked)
        and {fact[:-2] for fact in found.theirs.get("element", ())} <= asked
        and {fact[:-2] for fact in found.theirs.get("variable", ())} <= asked
        and (
            asked <= entered
            or all(any(fact[: len(path)] == path for path in asked) for fact in _facts(found))
        )
    )


def asks_at_the_end_again(found: Found) -> bool:
    """Behind an incident theirs asks end listeners again of elements that ours has completed, with what follows."""
    jobs = found.theirs.get("job", Counter())
    completed = {end[:-1] for end in found.ours.get("happened", ()) if end[-1] == "COMPLETED"}
    return (
        found.move == "resolve"
        and bool(jobs)
        and all(job[-4:-2] == ("EXECUTION_LISTENER", "END") and job[:-7] in completed for job in jobs)
    )


def maps_again(found: Found) -> bool:
    """Behind an incident theirs has mapped the inputs of an element again; nothing outside of it differs."""
    changed = [{fact[:-1] for fact in sides.get("variable", ())} for sides in (found.ours, found.theirs)]
    inside = {fact[:-1] for fact in changed[0] & changed[1]}
    # What a called process was given is inside, too.
    places = {place for place in inside if not any(place[:length] in inside for length in range(len(place)))}
    return (
        found.move == "resolve"
        and len(places) == 1
        and all(fact[: len(place)] == place for place in places for fact in _facts(found))
    )


def fails_to_map_again(found: Found) -> bool:
    return found.move == "resolve" and has_incidents(found, "EXTRACT_VALUE_ERROR", "IO_MAPPING_ERROR")


def has_unhandled_error(found: Found) -> bool:
    """Theirs does not catch what an event sub-process throws; in ours that ends the scope."""
    incidents = [*found.theirs.get("incident", ())]
    happened = found.ours.get("happened", Counter())
    return bool(incidents) and all(
        fact[-2] == "UNHANDLED_ERROR_EVENT"
        and any((*fact[:place], "TERMINATED") in happened for place in _places_of_event_sub_processes(fact))
        for fact in incidents
    )


def _places_of_event_sub_processes(path: Fact) -> list[int]:
    return [place for place, element_id in enumerate(path) if _BESIDE.fullmatch(str(element_id))]


def begins_itself_again(found: Found) -> bool:
    """Theirs stays in an event that throws; in ours that has begun an event sub-process anew.

    The event is inside of the event sub-process, or beside it where a modification has activated it.
    """
    happened = found.ours.get("happened", Counter())
    throwing = {fact[:-2] for fact in found.theirs.get("element", ()) if fact[-2:] in _THROWING_FOR_EVER}
    begun = [
        end[:-2]
        for end in happened
        if len(end) > 2 and end[-1] == "COMPLETED" and end[-2] == f"{end[-3]}_start"
    ]
    return found.was_modified and any(
        (*path, "TERMINATED") in happened
        and (*event_sub_process, "TERMINATED") in happened
        and path[: len(event_sub_process) - 1] == event_sub_process[:-1]
        for path in throwing
        for event_sub_process in begun
    )


_THROWING_FOR_EVER = {("END_EVENT", "ACTIVATED"), ("INTERMEDIATE_THROW_EVENT", "ACTIVATED")}


def has_handler(found: Found) -> bool:
    """Only theirs still has a compensation handler whose throwing event was terminated by a modification.

    A scope that was left empty by that has ended in ours, and what is outside of it has gone on.
    """
    handlers = _terminated_handlers(found)
    happened = found.ours.get("happened", Counter())
    has_gone_on = any((*path[:-1], state) in happened for path in handlers for state in _ENDS)
    return bool(handlers) and (has_gone_on or all(_is_inside(fact, handlers) for fact in _facts(found)))


def beside_handlers(found: Found) -> Found | None:
    """What differs elsewhere than at such compensation handlers; None when there are none."""
    handlers = _terminated_handlers(found)
    if not handlers:
        return None
    ours, theirs = (
        {
            kind: rest
            for kind, facts in sides.items()
            if (
                rest := Counter(
                    {fact: times for fact, times in facts.items() if not _is_inside(fact, handlers)}
                )
            )
        }
        for sides in (found.ours, found.theirs)
    )
    return replace(found, ours=ours, theirs=theirs)


def _terminated_handlers(found: Found) -> AbstractSet[Fact]:
    """Compensation handlers that a modification has terminated in ours, all of which are active in theirs; or none."""
    happened = found.ours.get("happened", Counter())
    ended = {end[:-1] for end in happened if end[-1] == "TERMINATED" and str(end[-2]).endswith("_handler")}
    left = {fact[:-2] for fact in found.theirs.get("element", ())}
    return ended if found.move == "modify" and ended <= left else frozenset()


def _is_inside(fact: Fact, paths: AbstractSet[Fact]) -> bool:
    return any(fact[: len(path)] == path for path in paths)


def is_refused_for_scope(found: Found) -> bool:
    return (
        found.move == "modify"
        and (found.ours.get("answer"), found.theirs.get("answer"))
        == (Counter({("INVALID_ARGUMENT",): 1}), Counter({("OK",): 1}))
        and bool(re.search("needs element instance .*, which is (not active|terminated)", found.reason))
    )


def has_gateway(found: Found) -> bool:
    if found.move != "modify" or found.theirs:
        return False
    element_id = found.details.split()[3]
    tags = ("parallelGateway", "inclusiveGateway")
    return any(f'<bpmn:{tag} id="{element_id}"' in found.model for tag in tags)


def has_flow(found: Found) -> bool:
    """Ours has nothing in a scope but a flow that waits at a join; theirs has ended it, at or after a modification."""
    ended = {end[:-1] for end in found.theirs.get("happened", ()) if end[-1] in _ENDS}
    active = {fact[:-2] for sides in (found.ours, found.both) for fact in sides.get("element", ())}
    return (
        found.was_modified
        and "arallelGateway" in found.model
        and any(
            scope in active and not any(path[: len(scope)] == scope for path in active - {scope})
            for scope in ended
        )
    )


def has_forgotten(found: Found) -> bool:
    """Theirs has jobs with the variables of an earlier activation; nothing else differs."""
    ours, theirs = (sides.get("job", Counter()) for sides in (found.ours, found.theirs))
    return (
        {*found.ours} == {*found.theirs} == {"job"}
        and Counter(job[:-1] for job in ours) == Counter(job[:-1] for job in theirs)
        and {job[:-7] for job in theirs} <= found.forgotten
    )


def waits_for_handler(found: Found) -> bool:
    """Theirs still has a throwing event that ours completed when a modification terminated its last handler."""
    happened = found.ours.get("happened", Counter())
    waiting = {fact[:-2] for fact in found.theirs.get("element", ()) if fact[-2] in THROWING}
    ended = {end[:-1] for end in found.both.get("happened", ()) if end[-1] == "TERMINATED"}
    return (
        found.move == "modify"
        and any((*path, "COMPLETED") in happened for path in waiting)
        and any(str(path[-1]).endswith("_handler") for path in ended)
    )


def has_event_of_completing(found: Found) -> bool:
    """Only ours has entered an event on the boundary of an activity that completes, and has an incident."""
    happened = found.ours.get("happened", Counter())
    entered = {end[:-1] for end in happened if end[-1] == "COMPLETED"}
    for sides in (found.theirs, found.both):
        for *path, _, state in sides.get("element", ()):
            events = (
                event for event in entered if event[:-1] == tuple(path[:-1]) and _is_on(event[-1], path[-1])
            )
            if state == "COMPLETING" and any(events):
                return True
    return False


def has_timer_of_completing(found: Found) -> bool:
    """Only ours has gone on with the cycle of a timer in a scope that completes, and has an incident."""
    completing = {fact[:-2] for fact in found.both.get("element", ()) if fact[-1] == "COMPLETING"}
    ours, theirs = ([*sides.get("timer", ())] for sides in (found.ours, found.theirs))
    return (
        {*found.ours} == {*found.theirs} == {"timer"}
        and {fact[:-2] for fact in ours} == {fact[:-2] for fact in theirs}
        and {fact[:-3] for fact in ours} <= completing
    )


def _is_on(event_id: object, host_id: object) -> bool:
    return str(event_id).startswith(f"{host_id}_at")


def ends_itself(found: Found) -> bool:
    """A signal that interrupts its own throwing event: that completes in ours, and is terminated in theirs."""
    if not {*found.ours} == {*found.theirs} == {"happened"}:
        return False
    terminated = {end[:-1] for end in found.theirs["happened"] if end[-1] == "TERMINATED"}
    ids = [str(path[-1]) for path in terminated]
    left = [end for end in found.ours["happened"] if end[:-1] not in terminated]
    return (
        len(terminated) == len(found.theirs["happened"])
        and all(_SIGNAL.fullmatch(element_id) for element_id in ids)
        and all(
            end[-1] == "TAKEN" and any(f"{element_id}_to_" in str(end[-2]) for element_id in ids)
            for end in left
        )
    )


def stays_for_event_sub_process(found: Found) -> bool:
    """Only ours has begun an event sub-process, in a scope that only theirs has completed."""
    begun = [fact[:-2] for fact in found.ours.get("element", ()) if fact[-2] == "EVENT_SUB_PROCESS"]
    completed = {end[:-1] for end in found.theirs.get("happened", ()) if end[-1] == "COMPLETED"}
    return any(path[:-1] in completed for path in begun)


def has_event_sub_process(found: Found) -> bool:
    """Only ours has run an event sub-process of a scope that ends in this step."""
    happened = found.ours.get("happened", Counter())
    if found.theirs or {*found.ours} != {"happened"}:
        return False
    paths = [end[:-1] for end in happened if end[-1] in _ENDS and _BESIDE.fullmatch(str(end[-2]))]
    return all(
        any(end[: len(path)] == path and _ends(found, path[:-1]) for path in paths) for end in happened
    )


def has_late_event(found: Found) -> bool:
    """Only theirs has carried out an event in a scope that ends, with what follows, which is terminated.

    It is an event on a boundary, the start event of an event sub-process, or what ours terminates. Its output mappings
    may have changed variables of scopes around it. Ours may have begun an event sub-process there, and terminated it.
    """
    ours, theirs = (sides.get("happened", Counter()) for sides in (found.ours, found.theirs))
    return (
        bool(theirs)
        and {*found.ours, *found.theirs} <= {"happened", "variable", "job"}
        and {fact[:-1] for fact in found.ours.get("job", ())}
        == {fact[:-1] for fact in found.theirs.get("job", ())}
        and all(
            end[-1] == "TERMINATED"
            and ((*end[:-1], "COMPLETED") in theirs or _BESIDE.fullmatch(str(end[-2])) is not None)
            for end in ours
        )
        and all(
            end[-3] == "with" or _has_ended_around(found, end) for end in (*ours, *theirs) if len(end) > 2
        )
    )


def is_interrupted_sooner(found: Found) -> bool:
    """Only how far a scope went differs, in which both have begun an event sub-process in this step."""
    begun = {fact[:-2] for fact in found.both.get("element", ()) if _BESIDE.fullmatch(str(fact[-3]))} | {
        end[:-1] for end in found.both.get("happened", ()) if _BESIDE.fullmatch(str(end[-2]))
    }
    scopes = {path[:-1] for path in begun}
    return (
        {*found.ours} == {"happened"}
        and {*found.theirs} <= {"happened"}
        and all(any(fact[: len(scope)] == scope for scope in scopes) for fact in _facts(found))
        and all(end[-1] == "TERMINATED" for end in found.theirs.get("happened", ()))
    )


def completes_sooner(found: Found) -> bool:
    """Ours completes a scope at once; theirs first correlates a buffered message with an event on its boundary."""
    ours, theirs = ({*sides.get("happened", ())} for sides in (found.ours, found.theirs))
    terminated = {end[:-1] for end in theirs if (*end[:-1], "COMPLETED") in ours and end[-1] == "TERMINATED"}
    return any(
        event[:-2] == path[:-1] and _is_on(event[-2], path[-1]) and f"{event[-2]}_message" in found.model
        for path in terminated
        for event in theirs
    )


def waits_in_vain(found: Found) -> bool:
    """Only theirs still waits for events that begin event sub-processes of a scope that completes."""
    completing = {fact[:-2] for fact in found.both.get("element", ()) if fact[-1] == "COMPLETING"}
    waits = [fact[:-2] for kind in ("timer", "message") for fact in found.theirs.get(kind, ())]
    waits += [fact[:-1] for fact in found.theirs.get("signal", ())]
    return (
        not found.ours
        and {*found.theirs} <= {"timer", "message", "signal"}
        and all(str(wait[-1]).endswith("_start") and wait[:-1] in completing for wait in waits)
    )


def reads_what_a_script_sets(found: Found) -> bool:
    """Elements map what a script task on a concurrent path sets in this step; nothing else differs."""
    places = {fact[:-2] for sides in (found.ours, found.theirs) for fact in sides.get("variable", ())}
    if not places or not {*found.ours, *found.theirs} <= {"variable", "job"}:
        return False
    model = etree.fromstring(found.model.encode())
    completed = {str(end[-2]) for end in found.both.get("happened", ()) if end[-1] == "COMPLETED"}
    results = {name for element_id in completed for name in _attributes(model, element_id, "resultVariable")}
    return all(
        any(re.search(rf"\b{name}\b", source) for name in results)
        for source in (" ".join(_attributes(model, str(place[-1]), "source")) for place in places)
    )


def _attributes(model: etree._Element, element_id: str, name: str) -> list[str]:
    """The values of an attribute in the extension elements of an element."""
    found = model.xpath(f"//*[@id=$id]/*[local-name() = 'extensionElements']//@{name}", id=element_id)
    return [str(value) for value in found]


def _has_ended_around(found: Found, end: Fact) -> bool:
    """Whether a scope around it ends in this step, or begins an event sub-process."""
    begun = {fact[:-2] for fact in found.both.get("element", ()) if _BESIDE.fullmatch(str(fact[-3]))} | {
        fact[:-1] for fact in found.both.get("happened", ()) if _BESIDE.fullmatch(str(fact[-2]))
    }
    scopes = [end[:length] for length in range(1, len(end) - 1)]
    return any(_ends(found, scope) or any(path[:-1] == scope for path in begun) for scope in scopes)


def _ends(found: Found, path: Fact) -> bool:
    happened = found.both.get("happened", Counter())
    return any((*path, state) in happened for state in _ENDS)


def reads_collection_again(found: Found) -> bool:
    """Theirs has an incident where ours has completed an instance of a multi-instance activity, or another item."""
    places = [fact[:-2] for fact in found.theirs.get("incident", ()) if fact[-2] == "EXTRACT_VALUE_ERROR"]
    completed = found.ours.get("happened", Counter())
    return (
        _has_other_item(found)
        or _has_other_results(found)
        or any((*place, "COMPLETED") in completed and str(place[-1]).endswith("]") for place in places)
        or (found.move == "resolve" and _has_incidents_of_one_item(found))
    )


def _has_incidents_of_one_item(found: Found) -> bool:
    """Theirs cannot read the item; ours has read it long ago, and has an incident of what follows."""
    ours, theirs = found.ours.get("incident", Counter()), found.theirs.get("incident", Counter())
    return (
        {*found.ours} == {*found.theirs} == {"incident"}
        and {fact[:-2] for fact in ours} == {fact[:-2] for fact in theirs}
        and all(fact[-2] == "EXTRACT_VALUE_ERROR" and str(fact[-3]).endswith("]") for fact in theirs)
    )


def _has_other_item(found: Found) -> bool:
    """A later instance has another item than ours, and nothing outside of it differs."""
    items = [
        {fact[:-1] for fact in sides.get("variable", ()) if fact[-2] in ITEMS and _is_later(fact[-3])}
        for sides in (found.ours, found.theirs)
    ]
    places = {fact[:-1] for fact in items[0] & items[1]}
    return len(places) == 1 and all(fact[: len(place)] == place for place in places for fact in _facts(found))


def _has_other_results(found: Found) -> bool:
    """Items that came and went in this step have left other values in what their collection is made of; nothing else."""
    ours, theirs = ({*_variables(sides)} for sides in (found.ours, found.theirs))
    names = {fact[:-1] for fact in ours}
    passed = [
        (end[:-3], _collection(found, str(end[-3])))
        for end in found.both.get("happened", ())
        if end[-1] == "COMPLETED" and _is_later(end[-2])
    ]
    return (
        bool(names)
        and len(ours) + len(theirs) == len({*_facts(found)})
        and names == {fact[:-1] for fact in theirs}
        and all(
            any(scope[: len(path)] == path and name in collection for scope, collection in passed)
            for *path_, name in names
            for path in (tuple(path_),)
        )
    )


def _variables(sides: Mapping[str, Counter[Fact]]) -> Iterator[Fact]:
    """Scope, name and value, also of process instances that have ended."""
    yield from sides.get("variable", ())
    yield from ((*fact[:-3], *fact[-2:]) for fact in sides.get("happened", ()) if fact[-3:-2] == ("with",))


def _collection(found: Found, element_id: str) -> Sequence[str]:
    """The names in the collection of a multi-instance activity."""
    text = re.search(rf'id="{element_id}".*?inputCollection="([^"]*)"', found.model, re.DOTALL)
    return re.findall(r"\w+", text[1]) if text else []


def _is_later(element_id: object) -> bool:
    return str(element_id).endswith("]") and not str(element_id).endswith("[1]")


def has_orphan(found: Found) -> bool:
    """Theirs has completed a scope, and has an element or a job in it still; ours has not, or has nothing in it."""
    kept = [fact for kind in ("job", "element") for fact in found.theirs.get(kind, ())]
    sides = (found.theirs, found.both) if {*found.ours} <= {"happened"} else (found.theirs,)
    ended = [end[:-1] for side in sides for end in side.get("happened", ()) if end[-1] == "COMPLETED"]
    return any(len(fact) > len(scope) + 2 and fact[: len(scope)] == scope for fact in kept for scope in ended)


def takes_another_subscription(found: Found) -> bool:
    """A message has reached one of several subscriptions of the process in ours, another one in theirs."""
    waits = {fact for sides in (found.ours, found.theirs, found.both) for fact in sides.get("message", ())}
    reached = [
        {
            wait
            for wait in waits
            if any(end[-2:] == (wait[-3], "COMPLETED") for end in sides.get("happened", ()))
        }
        for sides in (found.ours, found.theirs)
    ]
    return found.move == "publish" and any(
        mine != other and mine[-2:] == other[-2:] for mine in reached[0] for other in reached[1]
    )


def is_in_another_scope(found: Found) -> bool:
    """Variables of one of several scopes with the same path differ, with the jobs that see them; nothing else."""
    scopes = {fact[:-2] for fact, times in found.both.get("element", Counter()).items() if times > 1}
    unvalued = [
        {kind: Counter(fact[:-1] for fact in facts.elements()) for kind, facts in side.items()}
        for side in (found.ours, found.theirs)
    ]
    return (
        unvalued[0] == unvalued[1]
        and unvalued[0].keys() <= {"variable", "job"}
        and all(any(fact[: len(scope)] == scope for scope in scopes) for fact in _facts(found))
    )


def never_ends(found: Found) -> bool:
    """Theirs goes on to terminate a scope in which nothing is left; ours has terminated it."""
    happened = found.ours.get("happened", Counter())
    left = {fact[:-2] for sides in (found.theirs, found.both) for fact in sides.get("element", ())}
    termination = [fact[:-2] for fact in found.theirs.get("element", ()) if fact[-1] == "TERMINATING"]
    return any(
        (*path, "TERMINATED") in happened
        and not any(other[: len(path)] == path for other in left if other != path)
        for path in termination
    )


def has_missed_signal(found: Found) -> bool:
    """Theirs still waits for a signal that has begun an event sub-process in ours alone."""
    happened = found.ours.get("happened", Counter())
    begun = {
        (*end[:-3], end[-2])
        for end in happened
        if len(end) > 3 and end[-1] == "COMPLETED" and _BESIDE.fullmatch(str(end[-3]))
    }
    waits = {fact[:-1] for sides in (found.theirs, found.both) for fact in sides.get("signal", ())}
    return bool(begun & waits)


def begins_next(found: Found) -> bool:
    """Only ours has begun the next process instance of a message when a modification ended the last one."""
    roots = {fact[0] for fact in _facts(found)}
    begun = {end[0] for end in found.ours.get("happened", ()) if end[1:] == ("by_message", "COMPLETED")}
    return found.move == "modify" and not found.theirs and len(roots) == 1 and roots == begun


def compensates_inside(found: Found) -> bool:
    """Only theirs compensates something inside a sub-process that has a handler of its own."""
    facts = [fact for kind in found.theirs.values() for fact in kind]
    handlers = {end[:-1] for end in found.theirs.get("happened", ()) if str(end[-2]).endswith("_undone")}
    also = {end[:-1] for end in found.both.get("happened", ()) if str(end[-2]).endswith("_undone")}
    return (
        not found.ours
        and bool(handlers and also)
        and all("_undone" in str(fact) or "_handler" in str(fact) for fact in facts)
    )
