"""Arguments of the verbs, and the ones that the window shares with them."""

from __future__ import annotations

import argparse
import difflib
import os
import re
from collections.abc import Sequence

from inspector import __version__

VERBS = ("ls", "transfer", "run", "verify", "replay", "convert")
"""Verbs of this version."""

RESERVED = ("diff", "script", "graph", "programs", "watch")
"""Verbs that scripts may find in other versions; refused with a sentence."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")

FORMATS = ("orbax", "msgpack", "safetensors", "npz")
"""Names that ``--format`` takes."""


def is_verb(argv: Sequence[str]) -> bool:
    """Returns whether the arguments ask for a verb and not for a window."""
    return bool(argv) and (
        argv[0] in VERBS
        or argv[0] in RESERVED
        or argv[0] in {"-h", "--help", "--version"}
        or is_unknown_verb(argv)
    )


def is_unknown_verb(argv: Sequence[str]) -> bool:
    """Returns whether the first argument can only be a verb that does not exist.

    A bare word (no ``/``, ``.``, ``@`` or ``:``) that names neither a verb nor
    anything in this folder: as a path it would open an empty window.
    """
    if not argv or argv[0] in VERBS or argv[0] in RESERVED:
        return False
    word = argv[0]
    return bool(_WORD.fullmatch(word)) and not os.path.lexists(word)


def unknown_verb_text(word: str) -> str:
    """Returns what to say of a word that is neither a verb nor a file."""
    close = difflib.get_close_matches(word.lower(), VERBS, 1, 0.5)
    meant = f"Did you mean {close[0]}? " if close else ""
    return (
        f"There is no verb {word!r}, and no file or folder of this name here.\n"
        f"{meant}The verbs are {', '.join(VERBS)}; or give the path of a checkpoint."
    )


def add_shared(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that every form of the program takes."""
    parser.add_argument(
        "--python",
        metavar="PATH",
        default="",
        help="interpreter for modules (also FLAX_INSPECTOR_PYTHON)",
    )
    parser.add_argument(
        "--state-dir",
        metavar="DIR",
        default="",
        help="folder for sessions and settings (also FLAX_INSPECTOR_STATE)",
    )
    parser.add_argument(
        "--debug", action="store_true", help="show tracebacks of errors"
    )


def add_module(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Adds the arguments that name a module and say how ``init`` is called."""
    parser.add_argument(
        "--model",
        metavar="SPEC",
        required=required,
        help="file.py:Name or package.module:Name",
    )
    add_making(parser)


def add_making(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that say how a module is made and called."""
    parser.add_argument(
        "--kwargs", metavar="JSON", default="{}", help="constructor arguments"
    )
    parser.add_argument(
        "--input",
        metavar="TEXT",
        action="append",
        default=[],
        help="one input of the call, e.g. 'float32[8,28,28,1]' (repeat for more)",
    )
    parser.add_argument(
        "--init-input",
        metavar="TEXT",
        action="append",
        default=[],
        help="one input of init, when it differs from the call's",
    )
    parser.add_argument(
        "--call",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="static argument of the call, e.g. train=false",
    )
    parser.add_argument("--method", metavar="NAME", default="", help="method to call")
    parser.add_argument(
        "--init-method", metavar="NAME", default="", help="method that init runs"
    )
    parser.add_argument(
        "--rng",
        metavar="STREAM=SEED",
        action="append",
        default=[],
        help="seed of an rng stream, e.g. params=0",
    )
    parser.add_argument(
        "--init-rng",
        metavar="STREAM=SEED",
        action="append",
        default=[],
        help="seed of an rng stream of init, when it differs from the call's",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="",
        help="format of the output; left out: by its suffix, a folder is Orbax",
    )
    parser.add_argument(
        "--lossy",
        action="store_true",
        help="write even what the format cannot say exactly",
    )


def build_parser() -> argparse.ArgumentParser:
    """Returns the parser of all verbs."""
    parser = argparse.ArgumentParser(
        prog="flax-inspector",
        description="Flax checkpoints and modules side by side. "
        "Without a verb the window opens on the paths given.",
    )
    parser.add_argument(
        "--version", action="version", version=f"flax-inspector {__version__}"
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    _add_ls(verbs)
    _add_transfer(verbs)
    _add_run(verbs)
    _add_verify(verbs)
    _add_replay(verbs)
    _add_convert(verbs)
    for name in RESERVED:
        verbs.add_parser(name, add_help=False)
    return parser


def _verb(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str
) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=text, description=text)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON document on stdout"
    )
    add_shared(parser)
    return parser


def _add_ls(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _verb(verbs, "ls", "show the tree of a checkpoint")
    parser.add_argument(
        "path", metavar="PATH", help="PATH, PATH@STEP or PATH::KEY/PATH"
    )
    parser.add_argument(
        "--stats", action="store_true", help="with exact statistics of every array"
    )


def _add_transfer(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _verb(verbs, "transfer", "plan a transfer, and with --out make it")
    parser.add_argument("source", metavar="SRC", help="checkpoint to take from")
    add_module(parser, required=True)
    parser.add_argument(
        "--from", dest="origin", metavar="PATH", default="", help="subtree of SRC"
    )
    parser.add_argument(
        "--to", dest="goal", metavar="PATH", default="", help="place in the module"
    )
    parser.add_argument(
        "--only", metavar="COLLECTION", default="", help="move this collection alone"
    )
    parser.add_argument("--rules", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument(
        "--shape",
        choices=("skip", "crop", "pad", "resize"),
        default="skip",
        help="what to do where shapes differ",
    )
    parser.add_argument("--out", metavar="OUT", help="apply the plan and write this")
    parser.add_argument("--save-recipe", metavar="R", help="keep the recipe here")
    _add_output(parser)


def _add_call(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of a forward pass that `add_making` has not."""
    parser.add_argument(
        "--mutable",
        metavar="COLLECTION",
        action="append",
        default=[],
        help="collection that may be updated; left out: those that the call updates",
    )
    parser.add_argument(
        "--mode",
        choices=("train", "eval"),
        default="",
        help="sets the flag that the module has for it",
    )
    parser.add_argument(
        "--device", metavar="DEVICE", default="", help="e.g. cpu or gpu:0"
    )
    parser.add_argument(
        "--precision",
        choices=("default", "high", "highest"),
        default="",
        help="precision of matrix products",
    )
    parser.add_argument(
        "--apply",
        metavar="FILE.py:FN",
        default="",
        help="fn(variables, *inputs), called in place of a method",
    )


def _add_run(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _verb(verbs, "run", "run a module once")
    add_module(parser, required=True)
    parser.add_argument(
        "--variables",
        metavar="PATH",
        default="",
        help="checkpoint or recipe with the variables; left out: those of init",
    )
    _add_call(parser)
    parser.add_argument("--save", metavar="OUT.npz", help="keep the outputs here")
    parser.add_argument(
        "--code",
        action="store_true",
        help="print the call as a Python program in place of making it",
    )


def _add_verify(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _verb(verbs, "verify", "run the same inputs through two models")
    for name in ("a", "b"):
        parser.add_argument(
            name, metavar=name.upper(), help="a recipe, or SPEC=VARIABLES"
        )
    add_making(parser)
    parser.add_argument(
        "--kwargs-b",
        metavar="JSON",
        default=None,
        help="constructor arguments of B, when they differ from A's",
    )
    _add_call(parser)
    parser.add_argument(
        "--tolerance",
        type=float,
        default=1e-5,
        metavar="X",
        help="largest relative difference that counts as equal (1e-5)",
    )


def _add_replay(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _verb(verbs, "replay", "make the target of a saved recipe again")
    parser.add_argument("recipe", metavar="RECIPE")
    parser.add_argument("--out", metavar="OUT", required=True)
    _add_output(parser)


def _add_convert(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _verb(verbs, "convert", "rewrite a checkpoint in another format")
    parser.add_argument("source", metavar="SRC")
    parser.add_argument("out", metavar="OUT")
    _add_output(parser)
