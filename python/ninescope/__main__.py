"""`python -m ninescope`."""

from ninescope.cli import main

main()
