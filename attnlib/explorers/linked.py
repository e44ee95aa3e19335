"""Linked reading: the chosen cell's equation in words, its sources marked wherever they stand."""

from attnlib.views import readings, tables

NONE = ["", 0, 0]


class LinkedReading:
    """Wires the choice of a cell to the words and marks of a panel.

    Parameters
    ----------
    reader : Reader
        Cells to choose, over the picture.
    words : Words
        Where the equations stand.
    matrices : dict of str to MatrixControl
        The sliders; focusing one reads its entry.
    lock : threading.RLock
        Held while a cell is read: the browser's choice may come in beside a slider's move.
    """

    def __init__(self, reader, words, matrices, lock):
        self._lock = lock
        self._reader, self._words = reader, words
        self._matrices, self._tables = matrices, None
        self._layout, self._shown = None, {}
        reader.observe(self._chosen, "chosen")
        for name, matrix in matrices.items():
            matrix.observe(lambda change, name=name: self._focused(name, *change.new), "focused")

    def choose(self, name, row, column):
        """Read one cell; an empty name reads none.

        Raises
        ------
        ValueError
            If there is no such cell.
        """
        if name and not self._holds(name, row, column):
            raise ValueError(
                f"there is no cell {name!r} [{row}, {column}] in this head: choose one of "
                f"{', '.join(self._shown)} and a row and column that it has"
            )
        self._reader.chosen = [name, row, column]

    def follow(self, layout, shown):
        """Read the chosen cell of a head that has moved, and mark what it comes from.

        Parameters
        ----------
        layout : Layout
            What stands in the picture.
        shown : dict of str to numpy.ndarray
            From `layout.quantities`.

        Returns
        -------
        str
            The reading, for `words`.
        """
        if layout is not self._layout:
            self._reader.follow(layout)
        self._layout, self._shown = layout, shown
        if self._reader.chosen[0] and not self._holds(*self._reader.chosen):
            self._reader.chosen = NONE
        return self._read()

    def tabulate(self, tables):
        """Fill tables from now on, with every move: until then nobody wants them.

        Parameters
        ----------
        tables : ipywidgets.HTML
            For every quantity.
        """
        with self._lock:
            self._tables = tables
            self._read()

    def _chosen(self, _change):
        with self._lock:
            self._words.reading = self._read()

    def _focused(self, name, row, column):
        if self._holds(name, row, column):
            self._reader.chosen = [name, row, column]

    def _holds(self, name, row, column):
        if name not in self._shown:
            return False
        rows, columns = self._shown[name].shape
        return 0 <= row < rows and 0 <= column < columns

    def _read(self):
        chosen = name, row, column = self._reader.chosen
        if not self._holds(*chosen):
            return self._mark(None, (), [])
        reading = readings.read(self._shown, name, row, column)
        lines = [reading.equation]
        # A panel that shows no gradient says nothing of one, nor of the objective.
        returns = any(readings.is_gradient(place.name) for place in self._layout.places)
        if returns and name in self._matrices:
            step = self._matrices[name].entries[row][column].step
            effect = readings.effect_of_step(self._shown, name, row, column, step)
            lines = [f"{reading.equation}. {effect}"]
        if returns and not readings.is_gradient(name):
            back = readings.read(self._shown, readings.gradient_of(name), row, column)
            lines.append(back.equation)
        return self._mark(chosen, reading.sources, lines)

    def _mark(self, chosen, sources, lines):
        self._reader.sources = [list(source) for source in sources]
        for matrix_name, matrix in self._matrices.items():
            matrix.sources = [[t, f] for source, t, f in sources if source == matrix_name]
        if self._tables:
            self._tables.value = tables.of_layout(self._layout, self._shown, chosen, sources)
        return "\n".join(lines)
