"""What the model process answers about calls: the form of one, inputs that fit.

Called by the model process, one request at a time, on the thread that runs the
person's code.
"""

from __future__ import annotations

from inspector.engine.messages.calling import (
    CallForm,
    Proposals,
    ReadCallForm,
    TryInputs,
)
from inspector.models import call_form, proposals
from inspector.models.loading import Progress, explained, kept_subject


def read_call_form(body: ReadCallForm, progress: Progress) -> CallForm:
    """Looks at how a module can be called.

    Args:
        body: The module and the method.
        progress: Told what is being done.

    Raises:
        LoadModuleError: The module cannot be loaded, or has no such method.
        UsageError: A text of the request cannot be parsed.
    """
    subject = kept_subject(body.module, "", progress)
    title = subject.imported.target.title
    progress(f"Looking at how {title} is called")
    with explained(subject.imported, f"Looking at {title}"):
        return call_form.call_form(subject, body.method, body.apply)


def try_inputs(body: TryInputs, progress: Progress) -> Proposals:
    """Finds inputs under which a module takes the variables of a source.

    Args:
        body: The module, the abstract tree of the source, and the method.
        progress: Told what is being done.

    Raises:
        LoadModuleError: The module cannot be imported or constructed.
        UsageError: A text of the request cannot be parsed.
    """
    return proposals.propose(body, progress)
