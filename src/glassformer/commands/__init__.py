"""One file per verb of the command line: commands/train.py holds `train`, and `ORDER` is its place in the help."""
