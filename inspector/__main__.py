"""The program's entry: a verb goes to the command line, a window to the app.

``engine NAME`` starts an engine and is handled before anything else is imported,
because an engine has to put its pipes away first. Called by ``main.py``, by
``python -m inspector`` and by the installed script.
"""

from __future__ import annotations

import sys

INTERRUPTED = 130
"""Exit status after Ctrl+C."""


def main(argv: list[str] | None = None) -> int:
    """Runs the program.

    Args:
        argv: Arguments without the program's name; None takes those of the process.

    Returns:
        Exit status: 0 done, 1 the request could not be met, 2 usage, 130
        interrupted.
    """
    arguments = sys.argv[1:] if argv is None else argv
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        # Ctrl+C while something is still imported; the verbs take it themselves.
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    if arguments[:2] == ["engine", "orbax-check"]:
        from inspector.formats import orbax_check_child  # noqa: PLC0415 - see above

        orbax_check_child.main()
        return 0
    if arguments[:1] == ["engine"]:
        from inspector.engine.launch_serve import serve  # noqa: PLC0415 - see above

        return serve(arguments[1])
    from inspector.cli.arguments import is_verb  # noqa: PLC0415 - see above

    if is_verb(arguments):
        from inspector.cli.run import run  # noqa: PLC0415 - no Qt for a verb

        return run(arguments)
    from inspector.app import run as run_window  # noqa: PLC0415 - Qt only here

    return run_window(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
