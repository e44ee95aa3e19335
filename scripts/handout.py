"""Write copies of the notebooks to hand out: no solutions, and nothing run yet.

    python scripts/handout.py                 to build/handout, and as build/handout.zip
    python scripts/handout.py --to FOLDER     somewhere else, which must be empty or new
    python scripts/handout.py --outputs       keep the saved tables and pictures

Cells tagged `solution` are left out. Tables and pictures are left out too, so that a prediction
comes before its answer; a learner's first run makes them. The notebooks themselves are read only.
Nothing is written if a cell looks like a solution and has no tag, or if a copy from which a cell
was taken no longer runs from top to bottom.
"""

import argparse
import ast
import re
import shutil
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert.preprocessors import ClearOutputPreprocessor, TagRemovePreprocessor

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
HANDOUT = ROOT / "build" / "handout"

SOLUTION, EXERCISE = "solution", "exercise"
# Not a hint that is "nearly the answer".
ANNOUNCED = re.compile(
    r"(?:^#+[ \t]|<summary>)(?:.*\bsolutions?\b|[ \t]*(?:\w+[ \t]+){0,2}answers?[ \t]*(?:<|:|$))",
    flags=re.I | re.M,
)
FENCE = re.compile(r"^(?:```|~~~)(?:python|py)?[ \t]*\n(.*?)^(?:```|~~~)", flags=re.M | re.S)


def handout(notebook, outputs=False):
    """Return a copy of a notebook to hand out.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        It stays as it is.
    outputs : bool, default False
        Whether saved tables and pictures are kept.

    Returns
    -------
    nbformat.NotebookNode
        Without its cells tagged `solution`.
    """
    removal = TagRemovePreprocessor(remove_cell_tags={SOLUTION})
    copy, _ = removal.preprocess(nbformat.from_dict(notebook), {})
    if not outputs:
        copy, _ = ClearOutputPreprocessor().preprocess(copy, {})
    return copy


def untagged(notebook):
    """Return the ids of the cells that look like a solution and aren't tagged as one.

    Those are: a fold or a heading that announces a solution or an answer; code, in a code cell or
    in a text, that defines what an exercise asks for; and an exercise with no `...` left in it.
    """
    asked = set()
    for cell in notebook.cells:
        if _tagged(cell, EXERCISE):
            asked |= _defined(cell.source)
    return [
        cell.id
        for cell in notebook.cells
        if not _tagged(cell, SOLUTION) and _looks_like_a_solution(cell, asked)
    ]


def _looks_like_a_solution(cell, asked):
    if _tagged(cell, EXERCISE):
        return "..." not in cell.source
    if cell.cell_type == "code":
        return bool(_defined(cell.source) & asked)
    written = [name for code in FENCE.findall(cell.source) for name in _defined(code)]
    return bool(ANNOUNCED.search(cell.source) or set(written) & asked)


def _tagged(cell, tag):
    return tag in cell.metadata.get("tags", [])


def _defined(code):
    """Return the names of the functions and classes that a piece of code defines."""
    try:
        nodes = ast.walk(ast.parse(code))
    except SyntaxError:
        # A magic or a fragment: read as far as a line tells.
        return set(re.findall(r"^[ \t]*(?:def|class)[ \t]+(\w+)", code, flags=re.M))
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return {node.name for node in nodes if isinstance(node, kinds)}


def prepared(path, outputs=False):
    """Read one notebook and return its copy.

    Raises
    ------
    ValueError
        If a cell looks like a solution and has no tag.
    nbclient.exceptions.CellExecutionError
        If the copy lacks a cell of the notebook and a later one needs it.
    """
    notebook = nbformat.read(path, as_version=4)
    if found := untagged(notebook):
        raise ValueError(
            f"{', '.join(found)} looks like a solution and is not tagged `{SOLUTION}`: tag it, "
            "or, where an exercise was solved in place, put its `...` back"
        )
    copy = handout(notebook, outputs)
    if len(copy.cells) < len(notebook.cells):
        _run(nbformat.from_dict(copy), path.parent)
    return copy


def _run(notebook, folder):
    client = NotebookClient(
        notebook, kernel_name="python3", resources={"metadata": {"path": str(folder)}}, timeout=600
    )
    client.execute()


def main(arguments=None):
    """Write the copies; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="default: build/handout")
    parser.add_argument("--outputs", action="store_true", help="keep saved tables and pictures")
    options = parser.parse_args(arguments)
    folder = options.to or HANDOUT
    if options.to:
        _refuse_what_is_taken(parser, folder)
    copies, faults = {}, []
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        try:
            copies[path.name] = prepared(path, options.outputs)
        except (OSError, ValueError, CellExecutionError) as error:
            faults.append(f"{path}: {error}")
    if faults or not copies:
        print("\n".join(faults) or f"no notebook in {NOTEBOOKS}", file=sys.stderr)
        return 1
    _write(copies, folder)
    return 0


def _refuse_what_is_taken(parser, folder):
    archive = folder.with_name(f"{folder.name}.zip")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        parser.error(f"{folder} is not an empty folder: name one that is empty or new")
    if archive.exists():
        parser.error(f"{archive} is there already: name another folder, or take it away")


def _write(copies, folder):
    if folder == HANDOUT:
        # Made by this script alone; a chapter that was renamed would stay otherwise.
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    for name, copy in copies.items():
        text = nbformat.writes(copy, version=4) + "\n"
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    archive = shutil.make_archive(str(folder), "zip", folder)
    print(f"{len(copies)} notebooks without solutions: {folder}, and as {archive}")


if __name__ == "__main__":
    sys.exit(main())
