"""Time and memory of the streaming head in a fresh interpreter, for one number of tokens."""

import json
import os
import subprocess
import sys
import threading
import time


def measure(tokens):
    """Run one head there and back in a process of its own.

    Returns
    -------
    dict
        ``seconds``, and ``megabytes``: the most memory beyond the inputs, from the process's
        resident pages, looked at every five milliseconds.
    """
    done = subprocess.run(
        [sys.executable, __file__, str(tokens)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def _resident():
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def _main(tokens):
    os.environ.pop("OPENBLAS_CORETYPE", None)
    os.environ.pop("OPENBLAS_L2_SIZE", None)
    import numpy as np

    from attnlib import streaming_self_attention

    operands = np.random.default_rng(0).standard_normal((4, 1, tokens, 64))
    few = operands[:, :, :512]
    streaming_self_attention(*few[:3]).backward(few[3])
    before, most, ended = _resident(), [0], threading.Event()

    def look():
        while not ended.wait(0.005):
            most[0] = max(most[0], _resident())

    looking = threading.Thread(target=look)
    looking.start()
    begin = time.perf_counter()
    streaming_self_attention(*operands[:3]).backward(operands[3])
    seconds = time.perf_counter() - begin
    ended.set()
    looking.join()
    print(json.dumps({"seconds": seconds, "megabytes": (most[0] - before) / 1e6}))


if __name__ == "__main__":
    _main(int(sys.argv[1]))
