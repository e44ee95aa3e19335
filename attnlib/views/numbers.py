"""How a number and a label read, so that no two views print the same one differently."""

MINUS = "\N{MINUS SIGN}"
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def fixed(number, digits=6):
    """Print a number with a fixed count of decimals; far from 1, in powers of ten.

    Parameters
    ----------
    number : float
        Any real number, NaN and infinities included.
    digits : int, default 6
        The decimals shown.

    Returns
    -------
    str
        With an ordinary hyphen as the sign; a rounded zero has none.
    """
    if abs(number) >= 10.0 ** (9 - digits) and abs(number) >= 1e4:
        return f"{number:.{digits}g}"
    text = f"{number:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text


def short(number, width=6):
    """Print a number in at most `width` characters, with three decimals where they fit.

    Parameters
    ----------
    number : float
        Any real number.
    width : int, default 6
        The most characters; five or more always suffice for a finite number.

    Returns
    -------
    str
        Fewer decimals for larger numbers, powers of ten beyond.
    """
    for digits in (3, 2, 1, 0):
        text = fixed(number, digits) if abs(number) < 1e4 else f"{number:.0e}"
        text = text.replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
        if len(text) <= width:
            return text
    return f"{number:.0e}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def signed(text):
    """Exchange the hyphens of a printed number for minus signs, for people to read."""
    return text.replace("-", MINUS)


def label(letter, position):
    """Name one row or column: ``label("q", 0)`` is q₀; without a letter, a plain number."""
    return f"{letter}{str(position).translate(SUBSCRIPTS)}" if letter else str(position)


def labels(letter, count):
    """Name `count` rows or columns in order."""
    return [label(letter, position) for position in range(count)]


def counted(number, one):
    """Say how many, with the plural's s where it belongs."""
    return f"{number} {one if number == 1 else f'{one}s'}"
