"""The machine and the libraries that a table was measured with."""

import datetime
import os
import platform
import sys


def told():
    """Say in one line the day, the processors, Python and, where it is loaded, NumPy's BLAS."""
    words = [
        str(datetime.date.today()),
        f"{os.cpu_count()} × {platform.machine()}",
        platform.system(),
        f"Python {platform.python_version()}",
    ]
    if "numpy" in sys.modules:
        words.append(f"NumPy {sys.modules['numpy'].__version__}")
        words += _blas()
    return ", ".join(words)


def _blas():
    import threadpoolctl

    return [
        f"{library['prefix']} {library.get('architecture') or ''} {library['num_threads']} threads"
        for library in threadpoolctl.threadpool_info()
    ]
