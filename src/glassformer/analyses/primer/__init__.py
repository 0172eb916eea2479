"""Before the transformer

The parts that every network is made of, with numbers small enough to follow by hand.
"""

ORDER = 10  # in the story
