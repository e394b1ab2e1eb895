"""Several classes at once, softmax and Crammer and Singer's machine: problems, sums, matrices."""
