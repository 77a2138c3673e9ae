"""Store -> reader: everything that touches a foreign file.

In these messages the ``source`` of a `Stored` value is a locator
(``/abs/path@3::params``), so that a new reader can go on where a dead one stopped.
"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.variables.leaf import Leaf
from inspector.variables.plain import PlainTree


@dataclass(frozen=True, slots=True)
class ListCheckpoint:
    """Opens a checkpoint from its metadata and lists it; answered by `Listing`.

    Attributes:
        locator: ``PATH``, ``PATH::KEY/PATH`` or ``PATH@STEP`` as a person gave it.
        cwd: Folder that a relative path starts from.
        fresh: Forget what an earlier listing of the same place cached.
    """

    locator: str
    cwd: str = ""
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class StepInfo:
    """One step of a manager's folder; ``incomplete`` says why it is no choice."""

    name: str
    number: int
    incomplete: str = ""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """A file as it was when a checkpoint was listed.

    Attributes:
        path: Absolute path.
        size: Bytes.
        mtime_ns: Modification time in nanoseconds.
    """

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Listing:
    """What a checkpoint holds.

    Attributes:
        locator: Resolved, absolute locator; the ``source`` of its leaves.
        path: File or folder that holds the tree.
        format: ``"orbax"``, ``"msgpack"``, ``"safetensors"`` or ``"npz"``.
        tree: Every leaf and container.
        step: Opened step, empty when there are none.
        steps: All steps, sorted by number.
        warnings: Sentences for a person.
        incomplete: Why it is not whole; empty when it is.
        stamps: Its files.
        digest: Hex digest of its metadata and of sampled blocks.
    """

    locator: str
    path: str
    format: str
    tree: PlainTree
    step: str = ""
    steps: tuple[StepInfo, ...] = ()
    warnings: tuple[str, ...] = ()
    incomplete: str = ""
    stamps: tuple[FileStamp, ...] = ()
    digest: str = ""


@dataclass(frozen=True, slots=True)
class StampFiles:
    """Asks for the present stamps of files; answered by `Stamps`."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stamps:
    """Present stamps; a file that is gone has size -1."""

    stamps: tuple[FileStamp, ...]


@dataclass(frozen=True, slots=True)
class LeafStatistics:
    """Exact statistics and histogram of a leaf, streamed; reports progress.

    Attributes:
        leaf: What to read.
        bins: Bins of the histogram, 0 for none.
    """

    leaf: Leaf
    bins: int = 0


@dataclass(frozen=True, slots=True)
class StatisticsReply:
    """Statistics of one leaf, with the meaning of the command line's JSON.

    Attributes:
        count: Number of elements.
        minimum: Smallest finite value (complex: of the absolute value), or None.
        maximum: Largest finite value, or None.
        mean: Mean of the finite values, or None.
        std: Standard deviation of the population of finite values, or None.
        total: Sum of all values: int for integers and bool, float64, or (re, im).
        zeros: Elements equal to zero.
        nan: Elements that are NaN.
        inf: Elements that are infinite.
        edges: Low and high end of the histogram; empty without one.
        counts: Elements in each bin of equal width.
        sampled: Whether only a part was read.
    """

    count: int
    minimum: int | float | None
    maximum: int | float | None
    mean: float | None
    std: float | None
    total: int | float | tuple[float, float]
    zeros: int
    nan: int
    inf: int
    edges: tuple[float, float] | tuple[()] = ()
    counts: tuple[int, ...] = ()
    sampled: bool = False


@dataclass(frozen=True, slots=True)
class LeafNumbers:
    """Reads one region of a leaf; answered by `Numbers`.

    Attributes:
        leaf: What to read.
        region: (start, stop) on every axis.
    """

    leaf: Leaf
    region: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Numbers:
    """A block of numbers.

    Attributes:
        shape: Shape of the block (random keys: with the axis of words).
        dtype: Name of its dtype (``uint32`` for random keys).
        data: C order, little-endian.
    """

    shape: tuple[int, ...]
    dtype: str
    data: bytes


@dataclass(frozen=True, slots=True)
class LeafPicture:
    """A 2-D slice of a leaf, thinned to what a screen shows.

    Attributes:
        leaf: What to read.
        rows_axis: Axis that runs down; -1 for a single row (0-d and 1-d leaves).
        columns_axis: Axis that runs to the right; -1 for a 0-d leaf.
        index: Index on every axis; the two shown are ignored.
        max_rows: Most rows of the picture.
        max_columns: Most columns of the picture.
    """

    leaf: Leaf
    rows_axis: int
    columns_axis: int
    index: tuple[int, ...]
    max_rows: int = 256
    max_columns: int = 256


@dataclass(frozen=True, slots=True)
class Picture:
    """A thinned 2-D slice.

    Attributes:
        rows: Rows in the picture.
        columns: Columns in the picture.
        data: float32, C order, little-endian; complex as absolute values.
        row_step: Elements of the leaf per row of the picture (1: nothing left out).
        column_step: The same for columns.
        low: Smallest finite value in it, None when there is none.
        high: Largest finite value in it, None when there is none.
    """

    rows: int
    columns: int
    data: bytes
    row_step: int
    column_step: int
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class WriteExport:
    """Writes a tree to a file, atomically; reports progress in bytes.

    Attributes:
        tree: What to write; values name locators, never ids of the document.
        out: Absolute path of the file or folder.
        format: One of the four formats; empty: by the suffix of ``out``.
        lossy: Whether what the format cannot say may be changed or left out.
        overwrite: Whether an existing file or checkpoint may be replaced.
        sources: Files and folders that must not be touched.
    """

    tree: PlainTree
    out: str
    format: str = ""
    lossy: bool = False
    overwrite: bool = True
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    Attributes:
        out: Absolute path of the file or checkpoint folder.
        format: Format it has.
        leaves: Leaves in it.
        nbytes: Bytes of the arrays in it.
        warnings: What was changed or left out, a sentence each.
    """

    out: str
    format: str
    leaves: int
    nbytes: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LayOut:
    """Brings leaves to where another process can map them; `LaidOut` answers.

    Leaves that lie in a file uncompressed, contiguous and little-endian are named
    where they lie; all others are written to one file, aligned to 64 bytes.

    Attributes:
        tree: What to lay out; values name locators, never ids of the document.
        file: Absolute path to write to; not made when nothing has to be written.
    """

    tree: PlainTree
    file: str


@dataclass(frozen=True, slots=True)
class LaidOut:
    """The same tree, with `Raw` values; literals and unset leaves as they were.

    Random keys lie as their uint32 words: their `Raw` has the axis of the words and
    dtype ``"uint32"``, their leaf keeps its own shape and dtype.

    Attributes:
        tree: The tree.
        nbytes: Bytes that were written.
    """

    tree: PlainTree
    nbytes: int


@dataclass(frozen=True, slots=True)
class DecodeImage:
    """Decodes a picture into a ``.npy`` file; `Done` answers.

    Attributes:
        path: Absolute path of the picture.
        shape: Wanted shape, ``[…, height, width, channels]`` with 1, 3 or 4 channels,
            or ``[height, width]``; the picture is resized (bilinear) and repeated on
            leading axes. Empty: its own size, as ``[1, height, width, 3]``.
        dtype: Wanted dtype; floating values are 0 to 1, integers 0 to 255.
        out: Absolute path of the ``.npy`` file.
    """

    path: str
    shape: tuple[int, ...]
    dtype: str
    out: str


@dataclass(frozen=True, slots=True)
class CompareTrees:
    """Compares two trees leaf by leaf, streamed; `running.RunDifference` answers.

    Attributes:
        a: First tree; values name locators, never ids of the document.
        b: Second tree.
        limit: Most rows to send, largest differences first.
    """

    a: PlainTree
    b: PlainTree
    limit: int = 400


CLASSES: tuple[type, ...] = (
    ListCheckpoint, StepInfo, FileStamp, Listing, StampFiles, Stamps, LeafStatistics,
    StatisticsReply, LeafNumbers, Numbers, LeafPicture, Picture, WriteExport, Exported,
    LayOut, LaidOut, DecodeImage, CompareTrees,
)  # fmt: skip
"""Every class of this module, for the codec."""
