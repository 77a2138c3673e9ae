"""The history of a document: states that share their parts, and a pointer.

Owned by `document.Document`, on the store's state thread. A state is an edit and
the tree it gave; trees are immutable, so undo moves a pointer and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.errors import EditError
from inspector.variables.edit import Edit, describe
from inspector.variables.tree import Branch


@dataclass(frozen=True, slots=True)
class HistoryState:
    """The history as a window mirrors it.

    Attributes:
        position: Edits in force; 0 is the base alone.
        texts: Verb phrases of all edits, undone ones last.
        can_undo: Whether there is an edit to undo.
        can_redo: Whether there is an undone edit.
    """

    position: int
    texts: tuple[str, ...]
    can_undo: bool
    can_redo: bool


@dataclass(frozen=True, slots=True)
class State:
    """One edit and the tree after it.

    Attributes:
        edit: The edit.
        text: Its verb phrase.
        tree: The target after it.
    """

    edit: Edit
    text: str
    tree: Branch


class History:
    """The edits of a document and where it stands among them.

    Attributes:
        start: The tree of the base.
        position: Edits in force.
    """

    def __init__(self, start: Branch) -> None:
        """Begins with the tree of the base and no edits."""
        self.start = start
        self.position = 0
        self._states: list[State] = []

    def __len__(self) -> int:
        """Returns the number of edits, undone ones included."""
        return len(self._states)

    @property
    def tree(self) -> Branch:
        """The target as it stands."""
        return self.tree_at(self.position)

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits in force, oldest first."""
        return tuple(state.edit for state in self._states[: self.position])

    @property
    def all_edits(self) -> tuple[Edit, ...]:
        """All edits, undone ones last."""
        return tuple(state.edit for state in self._states)

    def tree_at(self, position: int) -> Branch:
        """Returns the target after so many edits."""
        return self._states[position - 1].tree if position else self.start

    def push(self, edit: Edit, tree: Branch) -> None:
        """Adds an edit after those in force; undone ones are forgotten.

        Args:
            edit: The edit.
            tree: The tree that it gave.
        """
        del self._states[self.position :]
        self._states.append(State(edit, describe(edit), tree))
        self.position += 1

    def go_to(self, position: int) -> tuple[Edit, ...]:
        """Moves the pointer.

        Returns:
            The edits between the two positions, in the order of the history.

        Raises:
            EditError: There are not so many edits.
        """
        if not 0 <= position <= len(self._states):
            message = f"there are {len(self._states)} edits, {position} was asked for"
            raise EditError(message, hint="Choose a state of the history.")
        low, high = sorted((self.position, position))
        self.position = position
        return tuple(state.edit for state in self._states[low:high])

    def undo(self) -> tuple[Edit, ...]:
        """Takes the last edit in force back.

        Raises:
            EditError: There is none.
        """
        if not self.position:
            message = "there is nothing to undo"
            raise EditError(message, hint="The target is as its base made it.")
        return self.go_to(self.position - 1)

    def redo(self) -> tuple[Edit, ...]:
        """Does the first undone edit again.

        Raises:
            EditError: There is none.
        """
        if self.position == len(self._states):
            message = "there is nothing to redo"
            raise EditError(message, hint="A new edit forgets the undone ones.")
        return self.go_to(self.position + 1)

    def state(self) -> HistoryState:
        """Returns the history as data."""
        return HistoryState(
            self.position,
            tuple(state.text for state in self._states),
            self.position > 0,
            self.position < len(self._states),
        )
