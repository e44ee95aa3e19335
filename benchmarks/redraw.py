"""Print what one move of a slider costs: ours, and the usual new figure, side by side.

``--kernel`` measures in this process only, ``--browser`` in a real browser only.
"""

import argparse
import json
from pathlib import Path

from common import machine
from redraw_parts import browser, kernel, spread


def main():
    """Measure, print the tables, and write them as JSON if asked to."""
    options = _options()
    both = options.kernel == options.browser
    result = {"machine": machine.told()}
    print(result["machine"])
    if both or options.kernel:
        result["kernel"] = _kernel(options)
    if both or options.browser:
        result["browser"] = _browser(options)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def _options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernel", action="store_true", help="kernel time and leaks only")
    parser.add_argument("--browser", action="store_true", help="the browser only")
    parser.add_argument("--events", type=int, default=200, help="moves of our slider (200)")
    parser.add_argument("--usual", type=int, default=15, help="moves drawn the usual way (15)")
    parser.add_argument("--presses", type=int, default=40, help="key presses in the browser (40)")
    parser.add_argument(
        "--json", type=Path, help="write the result here, such as build/redraw.json"
    )
    return parser.parse_args()


def _kernel(options):
    # First of all: later figures would leave their own marks on memory.
    left = kernel.leaks(2000)
    result = {"after events": left}
    for name, inputs in kernel.heads().items():
        # The usual way takes seconds for an 8-token head.
        times = min(options.usual, 3) if inputs else options.usual
        print(f"\nKernel time of one event, {name}\n{spread.HEADER}")
        result[name] = one = kernel.measure(inputs, options.events, times)
        print(spread.line("usual: a new pyplot figure, inline's PNG", one["usual"]))
        print(spread.line("usual, without inline's tight crop", one["uncropped"]))
        print(spread.line("HeadExplorer, one cell being read", one["ours"]))
        ratio, tail = one["uncropped / ours"], one["p95 / median"]
        print(
            f"uncropped / ours {ratio:.1f} (at least 20); our p95 / median {tail:.2f} (at most 3)"
        )
        print("of which " + ", ".join(f"{n} {t:.2f}" for n, t in one["pieces"].items()))
    print(f"\nLeft behind by {left['events']} events: " + _counts(left))
    return result


def _counts(left):
    return ", ".join(f"{name} {count:+.3g}" for name, count in left.items() if name != "events")


def _browser(options):
    refusal = browser.missing()
    if refusal:
        print(f"\nBrowser: left out. {refusal}")
        return None
    result = browser.measure(options.presses)
    titles = {
        "key press": "Key press to the drawn frame that shows its effect",
        "before its frame": "The same, to the loaded image or changed text, before its frame",
        "opening": "Run the cell to the first picture",
    }
    for part, title in titles.items():
        print(f"\n{title}\n{spread.HEADER}")
        for name, one in result[part].items():
            print(spread.line(name, one))
    first = ", ".join(f"{name} {time:.0f}" for name, time in result["first opening"].items())
    print(f"The first of each in its kernel: {first}")
    print("\nFrames shown in a one-second drag of 60 steps, each drag")
    for name, frames in result["drag"].items():
        print(f"{name:<44} {', '.join(map(str, frames))}")
    print()
    for name, ratio in result["ratios"].items():
        print(f"{name:<60} {ratio:.2f}")
    return result


if __name__ == "__main__":
    main()
