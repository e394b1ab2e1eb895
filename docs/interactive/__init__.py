"""What moves on the pages: films of runs, sliders, notebooks of the lectures, sessions of the lab.

Everything is made beforehand, by the library, and works from a folder of files.
"""
