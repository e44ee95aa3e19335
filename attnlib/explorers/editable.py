"""What can be done to an explorer's head from Python: set it, go back, write it down, save it."""

from pathlib import Path

from attnlib.explorers import files, states


class Editable:
    """The verbs of an explorer that has an `Editing`, a head and its gradients."""

    def set(self, query=None, key=None, value=None, grad_output=None, labels=None):
        """Set any of the inputs whole; the picture is redrawn once.

        Parameters
        ----------
        query, key, value, grad_output : array_like, optional
            Shapes as for the explorer itself; what is not given stays as it is.
        labels : sequence of str, optional
            The tokens' own words. They stay, too, unless query, key and value are all given: those
            are other tokens.

        Raises
        ------
        SelfAttentionError, ValueError
            If the new inputs don't go together; then nothing has changed.
        """
        with self._editing.lock:
            given = {"query": query, "key": key, "value": value, "grad_output": grad_output}
            given |= {"labels": labels}
            given = {name: x for name, x in given.items() if x is not None}
            now = self._editing.inputs()
            kept = now.arrays if {"query", "key", "value"} <= given.keys() else vars(now)
            self._editing.load(states.as_inputs(**{**kept, **given}))

    def reset(self):
        """Go back to what the explorer, or the last preset, started from."""
        self._editing.load(self._editing.start)

    def undo(self):
        """Go one change back, of the last 50."""
        self._editing.undo()

    def redo(self):
        """Take the last undo back."""
        self._editing.redo()

    def code(self):
        """Write Python that rebuilds this very state.

        Returns
        -------
        str
            Two statements; run, they give an explorer with the same numbers to the last bit.
        """
        return states.code_of(self._editing.inputs())

    def save(self, path):
        """Save the picture (.png, .svg) or the numbers (.json, .npz).

        Parameters
        ----------
        path : str or pathlib.Path
            Its ending chooses the kind.

        Raises
        ------
        ValueError
            For another ending; nothing is written then.
        """
        path = Path(path)
        path.write_bytes(self._file(path.suffix.removeprefix(".")))

    def _file(self, kind):
        with self._editing.lock:
            return files.content(kind, self._editing.inputs(), self.head, self.gradients)
