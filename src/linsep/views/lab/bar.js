import { colourOf, extent, markPath, shape, tag } from "./drawing.js";

const RARE = ["margin", "bias_step", "multiclass", "random_state", "batch_size", "variant"]; // shown when asked for, or changed

// Data as thumbnails, learners as chips, their parameters, and what can be done with the page.
export function bar(root, menu, actions) {
  const first = tag("div", { class: "row first" }, root), second = tag("div", { class: "row" }, root);
  const thumbs = tag("div", { class: "thumbs", role: "group", "aria-label": "Data" }, first);
  const buttons = tag("div", { class: "actions" }, first);
  const held = { data: {}, parameters: {} };

  function thumbnail(name, label, hint, points) {
    const button = tag("button", { type: "button", class: "thumb", title: `${label}: ${hint}`, "aria-label": `${label}: ${hint}`, "data-name": name }, thumbs);
    draw(button, points);
    button.addEventListener("click", () => actions.data(name));
    held.data[name] = button;
  }

  function draw(button, points) {
    const svg = shape("svg", { viewBox: "0 0 54 42", "aria-hidden": "true" }, button);
    const [left, right, low, high] = extent(points.flatMap(([x, y]) => [x, y]));
    const scale = Math.min(42 / (right - left || 1), 30 / (high - low || 1));
    const r = points.length > 20 ? 1.7 : 3, drawn = {};
    for (const [x, y, code] of points) (drawn[code] ||= []).push(markPath(code % 2, 26 + (x - (left + right) / 2) * scale, 20 - (y - (low + high) / 2) * scale, r));
    for (const code in drawn) shape("path", { d: drawn[code].join(""), fill: colourOf(Number(code)) }, svg);
  }

  if (menu.opened) {
    const button = tag("button", { type: "button", class: "thumb words", "data-name": "opened" }, thumbs, menu.opened.name);
    button.addEventListener("click", () => actions.data("opened"));
    held.data.opened = button;
  }
  for (const [name, toy] of Object.entries(menu.toys)) thumbnail(name, toy.label, toy.hint, toy.points || toy.shadow);
  const own = tag("button", { type: "button", class: "thumb words", "data-name": "points" }, thumbs, "own points");
  own.addEventListener("click", () => actions.data("points"));
  held.data.points = own;
  const file = tag("button", { type: "button", class: "thumb words", "data-name": "table", title: "Open a CSV file; or drop one anywhere on the page" }, thumbs, "file …");
  file.addEventListener("click", actions.file);
  held.data.table = file;

  const action = (name, title, act, id) => {
    const made = tag("button", { type: "button", title, id }, buttons, name);
    made.addEventListener("click", act);
    return made;
  };
  action("Lessons", "Seven lessons with tasks", actions.lessons, "lessons");
  action("Share", "Share by address or as one file (S)", actions.share, "share");
  action("Export", "Python, command, model, CSV, pictures", actions.exports, "export");
  action("Present", "Large type, pictures only (Escape leaves)", actions.present, "present");
  action("◐", "Light or dark", actions.theme, "theme").setAttribute("aria-label", "Light or dark");
  action("?", "Keys and help (?)", actions.help, "help").setAttribute("aria-label", "Help");

  const families = tag("div", { class: "chips", role: "group", "aria-label": "Family of learners" }, second);
  const kinds = tag("div", { class: "chips kinds", role: "group", "aria-label": "Learner" }, second);
  const third = tag("div", { class: "row" }, root);
  const compare = tag("label", { class: "pick" }, third, "compare with ");
  const other = tag("select", { id: "other", "aria-label": "compare with" }, compare);
  tag("option", { value: "" }, other, "nothing");
  const names = [...new Set(Object.values(menu.learners).map((one) => one.family))];
  for (const family of names) {
    const chip = tag("button", { type: "button", "data-family": family }, families, family);
    chip.addEventListener("click", () => actions.learner(Object.keys(menu.learners).find((name) => menu.learners[name].family === family)));
    const group = tag("optgroup", { label: family }, other);
    for (const [name, one] of Object.entries(menu.learners)) if (one.family === family) tag("option", { value: name }, group, `${family}: ${one.label}`);
  }
  other.addEventListener("change", () => actions.compare(other.value));
  const settings = tag("div", { class: "settings", role: "group", "aria-label": "Parameters" }, third);
  const scaling = tag("label", { class: "pick" }, third), scaled = tag("input", { type: "checkbox", id: "scaled" }, scaling);
  scaling.append(" one scale");
  scaling.title = "Bring features to mean 0 and deviation 1";
  scaled.addEventListener("change", () => actions.scale(scaled.checked));
  const more = tag("button", { type: "button", "aria-pressed": "false", id: "rare" }, third, "more …");
  let rare = false;
  more.addEventListener("click", () => { rare = !rare; more.setAttribute("aria-pressed", String(rare)); show(...shown); });
  let shown = null;
  for (const [name, kind] of Object.entries(menu.parameters)) held.parameters[name] = parameter(settings, name, kind);

  function parameter(place, name, kind) {
    const label = tag("label", {}, place);
    let input;
    if (kind.options) {
      label.append(`${kind.label} `);
      input = tag("select", {}, label);
      kind.options.forEach((value) => tag("option", { value }, input, value));
    } else if (typeof kind.usual === "boolean") {
      input = tag("input", { type: "checkbox" }, label);
      label.append(` ${kind.label}`);
    } else {
      label.append(`${kind.label} `);
      input = tag("input", { type: "number", min: kind.least, max: kind.most, step: kind.whole ? 1 : "any" }, label);
    }
    input.id = `parameter-${name}`;
    input.addEventListener("input", () => {
      const value = input.type === "checkbox" ? input.checked : kind.options ? input.value : input.valueAsNumber;
      if (typeof value !== "number" || (value >= kind.least && value <= kind.most)) actions.parameter(name, value);
    });
    return { label, input };
  }

  function show(state, taken) {
    shown = [state, taken];
    more.hidden = !taken.some((name) => RARE.includes(name));
    for (const [name, button] of Object.entries(held.data)) button.setAttribute("aria-pressed", String(name === state.data));
    const now = menu.learners[state.learners[0]];
    families.querySelectorAll("button").forEach((chip) => chip.setAttribute("aria-pressed", String(chip.dataset.family === now.family)));
    kinds.replaceChildren();
    for (const [name, one] of Object.entries(menu.learners)) {
      if (one.family !== now.family) continue;
      const chip = tag("button", { type: "button", "data-learner": name, "aria-pressed": String(name === state.learners[0]) }, kinds, one.label);
      chip.addEventListener("click", () => actions.learner(name));
    }
    other.value = state.learners[1] || "";
    scaling.hidden = state.data !== "table" && (state.data !== "opened" || menu.opened.story !== null);
    scaled.checked = state.scale;
    for (const [name, { label, input }] of Object.entries(held.parameters)) {
      label.hidden = !taken.includes(name) || (name === "degree" && state.parameters.kernel !== "poly") || (RARE.includes(name) && !rare && state.parameters[name] === menu.parameters[name].usual);
      const value = state.parameters[name];
      if (input.type === "checkbox") input.checked = value;
      else if (document.activeElement !== input) input.value = String(value);
    }
  }

  return { show, enable: (on) => [second, third].forEach((row) => row.querySelectorAll("button, select, input").forEach((one) => { one.disabled = !on; })) };
}
