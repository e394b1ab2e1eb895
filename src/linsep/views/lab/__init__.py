"""The lab: a local page that asks for runs and plays them. The page draws, Python computes."""
