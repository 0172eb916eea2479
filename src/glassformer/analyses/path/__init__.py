"""How did it get there?

The same numbers over the whole of training.
"""

ORDER = 70  # in the story
