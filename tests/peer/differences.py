"""Reviewed differences between Zeebe 8.6 and our engine: one row for each, with the rule that decides.

A row says which differences are its own. A difference without a row is unexplained, and the run fails.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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


@dataclass(frozen=True, slots=True)
class Difference:
    """With `goes_on` both engines stand at the same place, and the history is compared further."""

    name: str
    rule: str
    takes: Callable[[Found], bool]
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """A difference that pictures leave out, or that random processes avoid."""

    name: str
    rule: str


_ENDS = ("COMPLETED", "TERMINATED")
# Ids of throwing signal events, and of event sub-processes.
_SIGNAL = re.compile(r"signal\d+|.*_warn")
_BESIDE = re.compile(r"beside|.*_help")


def explanation(found: Found) -> Difference | None:
    return next((row for row in DIFFERENCES if row.takes(found)), None)


def _answers(found: Found, ours: str, theirs: str) -> bool:
    pair = (found.ours.get("answer"), found.theirs.get("answer"))
    return pair == (Counter({(ours,): 1}), Counter({(theirs,): 1}))


def _is_of_answers_alone(found: Found) -> bool:
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


def _has_incident_of_start_event(found: Found) -> bool:
    """Theirs are at the start events of the scopes that have ours."""
    ours, theirs = (sides.get("incident", Counter()) for sides in (found.ours, found.theirs))
    of_scopes = Counter((*fact[:-3], *fact[-2:]) for fact in theirs if str(fact[-3]).endswith("start"))
    return bool(ours) and len(of_scopes) == len(theirs) and of_scopes == ours


def _has_incidents(found: Found, ours: str, theirs: str) -> bool:
    """At the same element; nothing else differs."""
    pair = _incidents(found)
    is_alone = {*found.ours, *found.theirs} == {"incident"}
    return (
        pair is not None
        and is_alone
        and pair == ((*pair[1][:-2], ours, pair[1][-1]), (*pair[0][:-2], theirs, pair[0][-1]))
    )


def _has_waits_alone(found: Found) -> bool:
    """Ours has subscriptions of elements with an incident that theirs does not have; nothing else differs."""
    waits = [fact[:-3] for kind in ("timer", "message") for fact in found.ours.get(kind, ())]
    waits += [fact[:-2] for fact in found.ours.get("signal", ())]
    with_incidents = {fact[:-2] for fact in found.both.get("incident", ())}
    kinds = {*found.ours} <= {"timer", "message", "signal"}
    return not found.theirs and kinds and bool(waits) and {*waits} <= with_incidents


def _has_event_of_entering(found: Found) -> bool:
    """Only ours has entered an event on the boundary of an activity that has an incident in theirs, and is not active."""
    entered = {end[:-1] for end in found.ours.get("happened", ()) if end[-1] == "COMPLETED"}
    elements = {**found.theirs.get("element", {}), **found.both.get("element", {})}
    return any(
        any((*fact[:-2], kind, "ACTIVATING") in elements for kind in ("SERVICE_TASK", "SEND_TASK"))
        and any(event[:-1] == fact[:-3] and _is_on(event[-1], fact[-3]) for event in entered)
        for fact in found.theirs.get("incident", ())
    )


def _has_outer_variable(found: Found) -> bool:
    """Only theirs has such a variable of an outer scope, with what follows from it."""
    changed = {*found.theirs.get("variable", ()), *found.theirs.get("happened", ())}
    return bool(changed & found.passed)


def _has_outputs_alone(found: Found) -> bool:
    """The outputs of a multi-instance activity, or jobs that see them; nothing else differs."""
    variables = [*found.ours.get("variable", ()), *found.theirs.get("variable", ())]
    kinds = {*found.ours, *found.theirs}
    return kinds <= {"variable", "job"} and bool(variables) and {fact[-2] for fact in variables} == {OUTPUTS}


def _has_closing_signal(found: Found) -> bool:
    """Only theirs still waits for a signal that has come to an event that has not completed."""
    completing = {fact[:-2] for fact in found.both.get("element", ()) if fact[-1] == "COMPLETING"}
    signals = {fact[:-2] for fact in found.theirs.get("signal", ())}
    return not found.ours and {*found.theirs} == {"signal"} and signals <= completing


def _is_entered_again(found: Found) -> bool:
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


def _enters_again(found: Found) -> bool:
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


def _asks_at_the_end_again(found: Found) -> bool:
    """Behind an incident theirs asks end listeners again of elements that ours has completed, with what follows."""
    jobs = found.theirs.get("job", Counter())
    completed = {end[:-1] for end in found.ours.get("happened", ()) if end[-1] == "COMPLETED"}
    return (
        found.move == "resolve"
        and bool(jobs)
        and all(job[-4:-2] == ("EXECUTION_LISTENER", "END") and job[:-7] in completed for job in jobs)
    )


def _maps_again(found: Found) -> bool:
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


def _fails_to_map_again(found: Found) -> bool:
    return found.move == "resolve" and _has_incidents(found, "EXTRACT_VALUE_ERROR", "IO_MAPPING_ERROR")


def _has_unhandled_error(found: Found) -> bool:
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


def _begins_itself_again(found: Found) -> bool:
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


def _has_handler(found: Found) -> bool:
    """Only theirs still has a compensation handler whose throwing event was terminated by a modification.

    A scope that was left empty by that has ended in ours, and what is outside of it has gone on.
    """
    happened = found.ours.get("happened", Counter())
    ended = {end[:-1] for end in happened if end[-1] == "TERMINATED" and str(end[-2]).endswith("_handler")}
    left = {fact[:-2] for fact in found.theirs.get("element", ())}
    if found.move != "modify" or not ended or not ended <= left:
        return False
    scopes = {path[:-1] for path in ended}
    has_gone_on = any((*scope, state) in happened for scope in scopes for state in _ENDS)
    return has_gone_on or all(any(fact[: len(path)] == path for path in ended) for fact in _facts(found))


def _is_refused_for_scope(found: Found) -> bool:
    return (
        found.move == "modify"
        and (found.ours.get("answer"), found.theirs.get("answer"))
        == (Counter({("INVALID_ARGUMENT",): 1}), Counter({("OK",): 1}))
        and bool(re.search("needs element instance .*, which is (not active|terminated)", found.reason))
    )


def _has_gateway(found: Found) -> bool:
    if found.move != "modify" or found.theirs:
        return False
    element_id = found.details.split()[3]
    tags = ("parallelGateway", "inclusiveGateway")
    return any(f'<bpmn:{tag} id="{element_id}"' in found.model for tag in tags)


def _has_flow(found: Found) -> bool:
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


def _has_forgotten(found: Found) -> bool:
    """Theirs has jobs with the variables of an earlier activation; nothing else differs."""
    ours, theirs = (sides.get("job", Counter()) for sides in (found.ours, found.theirs))
    return (
        {*found.ours} == {*found.theirs} == {"job"}
        and Counter(job[:-1] for job in ours) == Counter(job[:-1] for job in theirs)
        and {job[:-7] for job in theirs} <= found.forgotten
    )


def _waits_for_handler(found: Found) -> bool:
    """Theirs still has a throwing event that ours completed when a modification terminated its last handler."""
    happened = found.ours.get("happened", Counter())
    waiting = {fact[:-2] for fact in found.theirs.get("element", ()) if fact[-2] in THROWING}
    ended = {end[:-1] for end in found.both.get("happened", ()) if end[-1] == "TERMINATED"}
    return (
        found.move == "modify"
        and any((*path, "COMPLETED") in happened for path in waiting)
        and any(str(path[-1]).endswith("_handler") for path in ended)
    )


def _has_event_of_completing(found: Found) -> bool:
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


def _has_timer_of_completing(found: Found) -> bool:
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


def _ends_itself(found: Found) -> bool:
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


def _stays_for_event_sub_process(found: Found) -> bool:
    """Only ours has begun an event sub-process, in a scope that only theirs has completed."""
    begun = [fact[:-2] for fact in found.ours.get("element", ()) if fact[-2] == "EVENT_SUB_PROCESS"]
    completed = {end[:-1] for end in found.theirs.get("happened", ()) if end[-1] == "COMPLETED"}
    return any(path[:-1] in completed for path in begun)


def _has_event_sub_process(found: Found) -> bool:
    """Only ours has run an event sub-process of a scope that ends in this step."""
    happened = found.ours.get("happened", Counter())
    if found.theirs or {*found.ours} != {"happened"}:
        return False
    paths = [end[:-1] for end in happened if end[-1] in _ENDS and _BESIDE.fullmatch(str(end[-2]))]
    return all(
        any(end[: len(path)] == path and _ends(found, path[:-1]) for path in paths) for end in happened
    )


def _has_late_event(found: Found) -> bool:
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


def _is_interrupted_sooner(found: Found) -> bool:
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


def _completes_sooner(found: Found) -> bool:
    """Ours completes a scope at once; theirs first correlates a buffered message with an event on its boundary."""
    ours, theirs = ({*sides.get("happened", ())} for sides in (found.ours, found.theirs))
    terminated = {end[:-1] for end in theirs if (*end[:-1], "COMPLETED") in ours and end[-1] == "TERMINATED"}
    return any(
        event[:-2] == path[:-1] and _is_on(event[-2], path[-1]) and f"{event[-2]}_message" in found.model
        for path in terminated
        for event in theirs
    )


def _waits_in_vain(found: Found) -> bool:
    """Only theirs still waits for events that begin event sub-processes of a scope that completes."""
    completing = {fact[:-2] for fact in found.both.get("element", ()) if fact[-1] == "COMPLETING"}
    waits = [fact[:-2] for kind in ("timer", "message") for fact in found.theirs.get(kind, ())]
    waits += [fact[:-1] for fact in found.theirs.get("signal", ())]
    return (
        not found.ours
        and {*found.theirs} <= {"timer", "message", "signal"}
        and all(str(wait[-1]).endswith("_start") and wait[:-1] in completing for wait in waits)
    )


def _reads_what_a_script_sets(found: Found) -> bool:
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


def _reads_collection_again(found: Found) -> bool:
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


def _has_orphan(found: Found) -> bool:
    """Theirs has completed a scope, and has an element or a job in it still; ours has not, or has nothing in it."""
    kept = [fact for kind in ("job", "element") for fact in found.theirs.get(kind, ())]
    sides = (found.theirs, found.both) if {*found.ours} <= {"happened"} else (found.theirs,)
    ended = [end[:-1] for side in sides for end in side.get("happened", ()) if end[-1] == "COMPLETED"]
    return any(len(fact) > len(scope) + 2 and fact[: len(scope)] == scope for fact in kept for scope in ended)


def _takes_another_subscription(found: Found) -> bool:
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


def _is_in_another_scope(found: Found) -> bool:
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


def _never_ends(found: Found) -> bool:
    """Theirs goes on to terminate a scope in which nothing is left; ours has terminated it."""
    happened = found.ours.get("happened", Counter())
    left = {fact[:-2] for sides in (found.theirs, found.both) for fact in sides.get("element", ())}
    termination = [fact[:-2] for fact in found.theirs.get("element", ()) if fact[-1] == "TERMINATING"]
    return any(
        (*path, "TERMINATED") in happened
        and not any(other[: len(path)] == path for other in left if other != path)
        for path in termination
    )


def _has_missed_signal(found: Found) -> bool:
    """Theirs still waits for a signal that has begun an event sub-process in ours alone."""
    happened = found.ours.get("happened", Counter())
    begun = {
        (*end[:-3], end[-2])
        for end in happened
        if len(end) > 3 and end[-1] == "COMPLETED" and _BESIDE.fullmatch(str(end[-3]))
    }
    waits = {fact[:-1] for sides in (found.theirs, found.both) for fact in sides.get("signal", ())}
    return bool(begun & waits)


def _begins_next(found: Found) -> bool:
    """Only ours has begun the next process instance of a message when a modification ended the last one."""
    roots = {fact[0] for fact in _facts(found)}
    begun = {end[0] for end in found.ours.get("happened", ()) if end[1:] == ("by_message", "COMPLETED")}
    return found.move == "modify" and not found.theirs and len(roots) == 1 and roots == begun


def _compensates_inside(found: Found) -> bool:
    """Only theirs compensates something inside a sub-process that has a handler of its own."""
    facts = [fact for kind in found.theirs.values() for fact in kind]
    handlers = {end[:-1] for end in found.theirs.get("happened", ()) if str(end[-2]).endswith("_undone")}
    also = {end[:-1] for end in found.both.get("happened", ()) if str(end[-2]).endswith("_undone")}
    return (
        not found.ours
        and bool(handlers and also)
        and all("_undone" in str(fact) or "_handler" in str(fact) for fact in facts)
    )


DIFFERENCES: Sequence[Difference] = (
    Difference(
        "incident of an event sub-process",
        "An event sub-process is subscribed to before the start event of its scope, so a failing expression is an incident"
        " of the scope (reference §5.13). Zeebe 8.6 subscribes when the start event completes, and that has the incident.",
        _has_incident_of_start_event,
    ),
    Difference(
        "called process by an expression",
        "A process id that is no text is an EXTRACT_VALUE_ERROR (reference §5.6); Zeebe 8.6 has CALLED_ELEMENT_ERROR.",
        lambda found: _has_incidents(found, "EXTRACT_VALUE_ERROR", "CALLED_ELEMENT_ERROR"),
    ),
    Difference(
        "subscriptions of an activity with an incident",
        "Events are subscribed to before the job is made, whatever becomes of that (reference §5.3). Zeebe 8.6 evaluates"
        " the type and the retries of the job first.",
        lambda found: _has_waits_alone(found) or _has_event_of_entering(found),
    ),
    Difference(
        "merge of an equal value",
        "The first scope that holds the name is updated (reference §5.4). When it has the same value already, Zeebe 8.6"
        " goes on outwards, and sets an outer variable, too.",
        _has_outer_variable,
    ),
    Difference(
        "outputs of a multi-instance activity in another",
        "Both have the output collection `items`, and the outer one is no variable before its body completes (decision 055):"
        " what the inner one brings goes further out than in Zeebe.",
        _has_outputs_alone,
    ),
    Difference(
        "signal of an event with an incident",
        "A subscription of a signal is closed when the signal comes. In Zeebe it stays until the event completes, which an"
        " incident of an output mapping puts off; another signal does nothing there.",
        _has_closing_signal,
    ),
    Difference(
        "resolved incidents of elements",
        "Resolution retries the failed step (reference §5.6). Zeebe 8.6 enters or completes the element again: it maps the"
        " inputs and asks the listeners once more.",
        lambda found: (
            _is_entered_again(found)
            or _enters_again(found)
            or _asks_at_the_end_again(found)
            or _maps_again(found)
            or _fails_to_map_again(found)
        ),
    ),
    Difference(
        "events of an activity that completes",
        "An activity unsubscribes when it has completed (reference §5.3), so an event on its boundary interrupts it while it"
        " has an incident of its output mappings. In Zeebe 8.6 nothing happens, and the subscription stays.",
        lambda found: _has_event_of_completing(found) or _has_timer_of_completing(found),
    ),
    Difference(
        "scripts on concurrent paths",
        "The order of concurrent paths is not defined. A script task that waits for nothing has set its variable here before"
        " the other path reads it, in Zeebe afterwards, or the other way round.",
        _reads_what_a_script_sets,
    ),
    Difference(
        "signal that interrupts its own event",
        "A throwing event has completed when its signal goes out: broadcasts are commands of their own (reference §5.9)."
        " Zeebe 8.6 carries them out in between on the same partition, so the event is terminated.",
        _ends_itself,
        goes_on=True,
    ),
    Difference(
        "collection of a multi-instance activity",
        "The collection is read when the body is entered (reference §5.11). Zeebe 8.6 reads it again when an instance"
        " completes, takes the next item from it, and has an incident when it has become another value.",
        _reads_collection_again,
    ),
    Difference(
        "elements without a scope",
        "A sub-process completes when nothing in it is active (reference §5.3). Zeebe 8.6 completes it beside an event"
        " sub-process that has just begun, which stays for ever, and its job.",
        _has_orphan,
    ),
    Difference(
        "signals that miss an event sub-process",
        "A signal triggers every subscription with its name (reference §5.9). Zeebe 8.6 leaves out that of an event"
        " sub-process now and then, such as beside a boundary event of the same scope.",
        _has_missed_signal,
    ),
    Difference(
        "subscriptions of one process",
        "A message correlates once per process, and which of its subscriptions takes it is not defined (reference §5.8). In ours"
        " it is the one that has waited longest since it took one, in Zeebe that of the oldest element instance.",
        _takes_another_subscription,
    ),
    Difference(
        "one of several scopes",
        "Timers that are due at once trigger in an order that is not defined (reference §5.10). When several instances of a"
        " sub-process have begun event sub-processes by then, the job that a move takes may be in another one of them.",
        _is_in_another_scope,
    ),
    Difference(
        "event sub-processes of a scope that completes",
        "A terminate end event ends what else is in its scope (reference §5.13), and no event sub-process begins any more: ours"
        " closes their subscriptions, Zeebe when the scope has completed, which an incident of its output mappings puts off.",
        _waits_in_vain,
    ),
    Difference(
        "failures of jobs that nobody has activated",
        "A job that is not activated cannot fail: 409 (specification: an activated job fails). Zeebe 8.6 takes the failure.",
        lambda found: (
            found.move == "fail"
            and _answers(found, "FAILED_PRECONDITION", "OK")
            and bool(re.search("is ACTIVATABLE, not ACTIVATED", found.reason))
        ),
    ),
    Difference(
        "scopes that do not end",
        "A scope is terminated when all that it contains has ended (reference §5.17). Zeebe 8.6 still counts"
        " a flow that waited at a join when an event sub-process interrupted the scope, and terminates it for ever.",
        _never_ends,
    ),
    Difference(
        "event sub-process of a scope that ends",
        "A sub-process completes when nothing in it is active (reference §5.3). Zeebe 8.6 completes it although an event"
        " sub-process has been triggered, and then does not begin that.",
        _has_event_sub_process,
        goes_on=True,
    ),
    Difference(
        "event sub-process of a scope that an event inside ends",
        "Which subscription a signal triggers first is not defined (reference §5.9). In ours an event sub-process interrupts its"
        " scope before an event inside is triggered; in Zeebe 8.6 that may come first, and end the scope.",
        _stays_for_event_sub_process,
    ),
    Difference(
        "events in a scope that is interrupted",
        "An interrupted scope enters nothing more (reference §5.13). When one signal triggers an event inside, too, Zeebe 8.6"
        " carries that out, and terminates what follows from it.",
        _has_late_event,
    ),
    Difference(
        "buffered messages of a scope that is entered",
        "A buffered message comes to a new subscription by a command of its own (reference §5.8). How far the scope has gone"
        " until then, when an event sub-process waits for it, is not defined: ours goes on to the next wait state.",
        _is_interrupted_sooner,
        goes_on=True,
    ),
    Difference(
        "buffered messages of a sub-process that waits for nothing",
        "When the partition correlates a message that is buffered already is not defined (reference §5.8). Ours completes the"
        " sub-process that meets no wait state first, Zeebe interrupts it by its boundary event now and then.",
        _completes_sooner,
    ),
    Difference(
        "resolved without retries",
        "The incident of a job without retries is refused with INVALID_STATE (reference §2.2, resolveIncident); Zeebe"
        " answers NOT_FOUND.",
        lambda found: (
            found.move == "resolve"
            and _is_of_answers_alone(found)
            and _answers(found, "FAILED_PRECONDITION", "NOT_FOUND")
        ),
        goes_on=True,
    ),
    Difference(
        "a fault of Zeebe",
        "Zeebe 8.6 answers INTERNAL: it cannot find the events that catch an error which the job of a message throw event"
        " throws. By reference §5.7 that is like any other job.",
        lambda found: _answers(found, "OK", "INTERNAL"),
    ),
    Difference(
        "errors of event sub-processes",
        "An error is searched for outwards (reference §5.7): from an event sub-process to the scope around it and its"
        " boundary. Zeebe 8.6 does not find the boundary of a scope that the event sub-process has interrupted.",
        _has_unhandled_error,
    ),
    Difference(
        "event sub-processes that begin anew",
        "A scope that a modification has brought back still waits for errors and escalations (decision 077), which are"
        " searched for outwards (reference §5.7): one from inside or beside the event sub-process begins it anew. In Zeebe"
        " 8.6 the throwing event stays active for ever.",
        _begins_itself_again,
    ),
    Difference(
        "claims of the assignee",
        "An assigned user task is refused to those who do not override (reference §2.0, assignUserTask). Zeebe lets its"
        " assignee have it again.",
        lambda found: (
            found.move == "assign"
            and _is_of_answers_alone(found)
            and _answers(found, "FAILED_PRECONDITION", "OK")
        ),
        goes_on=True,
    ),
    Difference(
        "handlers of a throwing event that a modification terminates",
        "They run inside of it (decision 059), and end with it. In Zeebe they are beside it, and go on.",
        _has_handler,
    ),
    Difference(
        "activation in a scope that is not active",
        "A modification is refused when a flow scope that it needs is not active, or is terminated by it (reference §5.16)."
        " Zeebe 8.6 accepts it, and then activates nothing.",
        _is_refused_for_scope,
    ),
    Difference(
        "throwing events whose handlers a modification terminates",
        "A throwing event waits for its compensation handlers (reference §5.12), and goes on when the last one has ended. Zeebe"
        " 8.6 does not count one that a modification terminates, and waits for ever.",
        _waits_for_handler,
    ),
    Difference(
        "jobs that do not time out",
        "A job is offered again when its deadline passes (reference §5.5). Zeebe 8.6 misses some when many deadlines pass at"
        " once, and their workers keep them.",
        _has_forgotten,
    ),
    Difference(
        "messages that wait for the end of a process instance",
        "The next message with the correlation key of a process instance begins one when that ends (reference §5.8). In Zeebe 8.6"
        " it does not when a modification has ended it.",
        _begins_next,
    ),
    Difference(
        "handlers inside a sub-process with a handler",
        "A handler of a sub-process compensates it alone (decision 059: it takes the place of what the activities inside have)."
        " Zeebe 8.6 also compensates multi-instance activities inside.",
        _compensates_inside,
    ),
    Difference(
        "flows at joins beside a modification",
        "A scope completes when no flow is in transit (reference §5.3), such as one that waits at a join. In Zeebe 8.6 an element"
        " that a modification activates uses such a flow up, and the scope ends without the join, then or later.",
        _has_flow,
    ),
    Difference(
        "gateways that a modification activates",
        "A modification activates a gateway at once (reference §5.16 excepts none). Zeebe 8.6 drops the activation of a"
        " parallel or inclusive one to which no flow was taken.",
        _has_gateway,
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
