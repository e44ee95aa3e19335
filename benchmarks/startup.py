"""Print what the start costs: `import attnlib`, and the first panel on screen, in fresh processes.

Each is measured in turn with a bare `import numpy`, so that a busy moment falls on both alike.
"""

import argparse
import collections
import itertools
import re
import statistics
import subprocess
import sys
import time

from common import machine
from jupyter_client.manager import start_new_kernel

NUMPY = "import numpy"
CORE = "import attnlib"
PANEL = "from attnlib.explorers import HeadExplorer"
STEPS = (PANEL, "HeadExplorer()", "HeadExplorer() ")
"""The second panel finds drawn what every panel shares: the difference is what the first draws."""


def main():
    """Measure, and print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11, help="fresh processes of each (11)")
    rounds = parser.parse_args().rounds
    print(f"{machine.told()}; medians of {rounds} fresh processes")
    _print_processes(rounds)
    _print_kernels(rounds)
    _print_packages(min(rounds, 5))


def _print_processes(rounds):
    times = collections.defaultdict(list)
    # Not counted: it brings the files into the system's memory.
    _seconds(STEPS)
    for _ in range(rounds):
        for statements in ((NUMPY,), (CORE,), STEPS):
            for statement, took in zip(statements, _seconds(statements), strict=True):
                times[statement].append(took)
    numpy = statistics.median(times[NUMPY])
    print(f"\n{'in a fresh interpreter':<48} {'ms':>7} {'times import numpy':>20}")
    for statement, name in (
        (NUMPY, NUMPY),
        (CORE, CORE),
        (PANEL, PANEL),
        (STEPS[1], "then the first HeadExplorer()"),
        (STEPS[2], "then the second HeadExplorer()"),
    ):
        median = statistics.median(times[statement])
        print(f"{name:<48} {1000 * median:7.1f} {median / numpy:20.2f}")


def _seconds(statements):
    """What each statement takes, one after the other, in an interpreter of its own."""
    program = "import time\nticks = [time.perf_counter()]\n" + "".join(
        f"{statement}\nticks.append(time.perf_counter())\n" for statement in statements
    )
    program += "print(*ticks)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    ticks = [float(tick) for tick in done.stdout.split()]
    return [end - start for start, end in itertools.pairwise(ticks)]


def _print_kernels(rounds):
    cells = {NUMPY: NUMPY, "the first panel": f"{PANEL}\nHeadExplorer()"}
    starts, runs = [], collections.defaultdict(list)
    for _ in range(rounds):
        for name, cell in cells.items():
            start, run = _in_a_kernel(cell)
            starts.append(start)
            runs[name].append(run)
    print(f"\n{'in a fresh kernel, without a browser':<48} {'ms':>7}")
    print(f"{'from its start until it answers':<48} {1000 * statistics.median(starts):7.1f}")
    for name, times in runs.items():
        print(f"{'then a cell: ' + name:<48} {1000 * statistics.median(times):7.1f}")


def _in_a_kernel(cell):
    """How long a kernel takes to answer, and then to run a cell."""
    begin = time.perf_counter()
    manager, client = start_new_kernel(stderr=subprocess.DEVNULL)
    try:
        ready = time.perf_counter()
        reply = client.execute_interactive(cell, timeout=60, output_hook=lambda message: None)
        if reply["content"]["status"] != "ok":
            raise RuntimeError(f"the cell failed: {reply['content'].get('evalue')}")
        return ready - begin, time.perf_counter() - ready
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _print_packages(rounds):
    """The time that the modules of each package take by themselves, as Python tells it."""
    found = collections.defaultdict(list)
    for _ in range(rounds):
        for package, milliseconds in _imports().items():
            found[package].append(milliseconds)
    medians = {package: statistics.median(times) for package, times in found.items()}
    whole = sum(medians.values())
    print(f"\n{'imports of the first panel, by package':<48} {'ms':>7} {'share':>20}")
    for package, median in sorted(medians.items(), key=lambda item: -item[1])[:12]:
        print(f"{package:<48} {median:7.1f} {median / whole:20.0%}")
    print(f"{'all':<48} {whole:7.1f}")


def _imports():
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", PANEL],
        capture_output=True,
        text=True,
        check=True,
    )
    totals = collections.Counter()
    for own, module in re.findall(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\w+)", done.stderr):
        package = "the standard library" if module in sys.stdlib_module_names else module
        totals[package] += int(own) / 1000
    return totals


if __name__ == "__main__":
    main()
