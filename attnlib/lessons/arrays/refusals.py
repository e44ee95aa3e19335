"""Why the arrays of a file can't be opened as heads, in words."""

SAVE = "`np.savez('heads.npz', query=Q, key=K, value=V)`"
LISTED = 12


class ArraysError(ValueError):
    """A file, a name, a layout or an array that can't be opened as heads."""


def absent(file, what, argument):
    """Refuse a name that the file lacks, and list those that it has."""
    there = ", ".join(file.names[:LISTED]) or "nothing"
    more = f" and {len(file.names) - LISTED} more" if len(file.names) > LISTED else ""
    example = file.names[0] if file.names else "name"
    return ArraysError(
        f"{file.path} has {what}. It holds {there}{more}: name the right one, as in "
        f"`{argument}={example!r}`"
    )


def ambiguous(file, what, found):
    """Refuse to choose among several arrays that are called alike."""
    return ArraysError(
        f"{file.path} must hold one array for {what}, got {', '.join(found)}: choose one with "
        f"`{what}={found[0]!r}`"
    )
