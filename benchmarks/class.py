"""Print what a class at once costs a server: memory, time to the first panel, one step of a drag.

A hub on loopback, and learners who all sign in, run chapter 2 and drag a slider at the same time.
It stops by itself, and after fifteen minutes whatever happens.
"""

import argparse
import json
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from class_parts import hub, lesson, memory
from common import machine

SERVERS = (8, 32, 128)
"""Gigabytes of the servers that are reckoned with."""
AT_MOST = 40
"""Learners; every one is two processes on this very machine."""
MINUTES = 15


def main():
    """Measure each size of class on a hub of its own, and print a row for each."""
    options = _options()
    if not shutil.which("npm") or not hub.PROXY.exists():
        print("A class is left out: there is no proxy. `make hub` installs it, by npm.")
        return
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(60 * MINUTES)
    result = {"machine": machine.told(), "classes": []}
    print(f"{result['machine']}\n\n{HEADER}")
    for count in options.learners:
        measured = _class(count, options.steps)
        result["classes"].append(measured)
        print(_row(measured), flush=True)
    last = result["classes"][-1]
    print(f"\nIn one learner's server and kernel, MB: {_parts(last)}")
    print(f"In the hub, its proxy and its culler, MB: {last['hub']:.0f}")
    for gigabytes in SERVERS:
        print(f"A server of {gigabytes} GB holds {_held(gigabytes, last)} learners")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    wrong = sum(each["wrong"] for each in result["classes"])
    sys.exit(f"{wrong} learners' last pictures were wrong or missing" if wrong else 0)


HEADER = (
    "| learners | server, s | first panel, s (median, last) | step, ms (median, p95) "
    "| steps a second, all | MB a learner (PSS) | of it own (USS) | last picture wrong |\n"
    "|---|---|---|---|---|---|---|---|"
)


def _row(one):
    return (
        f"| {one['learners']} | {one['server']:.1f} "
        f"| {one['panel']['median']:.1f}, {one['panel']['last']:.1f} "
        f"| {one['step']['median']:.0f}, {one['step']['p95']:.0f} | {one['rate']:.0f} "
        f"| {one['pss']:.0f} | {one['uss']:.0f} | {one['wrong']} |"
    )


def _parts(one):
    return ", ".join(
        f"{name} {part['pss']:.0f} (own {part['uss']:.0f})" for name, part in one["parts"].items()
    )


def _held(gigabytes, one):
    """A tenth of the memory is the system's; the rest is the hub's, and one share a learner."""
    return int((0.9 * 1000 * gigabytes - one["hub"]) // one["pss"])


def _class(count, steps):
    told = {"HUB_SIGN_IN": "dummy", "HUB_ALLOW_ROOT": "1"}
    with (
        tempfile.TemporaryDirectory(prefix="attnlib-class-") as folder,
        hub.running(Path(folder) / "state", **told) as running,
    ):
        held = lesson.held(running.url, count, steps)
        return {"learners": count, **held, **memory.of_class(running.process.pid)}


def _options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--learners", type=_count, nargs="+", default=[1, 5, 10, 20], help="at once (1 5 10 20)"
    )
    parser.add_argument("--steps", type=int, default=60, help="of each learner's drag (60)")
    parser.add_argument("--json", type=Path, help="write the result here, such as build/class.json")
    return parser.parse_args()


def _count(text):
    if not text.isdecimal() or not 1 <= int(text) <= AT_MOST:
        raise argparse.ArgumentTypeError(f"expected 1 to {AT_MOST} learners, got {text!r}")
    return int(text)


def _stop(*_):
    raise TimeoutError(f"a class takes longer than {MINUTES} minutes: given up")


if __name__ == "__main__":
    main()
