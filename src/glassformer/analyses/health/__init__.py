"""Is it healthy?

Whether training itself went as it should.
"""

ORDER = 80  # in the story
