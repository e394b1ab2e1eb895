"""Speed and memory, measured side by side with peers. Run by `make bench`."""
