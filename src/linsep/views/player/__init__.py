"""The player: the files of the page that shows a run, assembled by Python."""
