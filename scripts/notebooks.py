"""Run every notebook in a fresh kernel and save it, with its outputs, in one canonical form.

    python scripts/notebooks.py                      all of notebooks/
    python scripts/notebooks.py NOTEBOOK ...         only these
    python scripts/notebooks.py --check [NOTEBOOK]   change nothing; fail where a save would

What varies from run to run or from machine to machine is left out, so that a second run writes
the same bytes and a diff shows only what a chapter says or computes.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"

METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}

# A saved view names a model by a random id, and that model is gone with its kernel: Jupyter
# would show "model not found" in its place. The text beside it stays. nbval leaves this type
# out of its comparison, so the fresh run that has it and the saved one that has not still agree.
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def run(path):
    """Return the canonical text of a notebook after running it.

    Parameters
    ----------
    path : pathlib.Path
        A notebook of format 4. Its cells run in its own folder.

    Returns
    -------
    str
        What the file should hold.

    Raises
    ------
    ValueError
        If the file isn't a notebook of format 4.
    nbclient.exceptions.CellExecutionError
        If a cell raises.
    """
    notebook = read(path)
    NotebookClient(
        notebook,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        timeout=600,
        coalesce_streams=True,
        record_timing=False,
        store_widget_state=False,
    ).execute()
    return canonical(notebook)


def read(path):
    """Return a notebook whose every cell has an id of its own."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        version, cells = raw["nbformat"], raw["cells"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"expected a notebook in JSON, got {error!r}; save it in Jupyter"
        ) from None
    if version != 4:
        raise ValueError(f"expected notebook format 4, got {version}; save it in Jupyter")
    # Before nbformat sees them: it would give a random id where one is missing.
    name_cells(cells)
    raw["nbformat_minor"] = 5
    return nbformat.reads(json.dumps(raw), as_version=4)


def name_cells(cells):
    """Give an id to each cell that has none, or has another's, made from what it says."""
    seen = set()
    for position, cell in enumerate(cells):
        if cell.get("id") in seen | {None, ""}:
            said = f"{position} {''.join(cell['source'])}"
            cell["id"] = hashlib.sha256(said.encode()).hexdigest()[:8]
        seen.add(cell["id"])


def canonical(notebook):
    """Return the text of a notebook without what varies by run or by machine."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict(lasting_metadata(cell.metadata))
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET_VIEW, None)
    return nbformat.writes(notebook, version=4) + "\n"


def lasting_metadata(metadata):
    """Return the part of a cell's metadata that an author sets on purpose."""
    kept = {"tags": metadata["tags"]} if metadata.get("tags") else {}
    if "source_hidden" in metadata.get("jupyter", {}):
        kept["jupyter"] = {"source_hidden": metadata["jupyter"]["source_hidden"]}
    return kept


def main(arguments=None):
    """Run the notebooks named on the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all of notebooks/")
    parser.add_argument("--check", action="store_true", help="write nothing; fail on a difference")
    options = parser.parse_args(arguments)
    paths = options.notebooks or sorted(NOTEBOOKS.glob("*.ipynb"))
    if not paths:
        parser.error(f"no notebook in {NOTEBOOKS}")
    return max(_settle(path, options.check) for path in paths)


def _settle(path, check):
    """Bring one file to its canonical form, or only compare; return 1 if something is wrong."""
    try:
        text = run(path)
        changes = text != path.read_text(encoding="utf-8")
    except (OSError, ValueError, CellExecutionError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 1
    if changes and not check:
        path.write_text(text, encoding="utf-8", newline="\n")
    print(f"{path}: {'would change' if check else 'saved'}" if changes else f"{path}: unchanged")
    return int(changes and check)


if __name__ == "__main__":
    sys.exit(main())
