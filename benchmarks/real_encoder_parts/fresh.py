"""What loading and first reading cost in an interpreter of their own: times and peak memory."""

import json
import statistics
import subprocess
import sys

PROGRAM = """
import json, sys, time
start = time.perf_counter()
from attnlib.lessons import real_encoder
imported = time.perf_counter()
encoder = real_encoder.load({dtype!r})
loaded = time.perf_counter()
keep = [encoder.{act}(sentence) for sentence in {sentences!r}]
read = time.perf_counter()

def peak():
    try:
        # Not ru_maxrss, which on Linux also counts the process that started this one.
        lines = open("/proc/self/status").read().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
    except OSError:
        import resource
        unit = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit

print(json.dumps({{"import": imported - start, "load": loaded - imported, "read": read - loaded,
                  "memory": peak()}}))
"""


def measure(dtype, act, sentences, rounds):
    """Run fresh interpreters one after another.

    Parameters
    ----------
    dtype : str
        In which the encoder is loaded.
    act : str
        ``"embed"`` or ``"read"``.
    sentences : list of str
        What is read; for ``"read"`` every record is kept.
    rounds : int
        How many interpreters.

    Returns
    -------
    dict of str to float
        Medians: import, load and read in milliseconds, memory in MiB.
    """
    program = PROGRAM.format(dtype=dtype, act=act, sentences=sentences)
    found = [json.loads(_run(program)) for _ in range(rounds)]
    return {
        name: statistics.median(each[name] for each in found) * (1 if name == "memory" else 1000)
        for name in found[0]
    }


def _run(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout
