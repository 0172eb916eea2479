"""What the five sources say, and what is true: one file per source, one function per statement.

A file holds SOURCE (its number), TITLE, and claims made by `@claim`, in the order of the source. Their verdicts follow
from what their functions compute; `_settle` does so, and remembers.
"""
