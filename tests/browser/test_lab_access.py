"""The lab for those who do not see it, and every learner that it offers."""

import numpy as np
import pytest
from test_lab_views import DIALOGS, VIEWS

import linsep
from linsep.views.lab.choices import LEARNERS, PARAMETERS, Choice, Switch, settings
from linsep.views.lab.toys import TOYS

CONTROLS = {"button", "checkbox", "combobox", "slider", "spinbutton", "textbox", "meter", "image",
            "DisclosureTriangle", "dialog", "region", "toolbar", "img"}  # fmt: skip


def told(page):
    """What the browser hands to a screen reader: role, name and properties of each part."""
    tree = page.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    return [
        (
            one["role"]["value"],
            one.get("name", {}).get("value", ""),
            {part["name"]: part["value"].get("value") for part in one.get("properties", [])},
        )
        for one in tree
        if not one.get("ignored") and "role" in one
    ]


def nameless(page):
    return [role for role, name, _ in told(page)
            if role in CONTROLS and not name.strip()]  # fmt: skip


def test_a_screen_reader_is_told_what_every_part_is(page):
    for name, end in VIEWS.items():
        page.open(f"v=2&{end}")
        page.choose("#view", name)
        assert nameless(page) == [], name
    for name in DIALOGS:
        page.one(f"#{name}").click()
        assert nameless(page) == [], name
        assert "dialog" in {role for role, _, _ in told(page)}
        page.script("document.querySelector('dialog').close()")


def test_a_screen_reader_hears_each_step_and_finds_points_and_verdict_by_name(page):
    page.open("v=2&data=two-groups&learner=online")
    parts = told(page)
    assert ("heading", "✓ Separable") in [part[:2] for part in parts]
    points = [name for role, name, _ in parts if role == "button" and name.startswith("Point ")]
    assert points[0] == "Point 0 at 1, 0, class 1" and len(points) == 8
    heard = []
    for _ in range(3):
        page.press("\ue012")  # the left arrow
        heard += [text for text, kept in narrations(page) if kept == "polite"]
    assert len(heard) == len(set(heard)) == 3  # one sentence a step, and no numbers around it
    assert all(one.startswith("Correction ") for one in heard)


def narrations(page):
    """The texts below live parts, with how urgently they are told."""
    nodes = page.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    known = {one["nodeId"]: one for one in nodes}

    def text(one):
        below = [known[child] for child in one.get("childIds", []) if child in known]
        own = one.get("name", {}).get("value", "") if one["role"]["value"] == "StaticText" else ""
        return own + "".join(map(text, below))

    for one in nodes:
        live = {part["name"]: part["value"].get("value") for part in one.get("properties", [])}
        if not one.get("ignored") and live.get("live") and text(one):
            yield text(one), live["live"]


def other(name):
    """A value of a parameter that it does not have at first."""
    kind = PARAMETERS[name]
    if isinstance(kind, Switch):
        return not kind.usual
    if isinstance(kind, Choice):
        return kind.options[-1]
    return {"max_iter": 30, "random_state": 3, "C": 0.5, "eta0": 0.5, "margin": 0.1}.get(
        name, kind.usual + 1
    )


def fitted(name, parameters):
    X, y = TOYS["gaussians"].rows()
    kind, values = LEARNERS[name].kind, {one: kind.usual for one, kind in PARAMETERS.items()}
    labels = np.where(y == np.unique(y)[1], 1.0, -1.0) if kind == "LinearRegression" else y
    return getattr(linsep, kind)(**settings(name, values | parameters)).fit(X, labels)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", dict.fromkeys(one.family for one in LEARNERS.values()))
def test_every_chip_runs_with_its_own_parameters(page, family):
    page.open("v=2&data=gaussians&learner=online")
    page.one(f"[data-family='{family}']").click()
    page.settle()
    page.one("#more").click()
    for name in [name for name, one in LEARNERS.items() if one.family == family]:
        page.choose("#kind", name)
        changed = {}
        for one in LEARNERS[name].takes:
            if one == "penalised":  # without it there is no C
                continue
            changed[one] = other(one)
            change(page, one, changed[one])
        page.settle()
        assert page.one("#message").text == "", name
        state = page.script("return lab.state()")
        assert state["learners"] == [name]
        assert {one: state["parameters"][one] for one in changed} == changed
        if not LEARNERS[name].curved:
            known = fitted(name, changed)
            assert page.script("return lab.story().model.w") == np.atleast_2d(known.coef_).tolist()
    assert page.clean() == []


def change(page, name, value):
    page.script(
        """const input = document.getElementById(`parameter-${arguments[0]}`);
        input[input.type === 'checkbox' ? 'checked' : 'value'] = arguments[1];
        input.dispatchEvent(new Event('input'))""",
        name,
        value,
    )
