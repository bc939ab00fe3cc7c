"""Descriptions of scopes for users."""

WORDS = {
    "openid": "Know who you are",
    "profile": "See your name, username, birthdate, picture and language",
    "email": "See your email address",
    "address": "See your postal address",
    "phone": "See your telephone number",
    "groups": "See the groups you belong to",
    "offline_access": "Keep access while you are signed out",
    "process:deploy": "Deploy processes on your behalf",
    "process:delete": "Delete deployed processes on your behalf",
    "instance:create": "Start processes on your behalf",
    "instance:cancel": "Cancel processes on your behalf",
    "instance:delete": "Delete the history of processes on your behalf",
    "instance:migrate": "Migrate processes on your behalf",
    "instance:modify": "Modify processes on your behalf",
    "job:work": "Work on jobs on your behalf",
    "task:work": "Work on user tasks on your behalf",
    "incident:resolve": "Resolve incidents on your behalf",
    "message:publish": "Publish messages to processes on your behalf",
    "signal:broadcast": "Broadcast signals to processes on your behalf",
    "variable:write": "Change the variables of processes on your behalf",
    "document:write": "Store and delete documents on your behalf",
    "document:read": "Read stored documents on your behalf",
    "history:read": "See the history of processes",
    "operations:read": "See running processes",
    "audit:read": "See the audit log",
    "clock:write": "Set the clock of the engine on your behalf",
    "identity:read": "See accounts, clients and settings",
    "identity:write": "Change accounts, clients and settings on your behalf",
}


def words_of(scope: str) -> str:
    """Return the description of a scope; a custom scope is described by its name."""
    return WORDS.get(scope, f"Use “{scope}”")
