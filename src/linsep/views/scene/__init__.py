"""What plots and films share: the run as drawn, axes, geometry, colours and marks."""
