"""The reference for opening a big file: its own library, which reads all of it.

Wanted: ``{"format", "path"}``. Tells ``seconds`` without the import, and ``peak``, the
most memory that the process held, in bytes.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.children.speech import peak_bytes, tell, wanted


def _loader(name: str) -> Any:
    """Imports only the library that is asked for, so that the other weighs nothing."""
    if name == "msgpack":
        from flax.serialization import msgpack_restore  # noqa: PLC0415 - see above

        return lambda path: msgpack_restore(Path(path).read_bytes())
    from safetensors.numpy import load_file  # noqa: PLC0415 - see above

    return load_file


def main() -> None:
    """Loads the file."""
    job = wanted()
    load = _loader(job["format"])
    start = time.perf_counter()
    tree = load(job["path"])
    seconds = time.perf_counter() - start
    tell(seconds=seconds, peak=peak_bytes())
    del tree
    sys.stdout.flush()


if __name__ == "__main__":
    main()
