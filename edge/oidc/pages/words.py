"""What scopes say to people."""

_WORDS = {
    "openid": "Know that it is you who signs in",
    "profile": "See your name, username, birthdate, picture and language",
    "email": "See your e-mail address",
    "address": "See your postal address",
    "phone": "See your telephone number",
    "groups": "See the groups that you belong to",
    "offline_access": "Keep its access while you are signed out",
    "process:deploy": "Deploy processes in your name",
    "instance:create": "Start processes in your name",
    "instance:cancel": "Cancel processes in your name",
    "instance:migrate": "Migrate processes in your name",
    "job:work": "Work off jobs in your name",
    "incident:resolve": "Resolve incidents in your name",
    "variable:write": "Change the variables of processes in your name",
    "history:read": "See what processes did",
    "operations:read": "See what processes do",
    "audit:read": "See who did what",
    "clock:write": "Set the clock of the engine in your name",
    "identity:read": "See accounts, clients and settings",
    "identity:write": "Change accounts, clients and settings in your name",
}


def words_of(scope: str) -> str:
    """Return what the scope means; one of a deployment's own is called by its name."""
    return _WORDS.get(scope, f"Use “{scope}”")
