"""How does it attend?

Each position asks with a query, those it may see answer with their keys. A query times a key is a score, and the
scores of a position become shares of its attention that add up to 1.
"""

ORDER = 50  # in the story
