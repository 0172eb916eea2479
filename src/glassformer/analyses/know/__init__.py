"""What does it know?

Every token and every position is a point. Where they stand is what it knows before it looks around.
"""

ORDER = 40  # in the story
