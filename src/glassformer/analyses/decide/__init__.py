"""How does it decide?

Attention adds what it found to the point, the feed-forward part adds its own, and the read-out turns where the point
ends into a probability for every token.
"""

ORDER = 60  # in the story
