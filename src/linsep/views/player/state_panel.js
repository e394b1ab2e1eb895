import { colourOf, markPath, shape, tag } from "./drawing.js";

// What is so at this moment, why, and what is proved.
export function statePanel(parent, story) {
  const { facts, frames } = story;
  const panel = tag("section", { class: "state", "aria-label": "State" }, parent);
  tag("h2", {}, panel, story.learner);
  tag("p", { class: "parameters" }, panel, story.parameters || "all parameters as they come");
  legend(panel, story);
  const list = tag("dl", {}, panel);
  const entry = (name) => {
    tag("dt", {}, list, name);
    return tag("dd", {}, list);
  };
  const moment = entry("Moment");
  const wrong = entry("Rows wrong");
  const why = entry("This step");
  const sum = tag("pre", {}, why);
  const mistakes = entry("Mistakes");
  const count = tag("span", {}, mistakes);
  const meter = facts.bound === null ? null : tag("meter", { min: 0, max: facts.bound, "aria-label": "mistakes against the bound" }, mistakes);
  tag("p", { class: "small" }, mistakes, facts.boundText);
  const proof = entry("Proof");
  tag("p", { class: "verdict" }, proof, facts.verdict);
  certificate(proof, story);
  if (story.status) tag("p", { class: "small" }, entry("How it ended"), story.status);
  const notes = tag("ul", { class: "notes" }, panel);
  [...story.notes, `Weight space: ${story.weights.note}`].forEach((note) => tag("li", {}, notes, note));

  function show(t) {
    const model = story.returned && t === frames.n.length - 1;
    moment.textContent = model ? `the model returned: ${story.returned}` : t === 0 ? "before the first correction" : `correction ${frames.n[t]}, pass ${frames.epoch[t]}`;
    wrong.textContent = `${frames.count[t]} of ${story.rows}`;
    sum.textContent = frames.sum[t] || "–";
    count.textContent = facts.bound === null ? `${frames.n[t].toLocaleString("en")} corrections so far` : `${frames.n[t].toLocaleString("en")} of at most ${facts.bound.toLocaleString("en")}`;
    if (meter) meter.value = frames.n[t];
  }

  return { show, panel };
}

function legend(parent, story) {
  const list = tag("ul", { class: "legend" }, parent);
  story.classes.forEach((label, code) => {
    const item = tag("li", {}, list);
    const svg = shape("svg", { width: 16, height: 16, "aria-hidden": "true" }, item);
    shape("path", { d: markPath(code, 8, 8, 5), fill: colourOf(code) }, svg);
    tag("span", {}, item, `class ${label}`);
  });
  const sign = (name, draw) => {
    const item = tag("li", {}, list);
    draw(shape("svg", { width: 16, height: 16, "aria-hidden": "true" }, item));
    tag("span", {}, item, name);
  };
  sign("wrong", (svg) => shape("circle", { cx: 8, cy: 8, r: 6, class: "halo" }, svg));
  sign("this row", (svg) => shape("circle", { cx: 8, cy: 8, r: 6, class: "current" }, svg));
  if (story.weights.regions) sign("weights that solve it", (svg) => shape("rect", { x: 1, y: 3, width: 14, height: 10, class: "solution" }, svg));
}

function certificate(parent, story) {
  const { rows, multipliers } = story.facts;
  if (!rows.length) return;
  tag("p", { class: "small" }, parent, "Multiply these rows, signed and with 1 appended, as told, add them up, and the sum is zero:");
  const table = tag("table", {}, parent);
  const head = tag("tr", {}, table);
  ["row", "class", "times"].forEach((name) => tag("th", { scope: "col" }, head, name));
  rows.forEach((k, i) => {
    const line = tag("tr", {}, table);
    [story.numbers[k], story.classes[story.codes[k]], multipliers[i]].forEach((value) => tag("td", {}, line, String(value)));
  });
}
