"""One file per analysis: `analyses.loss(run)` imports analyses/learn/loss.py and what that needs.

A folder is a section of the story that they tell together.
"""

from glassformer import _discover

__getattr__, __dir__ = _discover.public(__name__)
