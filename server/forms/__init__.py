"""Forms: JSON files that describe input fields for people.

    form = read(content)
    form.id, form.version_tag

The engine stores and binds forms; it neither renders them nor validates input.
"""

from server.forms.reader import (
    MAX_BYTES,
    MAX_COMPONENTS,
    MAX_DEPTH,
    Form,
    FormReadError,
    read,
)

__all__ = ["MAX_BYTES", "MAX_COMPONENTS", "MAX_DEPTH", "Form", "FormReadError", "read"]
