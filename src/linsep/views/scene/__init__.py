"""What plots and films share, before anything is drawn.

`run` is a recorded run as planes over time, `moments` and `visits` which of them a frame shows;
`series` and `squeeze` are its numbers. `axes` and `geometry` place rows and regions, `colours` and
`palette` say how they look, and `packing` writes them as bytes for the page.
"""
