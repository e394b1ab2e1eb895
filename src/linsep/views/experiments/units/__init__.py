"""What one unit can draw and what it cannot: gates, XOR, better features, layers, many classes."""
