"""Panels to move by hand: controls, the head, and the views, wired. Nothing computes or draws here.

Needs the extra ``lab``: ``pip install "attnlib[lab]"``.
"""

from attnlib.explorers.head_explorer import HeadExplorer

__all__ = ["HeadExplorer"]
