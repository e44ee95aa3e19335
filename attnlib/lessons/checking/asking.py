"""What a check itself is asked with: refused in words where it makes no sense."""


def check_arguments(function, operands, adapter, seconds):
    """Refuse what is no function, no adapter or no time, and return the time as a float.

    Parameters
    ----------
    function : callable
        The hand-in.
    operands : str
        What it is a function of, in words.
    adapter : callable or None
        Of one array.
    seconds : float
        The time limit.

    Raises
    ------
    ValueError
        Naming what came, what was expected and the mend.
    """
    if not callable(function):
        raise ValueError(
            f"function must be a function of {operands}, got {type(function).__name__}: hand in "
            "the function itself, without calling it"
        )
    if adapter is not None and not callable(adapter):
        raise ValueError(
            f"adapter must be a function of one array, got {type(adapter).__name__}: try "
            "adapter=torch.from_numpy"
        )
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < 1e4:
        raise ValueError(f"seconds must be a positive number, got {seconds!r}: try seconds=2.0")
    return float(seconds)
