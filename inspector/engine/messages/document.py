"""Window or command line -> store: sources, target, edits, history, export.

An edit answers with `Changes`, which is also sent once to everybody as an event.
"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.engine.messages.module import ModuleSpec
from inspector.engine.messages.reading import StepInfo
from inspector.errors import ErrorInfo
from inspector.variables.path import TreePath

TARGET = "target"
"""Name of the target where a message asks for a tree; sources go by their id."""


@dataclass(frozen=True, slots=True)
class Begin:
    """First request of a window or verb: begins its session; `DocumentInfo`.

    Attributes:
        state_dir: Folder for sessions and scratch; empty for the person's own.
        python: Interpreter of the model; empty for ours.
        private: Whether the session is no business of later ones: a verb, a
            screenshot. Nothing of it is offered again.
    """

    state_dir: str = ""
    python: str = ""
    private: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """Ends the session by the person's wish.

    It is offered again only when it holds edits that no recipe was saved of. A
    session whose owner is gone without a word was left by a crash and is offered in
    any case.
    """


@dataclass(frozen=True, slots=True)
class OpenSource:
    """Opens a checkpoint as a source; `SourceInfo` answers.

    Attributes:
        locator: ``PATH``, ``PATH::KEY/PATH``, ``PATH@STEP``.
        cwd: Folder that a relative path starts from.
    """

    locator: str
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """An open source.

    Attributes:
        id: Its id in the document, e.g. ``"s1"``.
        name: Short name for a person, unique in the document.
        locator: Absolute locator.
        path: File or folder that holds the tree.
        format: Format of the file.
        leaves: Leaves in it.
        parameters: Elements of all arrays.
        nbytes: Bytes of all arrays when decoded.
        step: Opened step; empty when there are none.
        steps: All steps.
        warnings: Sentences for a person.
        incomplete: Why it is not whole; empty when it is.
        changed: What somebody else changed in its files since; empty when nothing.
    """

    id: str
    name: str
    locator: str
    path: str
    format: str
    leaves: int
    parameters: int
    nbytes: int
    step: str = ""
    steps: tuple[StepInfo, ...] = ()
    warnings: tuple[str, ...] = ()
    incomplete: str = ""
    changed: str = ""


@dataclass(frozen=True, slots=True)
class CloseSource:
    """Closes a source; refused while edits or the base use it."""

    source: str


@dataclass(frozen=True, slots=True)
class RecheckSources:
    """Compares the files of all sources with what was opened; `DocumentInfo`."""


@dataclass(frozen=True, slots=True)
class AcceptSource:
    """Reads a changed source anew: its leaves that edits use must still be there."""

    source: str


@dataclass(frozen=True, slots=True)
class LoadTarget:
    """Makes a module's variable tree the target; `Changes` answers.

    Attributes:
        module: What to load.
        python: Interpreter for the model; empty keeps the present one.
        keep: Keep the edits that still fit; otherwise the target starts anew.
    """

    module: ModuleSpec
    python: str = ""
    keep: bool = False


@dataclass(frozen=True, slots=True)
class LoadRecorded:
    """Imports the module that an opened recipe recorded; `Changes` answers.

    Sent only after a click that named its file (`TargetInfo.file`). A module that
    gives another tree now is reported leaf by leaf in `Changes.notes`.
    """


@dataclass(frozen=True, slots=True)
class CopyTarget:
    """Makes an editable copy of a source the target; `Changes` answers."""

    source: str


@dataclass(frozen=True, slots=True)
class SetSeed:
    """Sets the seed of an rng stream of ``init``; `Changes` answers."""

    stream: str
    seed: int


@dataclass(frozen=True, slots=True)
class RenameNode:
    """Gives the node at ``path`` another last key."""

    path: TreePath
    name: str


@dataclass(frozen=True, slots=True)
class DeleteNodes:
    """Removes nodes from the target."""

    paths: tuple[TreePath, ...]


@dataclass(frozen=True, slots=True)
class CastNodes:
    """Casts every array at or below the paths to a dtype."""

    paths: tuple[TreePath, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class FillNodes:
    """Sets every element of the arrays at or below the paths to one number.

    Attributes:
        paths: What to fill.
        number: Text of the number as typed (``"0"``, ``"nan"``, ``"1e-3"``,
            ``"1+2j"``, ``"true"``).
    """

    paths: tuple[TreePath, ...]
    number: str


@dataclass(frozen=True, slots=True)
class TypeNumbers:
    """Sets a block of numbers of one array, as typed or pasted.

    Attributes:
        path: The array.
        start: First index on every axis.
        shape: Extent of the block on every axis.
        numbers: Texts in C order, as many as the block has elements.
    """

    path: TreePath
    start: tuple[int, ...]
    shape: tuple[int, ...]
    numbers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Undo:
    """Takes the last edit back."""


@dataclass(frozen=True, slots=True)
class Redo:
    """Does the last undone edit again."""


@dataclass(frozen=True, slots=True)
class GoTo:
    """Goes to the state after ``position`` edits; 0 is the base alone."""

    position: int


@dataclass(frozen=True, slots=True)
class AskDocument:
    """Asks for `DocumentInfo`."""


@dataclass(frozen=True, slots=True)
class AskModule:
    """Asks for the `module.ModuleSpec` of the target's module; runs no code."""


@dataclass(frozen=True, slots=True)
class HistoryState:
    """The history as the window mirrors it.

    Attributes:
        position: Edits in force; 0 is the base alone.
        count: Edits in all, undone ones included.
        texts: Verb phrases of the newest edits, oldest first, at most 500.
        first: Number of the edit that ``texts`` starts with.
        can_undo: Whether there is something to undo.
        can_redo: Whether there is something to redo.
    """

    position: int = 0
    count: int = 0
    texts: tuple[str, ...] = ()
    first: int = 0
    can_undo: bool = False
    can_redo: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """What an edit, or anything else, changed; sent once to every panel.

    Attributes:
        sources: The list of sources or one of them changed.
        base: The target is another one.
        structure: Paths of the target came, went or moved.
        values: Values of target leaves changed.
        paths: Target paths concerned, at most 200; empty with a flag set: any.
        count: How many target leaves are concerned.
        text: Verb phrase for the status line.
        history: The history afterwards.
        notes: Sentences that a person should read, e.g. what no longer fits.
    """

    sources: bool = False
    base: bool = False
    structure: bool = False
    values: bool = False
    paths: tuple[TreePath, ...] = ()
    count: int = 0
    text: str = ""
    history: HistoryState = HistoryState()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TargetInfo:
    """The target as titles and counts show it.

    Attributes:
        kind: ``"none"``, ``"module"`` or ``"checkpoint"``.
        name: E.g. ``"classifier.py:Classifier"`` or the source's name.
        loaded: Whether the module has been imported in this session; a module of
            an opened recipe has not, until a click names its file.
        spec: The module's spec; empty for a copy.
        file: The file that importing the module runs; empty for a copy.
        leaves: Leaves of the target.
        parameters: Elements of all arrays.
        nbytes: Bytes of all arrays when decoded.
        origins: (origin, leaves) of the target.
        seeds: (rng stream, seed) of ``init``.
        python: Interpreter the model runs on.
    """

    kind: str = "none"
    name: str = ""
    loaded: bool = False
    spec: str = ""
    file: str = ""
    leaves: int = 0
    parameters: int = 0
    nbytes: int = 0
    origins: tuple[tuple[str, int], ...] = ()
    seeds: tuple[tuple[str, int], ...] = ()
    python: str = ""


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """The whole document in small.

    Attributes:
        sources: Open sources in the order they were opened.
        target: The target.
        history: The history.
        recipe: File the document was saved to or opened from; may be empty.
        saved: Whether that file holds the present state.
    """

    sources: tuple[SourceInfo, ...]
    target: TargetInfo
    history: HistoryState
    recipe: str = ""
    saved: bool = True


@dataclass(frozen=True, slots=True)
class Export:
    """Writes the target; makes initial values first where nothing fills a leaf.

    Attributes:
        out: Path as given; relative to ``cwd``.
        format: One of the four formats; empty: by suffix.
        lossy: Whether what the format cannot say may be changed or left out.
        overwrite: Whether something that exists may be replaced.
        changed: Whether sources that changed on disk may be used as they are now.
        run: Whether a module that an opened recipe recorded may be imported now for
            the initial values of leaves that nothing fills. Without it such an
            export fails with kind ``"ModuleNotImportedError"``, whose ``where`` is
            the file that would run.
        cwd: Folder that a relative path starts from.
    """

    out: str
    format: str = ""
    lossy: bool = False
    overwrite: bool = True
    changed: bool = False
    run: bool = False
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class SaveRecipe:
    """Saves the document to a recipe file, atomically."""

    path: str
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class OpenRecipe:
    """Opens a recipe as the document; runs no code; `Changes` answers.

    Attributes:
        path: The recipe.
        cwd: Folder that a relative path starts from.
    """

    path: str
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class AskSessions:
    """Asks for the sessions that a crash left behind; `Sessions` answers."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session that did not end by itself.

    Attributes:
        id: Name under the state folder.
        title: E.g. ``"digits → classifier.py:Classifier"``.
        edits: Edits in it.
        ended: Time of its last operation, seconds since the epoch.
    """

    id: str
    title: str
    edits: int
    ended: float


@dataclass(frozen=True, slots=True)
class Sessions:
    """Sessions that a crash left behind, newest first."""

    sessions: tuple[SessionInfo, ...]


@dataclass(frozen=True, slots=True)
class RestoreSession:
    """Takes a session up where it ended; runs no code; `Changes` answers."""

    id: str


@dataclass(frozen=True, slots=True)
class DiscardSession:
    """Forgets a session."""

    id: str


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """Event: the state of an engine.

    Attributes:
        engine: ``"store"``, ``"reader"`` or ``"model"``.
        state: ``"starting"``, ``"ready"``, ``"busy"`` or ``"ended"``.
        text: Sentence for the status line and the log.
    """

    engine: str
    state: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """Event: something a person should read; ``level`` as in logging."""

    level: str
    error: ErrorInfo


@dataclass(frozen=True, slots=True)
class StopModel:
    """Ends the model with its whole process group; a spare takes over."""


@dataclass(frozen=True, slots=True)
class ModuleFileChanged:
    """Event: the file of the target's module, or one it imports, has changed.

    Attributes:
        file: The file.
        is_gone: Whether it is not there any more.
    """

    file: str
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class ReloadModule:
    """Loads the target's module again and keeps the edits that fit; `Changes`."""


CLASSES: tuple[type, ...] = (
    Begin, End, OpenSource, SourceInfo, CloseSource, RecheckSources, AcceptSource,
    LoadTarget, LoadRecorded, CopyTarget, SetSeed, RenameNode, DeleteNodes,
    CastNodes, FillNodes, TypeNumbers, Undo, Redo, GoTo, AskDocument, AskModule,
    HistoryState, ModuleFileChanged, ReloadModule,
    Changes, TargetInfo, DocumentInfo, Export, SaveRecipe, OpenRecipe, AskSessions,
    SessionInfo, Sessions, RestoreSession, DiscardSession, EngineStatus, Notice,
    StopModel,
)  # fmt: skip
"""Every class of this module, for the codec."""
