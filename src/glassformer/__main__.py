"""`python -m glassformer` is `glassformer`."""

from glassformer.cli import main

main()
