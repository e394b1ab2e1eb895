"""Numbers and labels, wherever they live."""
