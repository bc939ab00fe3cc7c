"""Incidents: reasons why an element cannot continue.

A behaviour raises `Incident`; the execution turns it into an `IncidentRaised` event and leaves the element in
its state. Resolving the incident tries the same step again.
"""

from enum import StrEnum
from typing import Final


class ErrorType(StrEnum):
    """Causes of incidents, as the wire spells them."""

    AD_HOC_SUB_PROCESS_NO_RETRIES = "AD_HOC_SUB_PROCESS_NO_RETRIES"
    CALLED_DECISION_ERROR = "CALLED_DECISION_ERROR"
    CALLED_ELEMENT_ERROR = "CALLED_ELEMENT_ERROR"
    CONDITION_ERROR = "CONDITION_ERROR"
    DECISION_EVALUATION_ERROR = "DECISION_EVALUATION_ERROR"
    EXECUTION_LISTENER_NO_RETRIES = "EXECUTION_LISTENER_NO_RETRIES"
    EXTRACT_VALUE_ERROR = "EXTRACT_VALUE_ERROR"
    FORM_NOT_FOUND = "FORM_NOT_FOUND"
    IO_MAPPING_ERROR = "IO_MAPPING_ERROR"
    JOB_NO_RETRIES = "JOB_NO_RETRIES"
    MESSAGE_SIZE_EXCEEDED = "MESSAGE_SIZE_EXCEEDED"
    RESOURCE_NOT_FOUND = "RESOURCE_NOT_FOUND"
    TASK_LISTENER_NO_RETRIES = "TASK_LISTENER_NO_RETRIES"
    UNHANDLED_ERROR_EVENT = "UNHANDLED_ERROR_EVENT"
    UNKNOWN = "UNKNOWN"


class Incident(Exception):
    def __init__(self, error_type: ErrorType, message: str) -> None:
        super().__init__(message)
        self.error_type = error_type
        self.message = message


_LONGEST_REASON: Final = 500


def faulted(fault: Exception) -> Incident:
    """The incident of a step that failed by a fault of the server, which its log shows in full."""
    reason = f"{type(fault).__name__}: {fault}"[:_LONGEST_REASON]
    return Incident(ErrorType.UNKNOWN, f"A fault of the server stopped this step: {reason}")
