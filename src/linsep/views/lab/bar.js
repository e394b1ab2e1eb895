import { colourOf, extent, markPath, on, shape, tag } from "./drawing.js";

// What is seen before the fold is opened; the rest, once it was changed or chosen.
const DATA = ["three-points", "two-groups", "xor", "separable", "gaussians", "rings", "three-classes", "iris"];
const SETTINGS = ["C", "penalised", "kernel", "hidden"];

// Data as labelled pictures, families of learners as chips, and one fold for all that is rarely changed.
export function bar(top, root, menu, actions) {
  const row = (name) => {
    const made = tag("div", { class: "row" }, root);
    tag("span", { class: "pick", "aria-hidden": "true" }, made, name);
    return made;
  };
  const first = row("Data"), second = row("Learner");
  const thumbs = tag("div", { class: "thumbs", role: "group", "aria-label": "Data" }, first);
  const held = { data: {}, parameters: {} };
  const button = (place, text, title, act, more = {}) => {
    const made = tag("button", { type: "button", title, ...more }, place, text);
    on(made, "click", act);
    return made;
  };

  function choice(name, label, hint, points) {
    const made = button(thumbs, "", hint, () => (name === "table" ? actions.file() : actions.data(name)), { class: "thumb", "data-name": name });
    if (points) picture(made, points);
    tag("span", {}, made, label);
    held.data[name] = made;
  }

  function picture(place, points) {
    const svg = shape("svg", { viewBox: "0 0 54 32", "aria-hidden": "true" }, place);
    const [left, right, low, high] = extent(points.flatMap(([x, y]) => [x, y]));
    const scale = Math.min(42 / (right - left || 1), 24 / (high - low || 1));
    const r = points.length > 20 ? 1.6 : 3, drawn = {};
    for (const [x, y, code] of points) {
      const at = [27 + (x - (left + right) / 2) * scale, 16 - (y - (low + high) / 2) * scale];
      (drawn[code] ||= []).push(markPath(code % 2, ...at, r));
    }
    for (const code in drawn) shape("path", { d: drawn[code].join(""), fill: colourOf(Number(code)) }, svg);
  }

  if (menu.opened) choice("opened", menu.opened.name, "What the lab was opened with");
  for (const [name, toy] of Object.entries(menu.toys)) choice(name, toy.label, toy.hint, toy.points || toy.shadow);
  choice("points", "own points", "Points that you place");
  choice("table", "open CSV …", "Open a CSV file, or drop one anywhere on the page");

  const buttons = tag("div", { class: "actions" }, top);
  const action = (name, title, act, id) => button(buttons, name, title, act, { id });
  action("Lessons", "Lessons with tasks", actions.lessons, "lessons");
  action("Share", "Share by address or as one file (S)", actions.share, "share");
  action("Export", "Export Python, command, model, CSV, pictures", actions.exports, "export");
  action("Present", "Present: large type, pictures only (Escape leaves)", actions.present, "present");
  action("Dark", "Dark or light", actions.theme, "theme");
  action("Help", "Help and keys (?)", actions.help, "help");

  const families = tag("div", { class: "chips", role: "group", "aria-label": "Family of learners" }, second);
  const kinds = select(second, "kind", "variant");
  const other = select(second, "other", "compare with");
  tag("option", { value: "" }, other, "nothing");
  for (const family of new Set(Object.values(menu.learners).map((one) => one.family))) {
    const some = Object.entries(menu.learners).filter(([, one]) => one.family === family);
    button(families, family, `Learners: ${family}`, () => actions.learner(some[0][0]), { "data-family": family });
    const group = tag("optgroup", { label: family }, other);
    for (const [name, one] of some) tag("option", { value: name }, group, `${family}: ${one.label}`);
  }
  on(kinds, "change", () => actions.learner(kinds.value));
  on(other, "change", () => actions.compare(other.value));
  const settings = tag("div", { class: "settings", role: "group", "aria-label": "Parameters" }, second);
  const scaling = tag("label", { class: "pick" }, second), scaled = tag("input", { type: "checkbox", id: "scaled" }, scaling);
  scaling.append(" one scale");
  scaling.title = "Bring features to mean 0 and deviation 1";
  on(scaled, "change", () => actions.scale(scaled.checked));
  for (const [name, kind] of Object.entries(menu.parameters)) held.parameters[name] = parameter(name, kind);
  const fold = button(first, "More …", "More settings, data and tools", unfold, { id: "more", "aria-expanded": "false" });

  function unfold() {
    const open = document.documentElement.toggleAttribute("data-more");
    fold.setAttribute("aria-expanded", String(open));
    fold.textContent = open ? "Fewer" : "More …";
    actions.unfolded();
  }

  function select(place, id, name) {
    const label = tag("label", { class: "pick" }, place, `${name} `);
    return tag("select", { id }, label);
  }

  function parameter(name, kind) {
    const label = tag("label", {}, settings);
    let input;
    if (typeof kind.usual === "boolean") {
      input = tag("input", { type: "checkbox" }, label);
      label.append(` ${kind.label}`);
    } else {
      label.append(`${kind.label} `);
      input = kind.options ? tag("select", {}, label) : tag("input", { type: "number", min: kind.least, max: kind.most, step: kind.whole ? 1 : "any" }, label);
      for (const value of kind.options || []) tag("option", { value }, input, value);
    }
    input.id = `parameter-${name}`;
    on(input, "input", () => {
      const value = input.type === "checkbox" ? input.checked : kind.options ? input.value : input.valueAsNumber;
      if (typeof value !== "number" || (value >= kind.least && value <= kind.most)) actions.parameter(name, value);
    });
    return { label, input };
  }

  function show(state, taken) {
    for (const [name, one] of Object.entries(held.data)) {
      one.setAttribute("aria-pressed", String(name === state.data));
      one.classList.toggle("extra", Object.hasOwn(menu.toys, name) && !DATA.includes(name) && name !== state.data);
    }
    const { family } = menu.learners[state.learners[0]];
    families.querySelectorAll("button").forEach((chip) => chip.setAttribute("aria-pressed", String(chip.dataset.family === family)));
    kinds.replaceChildren();
    for (const [name, one] of Object.entries(menu.learners)) if (one.family === family) tag("option", { value: name }, kinds, one.label);
    kinds.value = state.learners[0];
    other.value = state.learners[1] || "";
    scaling.hidden = state.data !== "table" && (state.data !== "opened" || menu.opened.story !== null);
    scaled.checked = state.scale;
    for (const [name, { label, input }] of Object.entries(held.parameters)) {
      const value = state.parameters[name], usual = value === menu.parameters[name].usual;
      label.hidden = !taken.includes(name) || (name === "degree" && state.parameters.kernel !== "poly");
      label.classList.toggle("extra", usual && !SETTINGS.includes(name));
      if (input.type === "checkbox") input.checked = value;
      else if (document.activeElement !== input) input.value = String(value);
    }
  }

  const enable = (on) => second.querySelectorAll("button, select, input").forEach((part) => { part.disabled = !on; });
  return { show, enable };
}
