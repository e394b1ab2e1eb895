"""Ten classes and more differ in colour and mark, by the same list in pictures and on pages."""

import itertools
import json
import re

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.markers import MarkerStyle

from linsep import LinearSVC, plot
from linsep.views.film.page import PARTS, bundle, part
from linsep.views.scene.colours import COLOURS, MARKS, colour_of, mark_of

# What is left of linear red, green and blue for full, and for no, red, green or blue sight
# (Machado, Oliveira and Fernandes, 2009).
SIGHT = [
    np.eye(3),
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
     [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
     [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
     [0.004733, 0.691367, 0.303900]],
]  # fmt: skip


def lab(colour, sight):
    """A colour in CIE L*a*b*, where distances are about as large as they look."""
    parts = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(sight) @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ seen / [0.9505, 1.0, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_all_colours_are_apart_for_every_kind_of_sight():
    for sight in SIGHT:
        for one, other in itertools.combinations(COLOURS, 2):
            assert np.linalg.norm(lab(one, sight) - lab(other, sight)) > 13, (one, other)


def test_a_hundred_classes_differ_in_colour_or_mark_and_ten_in_both():
    assert len(COLOURS) == len(MARKS) == 10
    assert len({colour_of(k) for k in range(10)}) == len({mark_of(k) for k in range(10)}) == 10
    assert len({(colour_of(k), mark_of(k)) for k in range(100)}) == 100


def test_a_picture_of_ten_classes_has_ten_colours_and_marks():
    y = np.repeat(np.arange(10), 3)
    angle = 2 * np.pi * y / 10
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + np.tile([[0.0], [0.02], [0.04]], (10, 1))
    (ax,) = plot.boundary(LinearSVC().fit(X, y), X, y).axes
    legend = ax.get_legend()
    drawn = legend.legend_handles
    assert [one.get_text() for one in legend.get_texts()] == [f"class {k}" for k in range(10)]
    fills = [to_hex(one.get_facecolor()[0]) for one in drawn]
    assert fills == [one.lower() for one in COLOURS]
    shapes = {one.get_paths()[0].vertices.tobytes() for one in drawn}
    assert len(shapes) == 10


@pytest.mark.parametrize("mark", MARKS)
def test_every_mark_is_one_that_is_filled(mark):
    assert MarkerStyle(mark).is_filled()


def test_pages_use_the_list_of_the_pictures():
    script = bundle(PARTS)
    (colours,) = re.findall(r"\b(?:const|let) COLOURS ?= ?(\[.*?\]);", script)
    assert json.loads(colours) == list(COLOURS)
    own = "".join(part(name) for name in PARTS if name != "colours.js")
    for colour in COLOURS[:2] + COLOURS[4:]:  # green and pink also mean solutions and mistakes
        assert colour not in own
