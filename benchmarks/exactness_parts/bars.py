"""The bars that the errors are held to, and whether each is met."""

import itertools

import numpy as np

from exactness_parts import heads, sides

ORDINARY = 1e-15
SATURATED = 1e-12


def verdicts(summaries, drawn):
    """Yield each bar in words and whether it is met, with what decides it.

    Parameters
    ----------
    summaries : dict
        (kind, stage, side) to `errors.Summary`.
    drawn : list of tuple
        Kind and inputs of every head.
    """
    ours = {key[:2]: one.worst_share for key, one in summaries.items() if key[2] == "attnlib"}
    yield _below(
        f"ordinary heads: every stage at most {ORDINARY:.0e}",
        {stage: ours["ordinary", stage] for stage in sides.STAGES},
        ORDINARY,
    )
    yield _saturated(summaries)
    if "PyTorch" in sides.SIDES:
        yield _no_worse(
            "over the whole set, no stage's worst error above PyTorch's", _whole(summaries)
        )
        yield _no_worse("the same, each kind of head by itself", _each_kind(summaries))
    yield _ties(drawn)
    yield _again(drawn)


def _below(bar, worst, limit):
    name = max(worst, key=worst.get)
    return bar, worst[name] <= limit, f"worst {worst[name]:.2e} ({name})"


def _saturated(summaries):
    arrays, rows = (
        {
            side: max(
                getattr(summaries[kind, stage, side], share)
                for kind in heads.SATURATED
                for stage in ("grad query", "grad key")
            )
            for side in sides.SIDES
        }
        for share in ("worst_share", "worst_row_share")
    )
    return (
        f"saturated heads: dQ and dK at most {SATURATED:.0e}",
        arrays["attnlib"] <= SATURATED,
        f"worst {_by_side(arrays)}; of each row by itself {_by_side(rows)}",
    )


def _by_side(worst):
    return ", ".join(f"{error:.1e} ({side})" for side, error in worst.items())


def _whole(summaries):
    """Each stage's worst error over all kinds: ours and PyTorch's."""
    return {
        stage: tuple(
            max(summaries[kind, stage, side].worst_share for kind in heads.KINDS)
            for side in ("attnlib", "PyTorch")
        )
        for stage in sides.STAGES
    }


def _each_kind(summaries):
    """The same for each kind."""
    return {
        f"{kind}, {stage}": tuple(
            summaries[kind, stage, side].worst_share for side in ("attnlib", "PyTorch")
        )
        for kind, stage in itertools.product(heads.KINDS, sides.STAGES)
    }


def _no_worse(bar, pairs):
    above = {name: pair for name, pair in pairs.items() if pair[0] > pair[1]}
    told = (f"{name} {ours:.2e} to {theirs:.2e}" for name, (ours, theirs) in above.items())
    return bar, not above, "; ".join(told) or f"{len(pairs)} compared"


def _ties(drawn):
    """Tokens that stand twice: equal keys are weighed alike, equal queries answered alike."""
    parted = []
    for kind, inputs in drawn:
        if kind in heads.TIED:
            stages = sides.attnlib(*inputs)
            for left, right in _twins(inputs[0]):
                alike = all(
                    np.array_equal(stages[name][left], stages[name][right])
                    for name in ("raw_scores", "weights", "output")
                ) and np.array_equal(stages["weights"][:, left], stages["weights"][:, right])
                if not alike:
                    parted.append(inputs[0].shape)
    told = f"parted: {sorted(set(parted))} (tokens, d_k)" if parted else "no pair parted"
    return "ties: bitwise equal", not parted, told


def _twins(query):
    return (
        pair
        for pair in itertools.combinations(range(len(query)), 2)
        if np.array_equal(query[pair[0]], query[pair[1]])
    )


def _again(drawn):
    same = all(
        first.tobytes() == second.tobytes()
        for _, inputs in drawn
        for first, second in zip(
            sides.attnlib(*inputs).values(), sides.attnlib(*inputs).values(), strict=True
        )
    )
    return "a second run: bitwise the same", same, f"{len(drawn)} heads"
