"""`python -m linsep` is the command `linsep`."""

from linsep.views.cli import main

main()
