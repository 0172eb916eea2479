"""What is it?

The parts of the model and the data it sees.
"""

ORDER = 20  # in the story
