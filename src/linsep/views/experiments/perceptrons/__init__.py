"""Learning from mistakes: how many corrections, in which order, which step, which margin."""
