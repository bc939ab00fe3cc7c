"""Forms: JSON files that say which fields people fill in.

    form = read(content)
    form.id, form.version_tag

The engine keeps forms and binds them; it neither shows nor validates what people enter.
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
