"""A matrix made of sliders: one small widget a matrix, one `Entry` to hold each number by."""

import json
import math

import traitlets

from attnlib.explorers.part import Part, source
from attnlib.views import numbers, token_names

REACH, STEP = 6.0, 0.25
"""How far a slider goes to each side of 0 unless its value lies beyond, and its step."""

ROLES = {
    "Q": ("query", "queries · solid"),
    "K": ("key", "keys · dashed"),
    "V": ("value", "values · double"),
}


class Entry(traitlets.HasTraits):
    """One number of a matrix: its `value`, `min`, `max` and `step` can be read, set and observed.

    A value beyond `min` or `max` is kept as it is, and moves the bound.
    """

    value = traitlets.Float()
    min = traitlets.Float(-REACH)
    max = traitlets.Float(REACH)
    step = traitlets.Float(STEP)
    description = traitlets.Unicode(read_only=True)

    def __init__(self, description, value, least=-REACH, most=REACH, step=STEP):
        least, most = min(least, finite(value)), max(most, finite(value))
        super().__init__(min=least, max=most, step=step, value=value)
        self.set_trait("description", description)

    def __repr__(self):
        return f"Entry({self.description!r}, value={self.value!r})"

    @traitlets.observe("value")
    def _reach(self, change):
        if math.isfinite(change.new):
            self.min, self.max = min(self.min, change.new), max(self.max, change.new)


def finite(value):
    """The number itself, or 0 where it is none that a slider could reach."""
    return value if math.isfinite(value) else 0.0


def _to_json(values, _widget):
    return [[x if math.isfinite(x) else repr(x) for x in row] for row in values]


def _from_json(values, _widget):
    return [[float(x) for x in row] for row in values]


class MatrixControl(Part):
    """The sliders of one matrix.

    Parameters
    ----------
    name : str
        ``"Q"``, ``"K"`` or ``"V"``.
    values : list of list of float
        One row a token.

    Attributes
    ----------
    values : list of list of float
        The numbers now; set it whole to change any of them, or the shape.
    entries : list of list of Entry
        The same numbers one by one; an entry lives as long as its place in the matrix.
    folds : bool
        Whether more than two rows or columns are shown one row at a time.
    focused : list of int
        Row and column of the entry that has the keyboard in the browser.
    sources : list of list of int
        Rows and columns of the entries that are marked as what a chosen cell comes from.
    labels : tuple of str
        The rows' own words, as `show` was given them.
    """

    KIND = "matrix"
    _esm = source("matrix.js")
    name = traitlets.Unicode().tag(sync=True)
    role = traitlets.Unicode().tag(sync=True)
    caption = traitlets.Unicode().tag(sync=True)
    row_names = traitlets.List().tag(sync=True)
    row_labels = traitlets.List().tag(sync=True)
    row_words = traitlets.List().tag(sync=True)
    column_names = traitlets.List().tag(sync=True)
    column_labels = traitlets.List().tag(sync=True)
    values = traitlets.List().tag(sync=True, to_json=_to_json, from_json=_from_json)
    minima = traitlets.List().tag(sync=True)
    maxima = traitlets.List().tag(sync=True)
    steps = traitlets.List().tag(sync=True)
    pixel_ratio = traitlets.Float(1.0).tag(sync=True)
    folds = traitlets.Bool(True).tag(sync=True)
    focused = traitlets.List().tag(sync=True)
    sources = traitlets.List().tag(sync=True)

    BOUNDS = (-REACH, REACH, STEP)
    """Least, most and step of a fresh entry."""

    def __init__(self, name, values, labels=(), **traits):
        role, caption = self.role_of(name)
        self.entries, self.labels = [], labels
        self._following = False
        # All at once: what comes later would be one more message each before the first picture.
        super().__init__(name=name, role=role, caption=caption, values=values, **traits)

    def __repr__(self):
        return f"MatrixControl({self.name!r}, {json.dumps(_to_json(self.values, self))})"

    def show(self, rows, labels):
        """Set the numbers whole, and what the tokens are called.

        Parameters
        ----------
        rows : list of list of float
            One row a token.
        labels : tuple of str
            The tokens' own words, or none.
        """
        with self.hold_sync():
            renamed, self.labels = labels != self.labels, labels
            self.values = rows
            if renamed:
                self._name_all(len(rows), len(rows[0]))
                for t, row in enumerate(self.entries):
                    for f, entry in enumerate(row):
                        entry.set_trait("description", self._title(t, f))

    @staticmethod
    def role_of(name):
        """The role of the matrix of this name, and its caption."""
        return ROLES[name]

    @traitlets.validate("values")
    def _same_width(self, proposal):
        rows = [[float(x) for x in row] for row in proposal.value]
        if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
            raise traitlets.TraitError(
                f"{self.name} must be rows of one width, each with a number at least, got "
                f"{proposal.value!r}: give every token the same count of features"
            )
        return rows

    @traitlets.observe("values")
    def _follow(self, change):
        """Bring entries, labels and bounds in line with the numbers."""
        rows, columns = len(change.new), len(change.new[0])
        self._following = True
        try:
            with self.hold_sync():
                self._reshape(rows, columns)
                for entries, row in zip(self.entries, change.new, strict=True):
                    for entry, value in zip(entries, row, strict=True):
                        entry.value = value
        finally:
            self._following = False

    def _reshape(self, rows, columns):
        if [len(entries) for entries in self.entries] == [columns] * rows:
            return
        self._name_all(rows, columns)
        del self.entries[rows:]
        for t in range(rows):
            if t == len(self.entries):
                self.entries.append([])
            entries = self.entries[t]
            del entries[columns:]
            entries.extend(self._entry(t, f) for f in range(len(entries), columns))
        self._send_bounds()

    def _name_all(self, rows, columns):
        self.row_names = [
            token_names.spoken(f"{self.role} {t}", t, self.labels) for t in range(rows)
        ]
        self.row_labels = numbers.labels(self.name.lower(), rows)
        self.row_words = [token_names.whole(words) for words in self.labels]
        self.column_names = [f"feature {f}" for f in range(columns)]
        self.column_labels = [str(f) for f in range(columns)]

    def _entry(self, t, f):
        entry = Entry(self._title(t, f), 0.0, *self.BOUNDS)
        entry.observe(self._entry_moved, "value")
        entry.observe(self._send_bounds, ["min", "max", "step"])
        return entry

    def _title(self, t, f):
        return f"{self.name}, {self.row_names[t]}, {self.column_names[f]}"

    def _entry_moved(self, _change):
        if not self._following:
            self.values = [[entry.value for entry in row] for row in self.entries]

    def _send_bounds(self, _change=None):
        for trait, side in (("minima", "min"), ("maxima", "max"), ("steps", "step")):
            setattr(self, trait, [[getattr(entry, side) for entry in row] for row in self.entries])
