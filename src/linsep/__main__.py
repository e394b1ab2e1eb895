"""`python -m linsep` is the command `linsep`."""

from linsep.views.cli import main

if __name__ == "__main__":
    main()
