"""A learner's own copies of the chapters: made where missing, set aside when begun afresh."""

import os
import shutil
import tempfile
from datetime import datetime
from pathlib import Path


def chapters(source):
    """Return the files that learners get copies of, in order; hidden ones are nobody's."""
    return sorted(
        path for path in Path(source).iterdir() if path.is_file() and path.name[0] not in "._"
    )


def bring(source, folder):
    """Copy each chapter that a folder lacks; what stands there already is never touched.

    Parameters
    ----------
    source, folder : path-like
        Where chapters come from, and the learner's own folder, which is made if need be.

    Returns
    -------
    list of str
        The names of the files that were copied.
    """
    folder = Path(folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return [chapter.name for chapter in chapters(source) if _place(chapter, folder / chapter.name)]


def afresh(source, folder, wanted, now=None):
    """Set the learner's own file of a chapter aside and copy the chapter anew.

    Parameters
    ----------
    source, folder : path-like
        As in `bring`.
    wanted : str
        How the chapter's name begins, such as ``"05"``.
    now : datetime, optional
        What the kept file is named after.

    Returns
    -------
    tuple of str and (str or None)
        The chapter's name, and that of the kept file if there was one.

    Raises
    ------
    LookupError
        No chapter, or more than one, has a name that begins so.
    """
    begin = Path(wanted).name
    found = [each for each in chapters(source) if begin and each.name.startswith(begin)]
    if len(found) != 1:
        names = ", ".join(each.name for each in found or chapters(source))
        raise LookupError(
            f"{wanted!r} begins the name of {len(found)} chapters; expected one of {names}"
        )
    chapter, mine = found[0], Path(folder) / found[0].name
    kept = None
    if os.path.lexists(mine):
        kept = _set_aside(mine, now or datetime.now())
    bring(source, folder)
    return chapter.name, kept


def _place(chapter, target):
    """Copy one file whole or not at all, and never over another."""
    if os.path.lexists(target):
        return False
    handle, name = tempfile.mkstemp(prefix=".new-", dir=target.parent)
    try:
        with open(handle, "wb") as new, chapter.open("rb") as old:
            shutil.copyfileobj(old, new)
        os.link(name, target)
    except FileExistsError:
        return False
    finally:
        os.unlink(name)
    return True


def _set_aside(mine, now):
    stamp = f"{now:%Y-%m-%d_%H-%M-%S}"
    kept, count = mine.with_name(f"{mine.stem}_kept_{stamp}{mine.suffix}"), 1
    while os.path.lexists(kept):
        count += 1
        kept = mine.with_name(f"{mine.stem}_kept_{stamp}_{count}{mine.suffix}")
    mine.rename(kept)
    return kept.name
