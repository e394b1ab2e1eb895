"""Read, never compute: command line and pictures."""
