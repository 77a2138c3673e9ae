"""Starts the program from a checkout: ``python main.py …``.

The same as ``python -m inspector …`` and as the command ``flax-inspector …`` of an
installed wheel, which does not hold this file. Everything else is in the package.
"""

from inspector.__main__ import main

if __name__ == "__main__":
    raise SystemExit(main())
