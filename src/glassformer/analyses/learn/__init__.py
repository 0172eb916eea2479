"""Did it learn?

How wrong it was, how wrong it is, and how much of that no model could avoid.
"""

ORDER = 30  # in the story
