"""Films, sliders, notebooks and figures of the lecture pages are what the library computes."""

import json
import re
import warnings

import numpy as np
import pytest
from docs.interactive import notebooks, players, sessions, sliders
from docs.pictures import lecture_figures
from matplotlib.figure import Figure

TEXTS = {page.stem: page.read_text("utf-8") for page in notebooks.PAGES}


def blocks(kind):
    """The name and the options of each directive of that kind, by page."""
    pattern = rf"^```\{{{kind}\}} ?(\S*)\n(.*?)^```$"
    return [
        (page, name, inside)
        for page, text in TEXTS.items()
        for name, inside in re.findall(pattern, text, re.MULTILINE | re.DOTALL)
    ]


def said(name, value):
    slider = sliders.SLIDERS[name]
    return slider.draw(value, Figure(figsize=slider.size))


def numbers(text):
    return [float(one.replace(",", "")) for one in re.findall(r"-?\d[\d,]*\.?\d*", text)]


def test_every_lecture_has_a_film_a_slider_and_a_notebook():
    for kind in ("player", "slider", "notebook"):
        assert {page for page, _, _ in blocks(kind)} == set(TEXTS), kind
    assert {name for _, name, _ in blocks("player")} == set(players.PLAYERS)
    assert {name for _, name, _ in blocks("slider")} == set(sliders.SLIDERS)


@pytest.mark.parametrize("name", players.PLAYERS)
def test_a_film_has_the_step_at_which_its_page_shows_it(name, tmp_path):
    import linsep

    made = linsep.film(players.PLAYERS[name]().trace_, tmp_path / "run.html")
    inside = next(inside for _, one, inside in blocks("player") if one == name)
    assert 0 < int(re.search(r":step: (\d+)", inside)[1]) < made.frames


def test_a_wider_strip_has_a_smaller_c_and_more_rows():
    wide, held = zip(*(numbers(said("strip", C))[1:3] for C in (0.01, 1.0, 100.0)), strict=True)
    assert list(wide) == sorted(wide, reverse=True)
    assert list(held) == sorted(held, reverse=True)


def test_a_wider_gap_lowers_the_bound_and_no_run_exceeds_it():
    seen = [numbers(said("gap", margin)) for margin in sliders.SLIDERS["gap"].values]
    bounds = [one[-1] for one in seen]
    assert bounds == sorted(bounds, reverse=True)
    assert all(one[1] <= one[-1] for one in seen)


def test_steps_below_the_limit_go_down_and_above_it_climb():
    def ends(share):
        figure = Figure()
        sliders.step(share, figure)
        curve = figure.axes[0].lines[0].get_ydata()
        return curve[0], curve[-1]

    for share in sliders.SLIDERS["step"].values:
        first, last = ends(share)
        assert (last < first * (1 + 1e-9)) == (share < 1), share  # alike where one step ends it


def test_folds_make_as_many_steps_as_they_say():
    for size in sliders.SLIDERS["fold"].values:
        figure = Figure()
        assert f"is {400 // int(size)} step" in sliders.fold(size, figure)
        assert len(figure.axes[0].lines[0].get_xdata()) == 400 // int(size) + 1


def test_no_direction_beats_fishers():
    for angle in sliders.SLIDERS["axis"].values:
        _, here, best, at_best = numbers(said("axis", angle))
        assert here <= best
        assert (abs(angle - at_best) < 1) == (best - here < 1e-3)


def test_the_channels_drawn_add_up_to_the_features_below():
    figure = lecture_figures.tensor_of_channels()
    *channels, bars = figure.axes
    for k, ax in enumerate(channels):
        image = np.asarray(ax.images[0].get_array())
        cells = [image[i : i + 4, j : j + 4].sum() for i in (0, 4) for j in (0, 4)]
        tall = [bars.patches[4 * k + m].get_height() for m in range(4)]
        assert np.allclose(cells, tall)


@pytest.mark.parametrize("page", notebooks.PAGES, ids=lambda page: page.stem)
def test_a_notebook_runs_from_its_first_cell_to_its_last(page):
    made = notebooks.notebook(page)
    codes = ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]
    shown = page.read_text("utf-8").count("\n```python\n")
    assert len(codes) == shown
    names: dict = {"__name__": "notebook"}
    with warnings.catch_warnings(action="ignore"):
        for code in codes:
            exec(compile(code, page.stem, "exec"), names)


def test_a_notebook_is_of_the_format_that_jupyter_opens(tmp_path):
    notebooks.build(tmp_path)
    for path in tmp_path.glob("*.ipynb"):
        made = json.loads(path.read_text("utf-8"))
        assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
        assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])
        for cell in made["cells"]:
            assert cell["cell_type"] in ("code", "markdown")
            assert ">>>" not in "".join(cell["source"])
            assert ".md" not in "".join(cell["source"])
    assert len(list(tmp_path.iterdir())) == 5


def test_sessions_are_files_that_fetch_nothing(tmp_path):
    sessions.build(tmp_path)
    for name in sessions.SESSIONS:
        text = (tmp_path / f"{name}.html").read_text("utf-8")
        assert "default-src 'none'" in text
        assert not re.search(r"(src|href)=\"?https?:", text)
