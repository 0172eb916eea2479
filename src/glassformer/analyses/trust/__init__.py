"""How sure are we?

How far these numbers would move with other data or another seed.
"""

ORDER = 90  # in the story
