"""Kinds of jobs, as the wire spells them."""

from enum import StrEnum


class JobKind(StrEnum):
    BPMN_ELEMENT = "BPMN_ELEMENT"
    EXECUTION_LISTENER = "EXECUTION_LISTENER"
    TASK_LISTENER = "TASK_LISTENER"
    AD_HOC_SUB_PROCESS = "AD_HOC_SUB_PROCESS"


# Accessing a member through its enumeration takes three times as long, at every step of every job.
BPMN_ELEMENT, EXECUTION_LISTENER, TASK_LISTENER, AD_HOC_SUB_PROCESS = JobKind


class ListenerEventType(StrEnum):
    """The phase of the element, or the transition of the user task, that a listener's job belongs to."""

    UNSPECIFIED = "UNSPECIFIED"
    START = "START"
    END = "END"
    CREATING = "CREATING"
    ASSIGNING = "ASSIGNING"
    UPDATING = "UPDATING"
    COMPLETING = "COMPLETING"
    CANCELING = "CANCELING"
