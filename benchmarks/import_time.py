"""Print what `import attnlib` costs beyond `import numpy`, in fresh interpreters."""

import statistics
import subprocess
import sys

ROUNDS = 15


def seconds(statement):
    """Return the time one statement takes in an interpreter of its own."""
    timed = (
        f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    )
    done = subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main():
    """Time both imports in turn, so that a busy moment falls on both alike."""
    statements = ("import numpy", "import attnlib")
    for statement in statements:
        seconds(statement)
    times = {statement: [] for statement in statements}
    for _ in range(ROUNDS):
        for statement in statements:
            times[statement].append(seconds(statement))
    numpy, attnlib = (statistics.median(times[statement]) * 1000 for statement in statements)
    print(f"import numpy    {numpy:6.1f} ms")
    print(f"import attnlib  {attnlib:6.1f} ms")
    print(f"difference      {attnlib - numpy:6.1f} ms, ratio {attnlib / numpy:.2f}")


if __name__ == "__main__":
    main()
