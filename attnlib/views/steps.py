"""The way forward of one batch item: what goes in, the grids, and each query's account."""

from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np

from attnlib.lessons.evidence import weighted_values
from attnlib.views import equations, numbers, style, tables
from attnlib.views.ledger import Entry, ledger

SMALL = 8
"""Most tokens and features of a head that is shown unfolded, with every query written out."""
COLUMNS, KEYS = 6, 4
"""Most columns of a matrix and keys of an account side by side; a wider one goes on below."""
IN_CELLS = (2, 4)
"""Most keys and features whose dot products fit the cells; more stand on lines of their own."""
LINE = f"font-family:monospace;font-size:13px;color:{style.INK};margin:0 0 6px 0"


@dataclass(frozen=True, eq=False)
class Scene:
    """One batch item of a head, and what its rows are called.

    Attributes
    ----------
    query, key, value, raw_scores, scaled_scores, weights, output : numpy.ndarray
        The head's arrays without the batch axis.
    weighted_values : numpy.ndarray
        Shape [tokens (query), tokens (key), d_v].
    batch : int
        How many items the head has.
    scale : float
        1 / sqrt(d_k).
    queries : tuple of int
        Those that are written out.
    tokens : tuple of str
        A name for each token, or none at all.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    raw_scores: np.ndarray
    scaled_scores: np.ndarray
    weights: np.ndarray
    output: np.ndarray
    weighted_values: np.ndarray
    batch: int
    scale: float
    queries: tuple
    tokens: tuple

    @classmethod
    def of(cls, head, item, query=None, tokens=()):
        """Take one batch item out of a head; parameters are those of `head_trace`."""
        names = ("query", "key", "value", "raw_scores", "scaled_scores", "weights", "output")
        arrays = {name: getattr(head, name)[item] for name in names}
        every = tuple(range(len(arrays["weights"]))) if _small(*arrays.values()) else (0,)
        return cls(
            **arrays,
            weighted_values=weighted_values(head)[item],
            batch=len(head.query),
            scale=head.scale,
            queries=every if query is None else (query,),
            tokens=tokens,
        )

    @property
    def small(self):
        """Whether the item is small enough to be read without folding."""
        return _small(self.query, self.value)

    def named(self, letter):
        """Label one row for each token, with its name where it has one."""
        labels = numbers.labels(letter, len(self.query))
        names = self.tokens or [""] * len(labels)
        return [f"{label} {name}".strip() for label, name in zip(labels, names, strict=True)]

    def shown(self, letter, matrix):
        """Label a matrix's rows; of a larger head, keep only the queries that are followed."""
        labels = self.named(letter)
        if self.small or letter in "kv":
            return labels, matrix
        return [labels[query] for query in self.queries], matrix[list(self.queries)]

    @property
    def roomy(self):
        """Whether an account's cells have room for whole dot products."""
        return len(self.key) <= IN_CELLS[0] and self.key.shape[1] <= IN_CELLS[1]


def _small(*matrices):
    return all(max(matrix.shape) <= SMALL for matrix in matrices)


def features(matrix):
    """Label the columns of a matrix of features."""
    return [f"feature {feature}" for feature in range(matrix.shape[1])]


def inputs(scene):
    """Show Q, K and V."""
    letters = {"query": "q", "key": "k", "value": "v"}
    html = []
    for role, letter in letters.items():
        matrix = getattr(scene, role)
        note = f"{role}, shape [{scene.batch}, {', '.join(map(str, matrix.shape))}]"
        rows, shown = scene.shown(letter, matrix)
        html.append(grid(letter.upper(), shown, role, rows, features(matrix), note))
    return "".join(html)


def stages(scene):
    """Show the grids from the raw scores to the output."""
    keys, scaled = scene.named("k"), f"S = R ÷ √{scene.query.shape[1]}"
    q, raw_scores = scene.shown("q", scene.raw_scores)
    _, scaled_scores = scene.shown("q", scene.scaled_scores)
    _, weights = scene.shown("q", scene.weights)
    o, output = scene.shown("o", scene.output)
    sums = weights.sum(axis=1)
    return (
        grid("Raw scores", raw_scores, "score", q, keys, "R = Q Kᵀ")
        + grid("Scaled scores", scaled_scores, "score", q, keys, scaled)
        + grid("Weights", weights, "probability", q, keys, "A = softmax(S)", sums)
        + grid("Output", output, "plain", o, features(output), "O = A V")
    )


def grid(title, matrix, role, rows, columns, note, totals=None):
    """Show a matrix in as many tables as it takes to fit the page.

    Parameters are those of `tables.matrix`; the totals stand in the last table.
    """
    html = []
    for part, where, is_last in _parts(columns, COLUMNS if totals is None else COLUMNS - 1):
        shown = (matrix[:, part], role, rows, columns[part], note)
        sums = totals if is_last else None
        html.append(tables.matrix(title + where, *shown, totals=sums, total="sum over keys"))
    return "".join(html)


def _parts(columns, most):
    """Cut columns into slices of about one length, each with its place in words."""
    count = -(-len(columns) // most)
    cuts = [-(-len(columns) * part // count) for part in range(count + 1)]
    for start, stop in pairwise(cuts):
        where = f", {columns[start]} to {columns[stop - 1]}" if count > 1 else ""
        yield slice(start, stop), where, stop == len(columns)


def accounts(scene):
    """Write out every number of the queries that are followed."""
    return "".join(_account(scene, query) for query in scene.queries)


def _account(scene, query):
    keys = scene.named("k")
    lines = [*_to_weights(scene, query), *_to_output(scene, query)]
    html = "" if scene.roomy else _dot_products(scene, query)
    for part, where, is_last in _parts(keys, KEYS):
        columns = [*keys[part], *(["sum over keys"] if is_last else [])]
        cut = [
            (stage, [*entries[part], *([total] if is_last else [])])
            for stage, entries, total in lines
        ]
        title = f"Query {scene.named('q')[query]}{where}"
        html += ledger(title, "one column a key, weights normalized over keys", columns, cut)
    return f"<div>{html}</div>"


def _to_weights(scene, query):
    """The stages up to the weights: header, an entry for each key, the sum over keys."""
    name, total = numbers.label("q", query), numbers.label("Z", query)
    raw, scaled = scene.raw_scores[query], scene.scaled_scores[query]
    weights = scene.weights[query]
    dots = [equations.dot(scene.query[query], k) if scene.roomy else "" for k in scene.key]
    products = [equations.product(score, scene.scale) for score in raw]
    shares = [f"{equations.exponentials([score])} ÷ {total}" for score in scaled]
    powers = f"{total} = {equations.exponentials(scaled)}"
    summed = equations.added(weights)
    if not scene.small:
        powers, summed = f"{total} = the sum of exp over all keys", ""
    return [
        (f"raw score: {name} · k", _entries(raw, "score", dots), None),
        (
            "scaled: raw × scale",
            _entries(scaled, "score", products),
            Entry(None, written=powers),
        ),
        (
            f"weight: exp ÷ {total}",
            _entries(weights, "probability", shares),
            Entry(weights.sum(), written=summed),
        ),
    ]


def _to_output(scene, query):
    """The weighted values, feature by feature, and their sums: the output."""
    lines = []
    for feature, terms in enumerate(scene.weighted_values[query].T):
        pairs = zip(scene.weights[query], scene.value[:, feature], strict=True)
        products = [equations.product(weight, value) for weight, value in pairs]
        summed = equations.added(terms) if scene.small else ""
        total = Entry(scene.output[query, feature], written=summed)
        stage = f"weight × value, feature\N{NO-BREAK SPACE}{feature}"
        lines.append((stage, _entries(terms, "value", products), total))
    return lines


def _entries(row, role, written):
    return [Entry(number, role, text) for number, text in zip(row, written, strict=True)]


def _dot_products(scene, query):
    """The dot products that no column has room for, a line each."""
    name = numbers.label("q", query)
    lines = [f"<div><b>Dot products of {name}</b></div>"]
    for key, score in enumerate(scene.raw_scores[query]):
        dot = escape(equations.dot(scene.query[query], scene.key[key]))
        result = f"<b>{equations.printed(score)}</b>"
        lines.append(f'<p style="{LINE}">{name} · {numbers.label("k", key)} = {dot} = {result}</p>')
    return "".join(lines)
