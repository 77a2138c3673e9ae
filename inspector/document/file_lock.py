"""A lock on an open file that ends with the process, on every system.

Used by the journal alone: who holds the lock owns the session. Never waits.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import msvcrt
    import os

    _FAR = 1 << 40

    def try_lock(descriptor: int) -> bool:
        """Returns whether the lock was taken; False when another holder has it."""
        # Windows locks ranges and keeps others from reading them: a byte far
        # behind the end stands for the file.
        position = os.lseek(descriptor, 0, os.SEEK_CUR)
        try:
            os.lseek(descriptor, _FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, position, os.SEEK_SET)
        return True

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Returns whether the lock was taken; False when another holder has it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
