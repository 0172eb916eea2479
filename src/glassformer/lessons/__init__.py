"""The course: one runnable script per lesson, in jupytext's percent format.

A file's first sentence is its title. Before the first cell stand ORDER, MINUTES, AIMS, BEFORE (lessons to do first),
ANSWERS (sections of the sources), MISCONCEPTIONS and PLAN (45 minutes in a class). `teaching/` reads and tells them.
"""
