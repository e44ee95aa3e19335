"""Hand in an attention head of your own and learn whether it is right, or the name of its mistake.

Nothing a hand-in does can hang or stop the caller, short of ending the process itself.
"""

from attnlib.lessons.checking.backward import check_backward
from attnlib.lessons.checking.forward import check_forward
from attnlib.lessons.checking.verdicts import Verdict

__all__ = ["Verdict", "check_backward", "check_forward"]
