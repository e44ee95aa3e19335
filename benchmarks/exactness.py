"""Print the error of every stage of a head, there and back, against fifty digits.

attnlib, plain NumPy and, where it is installed, PyTorch compute the same seeded heads. Errors are
told as a share of the array's largest entry, and in units in the last place of each entry.
"""

import collections
import os

# A kernel chosen for this shell is not what a reader's machine runs; NumPy reads it as it loads.
os.environ.pop("OPENBLAS_CORETYPE", None)
os.environ.pop("OPENBLAS_L2_SIZE", None)

import numpy as np
from common import machine
from exactness_parts import bars, errors, exact, heads, sides


def main():
    """Compute every head on every side, and print the tables and the bars."""
    print(machine.told())
    if "PyTorch" not in sides.SIDES:
        print("PyTorch is not installed here and is left out (it is in the extra `bench`).")
    drawn = list(heads.all_heads())
    print("Each cell: median and worst over the heads, as a share of the array's largest entry;")
    print("median and worst over all entries, in units in the entry's own last place.")
    summaries = _summaries(drawn)
    for kind in heads.KINDS:
        _table(kind, summaries)
    print()
    for bar, met, told in bars.verdicts(summaries, drawn):
        print(f"{'met    ' if met else 'NOT MET'} {bar}; {told}")


def _summaries(drawn):
    found = collections.defaultdict(list)
    for kind, inputs in drawn:
        truth = exact.stages(*inputs)
        for name, side in sides.SIDES.items():
            # Plain NumPy may warn where it underflows; its error says so below.
            with np.errstate(all="ignore"):
                stages = side(*inputs)
            for stage in sides.STAGES:
                found[kind, stage, name].append(errors.between(stages[stage], truth[stage]))
    return {key: errors.summary(each) for key, each in found.items()}


def _table(kind, summaries):
    print(f"\n{kind.capitalize()}")
    print(f"{'':<20}" + "".join(f"{name:^40}" for name in sides.SIDES))
    for stage in sides.STAGES:
        row = (summaries[kind, stage, name] for name in sides.SIDES)
        print(f"{stage:<20}" + "".join(f"{_cell(each):^40}" for each in row))


def _cell(each):
    return f"{each.share:8.1e} {each.worst_share:8.1e} {each.ulps:8.2g} {each.worst_ulps:8.1e}"


if __name__ == "__main__":
    main()
