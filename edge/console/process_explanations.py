"""Explanations of fields in the editor of processes, for the catalogues; some continue with an example or a link."""

from typing import Final

from server.platform.languages import marked

EXPLANATIONS: Final = (
    marked("A FEEL expression that determines whether the event should trigger. "),
    marked("A JSON object — each key represents a variable produced by this element."),
    marked("A cycle defined as ISO 8601 repeating intervals format, or a cron expression."),
    marked("A cycle defined as ISO 8601 repeating intervals format."),
    marked("A specific point in time defined as ISO 8601 combined date and time representation."),
    marked("A time duration defined as ISO 8601 durations format."),
    marked("About conditional events."),
    marked("Ad-hoc subprocess documentation"),
    marked("Add custom logic that reacts to various events in the workflow execution life-cycle. "),
    marked("Add input mappings to control what is passed to the activity as local variables. "),
    marked("Add output mappings to control which variables are merged back into the process scope. "),
    marked("Business ID propagation documentation"),
    marked("Business rule task documentation"),
    marked("Call activity documentation"),
    marked("Called decision documentation"),
    marked("Close minimap"),
    marked("Conditional event documentation"),
    marked("Conditions documentation"),
    marked("Configure the message that the task waits for. "),
    marked("Configure the message that this event waits for. "),
    marked("Configure the message that will start this process instance. "),
    marked("Configure the message that will trigger this boundary event. "),
    marked("Control the business ID set on a child process. If left empty, no business ID will be set. "),
    marked("Data object must be placed within a pool/participant."),
    marked("Define a boolean condition expression that determines when this sequence flow is taken. "),
    marked("Define a collection of elements which will be activated when the ad-hoc subprocess is reached. "),
    marked("Define an input collection expression that defines the collection to iterate over (e.g. "),
    marked(
        "Define static metadata passed to job workers alongside each job. Headers are not evaluated "
        "by the engine — use them for fixed worker configuration (e.g. "
    ),
    marked("Define the FEEL expression to evaluate and the variable to store the result in. "),
    marked("Define the ID of the process to call (e.g. "),
    marked(
        "Define the assignment, schedule, and priority of the user task. Assignee, candidate groups, "
        "and candidate users can be combined. Use due date and follow-up date to express deadlines "
        "and urgency. "
    ),
    marked(
        "Define the completion behavior of an ad-hoc subprocess. If no completion condition is set, "
        "it will be completed after all active elements have been completed. "
    ),
    marked("Define the decision to evaluate and how to map back the evaluation result. "),
    marked("Define the error to catch. Specify an error code (e.g. "),
    marked("Define the error to throw. Specify an error code (e.g. "),
    marked("Deployment binding"),
    marked("Documentation: Timer events"),
    marked("Error event documentation"),
    marked(
        "Evaluate a business rule, for example a DMN decision. To add a custom implementation, use a "
        "job worker. "
    ),
    marked("Example data documentation"),
    marked("Execute this task for each element of a given collection. "),
    marked("Execution listeners documentation"),
    marked(
        "Identifier computed from the process context that is used to correlate an incoming message (e.g. "
    ),
    marked(
        "If turned on, all variables from the child process instance will be propagated to the "
        "parent process instance."
    ),
    marked(
        "If turned on, all variables from the parent process instance will be propagated to the "
        "child process instance."
    ),
    marked(
        "Implement a script task using an inline FEEL expression. To add a custom implementation, "
        "use a job worker. "
    ),
    marked("Implement a user task managed by Camunda. To add a custom implementation, use a job worker. "),
    marked(
        "Implement the ad-hoc subprocess as a job worker instead of activating inner elements. The "
        "job type determines which worker handles the subprocess execution. "
    ),
    marked("Input mappings documentation"),
    marked("JSON contains errors"),
    marked("Job priority documentation"),
    marked("Learn how to define conditions."),
    marked("Learn more."),
    marked(
        "Link a form created with the Camunda Forms editor. Submitting this form will start a new "
        "process instance. "
    ),
    marked(
        "Link a form created with the Camunda Forms editor. To associate a custom form, application, "
        "or URL to the user task, specify an external reference. "
    ),
    marked(
        "Link or embed a form created with the Camunda Forms editor. To associate a custom form, "
        "application, or URL to the user task, specify a form key. "
    ),
    marked("Message boundary event documentation"),
    marked("Message catch event documentation"),
    marked("Message start event documentation"),
    marked("Message throw event documentation"),
    marked("Multi instance documentation"),
    marked("Open minimap"),
    marked("Otherwise, only variables defined via input mappings will be propagated."),
    marked("Otherwise, only variables defined via output mappings will be propagated."),
    marked("Output mappings documentation"),
    marked("React to user task lifecycle events by executing a job worker. "),
    marked("Receive task message documentation"),
    marked("Script task documentation"),
    marked("Send task documentation"),
    marked("Service task documentation"),
    marked(
        "Specifies the default priority for all jobs created by a process. Must be an integer. If no "
        "value is provided, the default value is 0. "
    ),
    marked(
        "Specifies the priority of a job. Must be an integer. If no value is provided, the default "
        "value is 0. "
    ),
    marked(
        "Specifies the priority of a user task. Must be an integer between 0 and 100. If no value is "
        "provided, the default value is 50. "
    ),
    marked("Specify the condition that triggers this event. "),
    marked("Specify which job workers handle the event work. "),
    marked("Specify which job workers handle the task work to evaluate business rules. "),
    marked("Specify which job workers handle the task work to execute a script. "),
    marked("Specify which job workers handle the task work to execute a service (e.g. "),
    marked("Specify which job workers handle the task work to send a message (e.g. "),
    marked("Start event form documentation"),
    marked("Subscription correlation key documentation"),
    marked("Task headers documentation"),
    marked("Task listeners documentation"),
    marked(
        "The number of times the engine tries executing this activity if a worker signals a failure. "
        "The default is three."
    ),
    marked("This template is deprecated."),
    marked("Timer documentation"),
    marked("To collect the output define the output collection and the output element expressions. "),
    marked("UTC plus 2 hours zone offset"),
    marked("UTC time"),
    marked("User task documentation"),
    marked("User task form documentation"),
    marked("User task priority documentation"),
    marked("Uses the most recent deployed resource with the given version tag."),
    marked("Uses the most recent deployed resource."),
    marked("Uses the resource found in the same deployment."),
    marked(
        "Variable events that trigger the condition evaluation. If none selected, all variable "
        "events will trigger the condition evaluation. "
    ),
    marked("Version tag binding"),
    marked("Version tag by which the called decision will be referenced."),
    marked("Version tag by which the called process will be referenced."),
    marked("Version tag by which the linked form will be referenced."),
    marked("every 10 seconds, up to 5 times"),
    marked("every day, infinitely"),
    marked("every hour on the hour from 9-5 p.m. UTC Monday-Friday"),
)
