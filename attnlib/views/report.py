"""The evidence as plain text for a terminal: at most 80 columns of ASCII, six decimals."""

from itertools import zip_longest

import numpy as np

from attnlib.views import numbers

WIDTH = 80
GAP = "   "
FIELD = 11


def evidence_report(evidence):
    """Tell every claim of the lesson and whether it holds.

    Parameters
    ----------
    evidence : attnlib.lessons.evidence.Evidence
        What `learner_evidence` computed.

    Returns
    -------
    str
        Titled sections of aligned tables, and a closing line; no newline at the end.
    """
    example = evidence.worked_example
    title = "One unmasked self-attention head: the evidence"
    sections = [
        [title, "=" * len(title), "In every grid a query is a row and a key is a column."],
        _section("1. What goes in", _inputs(example)),
        _section("2. Scores: every query meets every key", _scores(example)),
        _section("3. Weights: each query's row, normalized over keys", _weights(example)),
        _section("4. Output: the weighted values, added over keys", _output(example)),
        _section("5. The way back", _gradients(example)),
        _section("6. What the scale does", _scale_probe(evidence.scale_probe)),
        _section("7. Cases to predict", _cases(evidence)),
        _section("8. Shapes", _shapes(evidence.shapes)),
        _section("9. What the head refuses", _rejected(evidence.rejected)),
        _section("10. Which pairs three models form", _history(evidence.history)),
        _section("11. Checks", _checks(evidence.checks)),
        _verdict(evidence.failures),
    ]
    return "\n\n".join("\n".join(map(str.rstrip, lines)) for lines in sections)


def _inputs(example):
    names = (("query", "q"), ("key", "k"), ("value", "v"))
    tables = [
        _matrix(f"{letter.upper()} ({name})", example[name], letter, "f") for name, letter in names
    ]
    sizes = f"d_k = {example['key_width']}, d_v = {example['value_width']}"
    columns = "f0, f1, ... are the features of a token"
    return [*_beside(*tables), "", f"{sizes}; {columns}"]


def _scores(example):
    scale = numbers.fixed(example["scale"])
    return [
        *_beside(
            _matrix("raw, Q K^T", example["raw_scores"], "q", "k"),
            _matrix("scaled, Q K^T / sqrt(d_k)", example["scaled_scores"], "q", "k"),
        ),
        "",
        f"scale = 1 / sqrt(d_k) = {scale}",
    ]


def _weights(example):
    sums = np.sum(example["weights"], axis=-1, keepdims=True)
    return _beside(
        _matrix("A, softmax of the scaled scores", example["weights"], "q", "k"),
        _matrix("over keys", sums, "q", "", columns=["sum"]),
    )


def _output(example):
    terms, lines = example["weighted_values"], []
    for query, (per_key, total) in enumerate(zip(terms, example["output"], strict=True)):
        rows = [f"A{query}{key} v{key}" for key in range(len(per_key))] + [f"o{query}"]
        *block, last = _matrix(f"output of q{query}", [*per_key, total], "", "f", rows)
        rule = "-" * FIELD * len(total)
        lines += [*block, rule.rjust(len(last)), last, ""]
    return lines[:-1]


def _gradients(example):
    names = (("query", "q"), ("key", "k"), ("value", "v"))
    tables = [
        _matrix(f"d{letter.upper()}", example[f"grad_{name}"], letter, "f")
        for name, letter in names
    ]
    return [
        *_matrix("dO, sent back from the objective", example["grad_output"], "o", "f"),
        "",
        f"objective L = sum(O * dO) = {numbers.fixed(example['objective'])}",
        "",
        *_beside(*tables),
    ]


def _scale_probe(probe):
    return _pairs(
        ("scores of one query", _row(probe["scores"])),
        ("weight of the first, unscaled", numbers.fixed(probe["unscaled"])),
        ("weight of the first, / sqrt(2)", numbers.fixed(probe["scaled"])),
    )


def _cases(evidence):
    one, equal, moved = evidence.single_token, evidence.equal_keys, evidence.permutation
    batch = evidence.batch_independence
    return [
        "one token",
        *_pairs(
            ("  value", _rows(one["value"])),
            ("  weights", _rows(one["weights"])),
            ("  output", _rows(one["output"])),
            ("  dQ", _rows(one["grad_query"])),
            ("  dK", _rows(one["grad_key"])),
        ),
        "equal keys",
        *_pairs(
            ("  key", _rows(equal["key"])),
            ("  weights", _rows(equal["weights"])),
            ("  output", _rows(equal["output"])),
        ),
        f"tokens in the order {_shape(moved['order'])}",
        *_pairs(
            ("  output", _rows(moved["output"])),
            ("  the output follows", _yes(moved["output_follows"])),
            ("  the gradients follow", _yes(moved["gradients_follow"])),
        ),
        "two heads in one batch",
        *_pairs(
            *((f"  {name}", _shape(batch[name])) for name in ("query", "weights", "output")),
            ("  the first is as if alone", _yes(batch["verified"])),
        ),
    ]


def _shapes(cases):
    names = list(cases[0])
    lines = ["".join(f"{name:<13}" for name in names)]
    return lines + ["".join(f"{_shape(case[name]):<13}" for name in names) for case in cases]


def _rejected(cases):
    return [f"{case['kind']}: {case['evidence']}" for case in cases]


def _history(history):
    lines = []
    for role in ("earlier", "bridge", "transformer"):
        name = history[role]
        pairs = history["pairs"].get(name, [])
        lines.append(f"{role}: {name}")
        lines += [f"  {query} x {key}" for query, key in pairs] or ["  no pair is scored"]
    return [*lines, f"comparison: {history['comparison']}"]


def _checks(checks):
    return _pairs(
        ("row sums, largest error", f"{checks['row_sum_max_error']:g}"),
        ("gradient check", "passed" if checks["gradient_check"] else "FAILED"),
        ("  entries of Q + K + V", "+".join(map(str, checks["coordinates"]))),
        ("  step, tolerance", f"{checks['step']:.6f}, {checks['tolerance']:.6f}"),
        ("replay", checks["replay"]),
    )


def _verdict(failures):
    if not failures:
        return ["Everything holds."]
    return ["NOT everything holds. What fails:", *(f"  - {claim}" for claim in failures)]


def _section(title, lines):
    return [title, "-" * len(title), *lines]


def _matrix(title, entries, row, column, rows=None, columns=None):
    """Lay one matrix out as lines of equal width: a title, the column names, the rows."""
    columns = columns or [f"{column}{j}" for j in range(len(entries[0]))]
    rows = rows or [f"{row}{i}" for i in range(len(entries))]
    stub = max(map(len, rows))
    lines = [title, " " * stub + "".join(f"{name:>{FIELD}}" for name in columns)]
    for name, numbers_of_row in zip(rows, entries, strict=True):
        printed = "".join(f"{numbers.fixed(number):>{FIELD}}" for number in numbers_of_row)
        lines.append(f"{name:<{stub}}{printed}")
    width = max(map(len, lines))
    return [line.ljust(width) for line in lines]


def _beside(*blocks):
    """Put blocks side by side where they fit the terminal, one below the other where not."""
    if sum(len(block[0]) for block in blocks) + len(GAP) * (len(blocks) - 1) > WIDTH:
        return [line for block in blocks for line in (*block, "")][:-1]
    blank = [" " * len(block[0]) for block in blocks]
    lines = zip_longest(*blocks)
    return [
        GAP.join(part or space for part, space in zip(parts, blank, strict=True)) for parts in lines
    ]


def _pairs(*facts):
    width = max(len(name) for name, _ in facts) + 2
    return [f"{name:<{width}}{fact}" for name, fact in facts]


def _row(entries):
    return "[" + ", ".join(numbers.fixed(entry) for entry in entries) + "]"


def _rows(entries):
    return " ".join(_row(row) for row in entries)


def _shape(sizes):
    return "[" + ", ".join(str(int(size)) for size in sizes) + "]"


def _yes(holds):
    return "yes" if holds else "NO"
