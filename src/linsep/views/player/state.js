import { brief, many, colourOf, markPath, shape, tag } from "./drawing.js";
import { caption, weights } from "./words.js";
import { images } from "./images.js";

// What is proved first, then what is so at this step, and why.
export function statePanel(parent) {
  const verdict = tag("section", { class: "verdict", "aria-label": "Verdict" }, parent);
  const places = [0, 1].map((k) => tag("section", { class: k ? "model other" : "model" }, parent));
  const more = tag("section", { class: "more" }, parent);
  const stands = new Map();
  let shown = [], runs = [];

  // Builds a part anew where what it says has changed: while a point is dragged most of it stands.
  function part(place, says, build) {
    const key = JSON.stringify(says), known = stands.get(place);
    if (known && known.key === key) return known.made;
    place.replaceChildren();
    const made = build();
    stands.set(place, { key, made });
    return made;
  }

  function open(given) {
    runs = given;
    const { story } = runs[0], { facts } = story;
    part(verdict, [facts, story.lift, story.intercept, story.features, story.classes], () => drawVerdict(verdict, story));
    shown = places.map((place, k) => part(place, runs[k] ? modelSays(runs[k], runs.length) : null, () => runs[k] && modelPart(place, runs[k], runs.length > 1)));
    const { note } = story.weights, remarks = runs[0].T === 1 && story.grid ? story.notes : [...story.notes, `Weight space: ${note}${runs[1] && !story.weights.exact && runs[1].solvable() ? " The lines are those of the first learner; the dashed region is that of the second, at its own b." : ""}`]; // a curve has no plane of weights
    const regional = !story.grid && runs[0].solvable() && facts.separable !== false;
    part(more, [runs[0].T > 1, runs.map(({ story: { title, model, geometry, walls } }) => [title, walls, Boolean(model && model.support), Boolean(geometry)]), facts.rows.map((k) => [story.codes[k], story.numbers[k]]), facts.multipliers, story.classes, regional, remarks], () => {
      legend(more, runs, regional);
      certificate(more, story);
      const notes = tag("ul", { class: "notes" }, more);
      remarks.forEach((remark) => tag("li", remark.startsWith("Weight space: ") ? { class: "of-weights" } : {}, notes, remark));
    });
  }

  return { open, show: (t) => runs.forEach((run, k) => shown[k](run, t)) };
}

// What the part of a model is built of; the rest changes with the frame. Images are always built anew.
function modelSays({ story, T, n }, several) {
  const { title, learner, parameters, classes, cycle, runaway, growth, status, facts, grid } = story;
  return [several, T > 1, title, learner, parameters, classes, cycle, runaway, growth, status, facts.bound, facts.boundText, Boolean(grid), Boolean(story.frames.wrong), n === story.rows, story.images && Math.random()];
}

function drawVerdict(place, story) {
  const { facts } = story;
  place.dataset.answer = String(facts.separable);
  const heads = { true: "✓ Separable", false: "✕ Not separable", null: "? Not known" };
  const raised = story.lift ? " when lifted" : "", origin = story.intercept ? "" : " through the origin";
  tag("h2", {}, place, `${heads[String(facts.separable)]}${raised}${origin}`);
  const pair = `at most ${many(facts.bound ?? 0)} mistakes: (R/γ)², R\u00a0=\u00a0${brief(facts.radius ?? 0)}, γ\u00a0=\u00a0${brief(facts.gamma ?? 0)}`;
  if (facts.bound !== null) tag("p", { class: "key" }, place, `${pair}${story.intercept ? " with b as a weight" : ""}`);
  else if (facts.margin !== null) tag("p", { class: "key" }, place, `margin ${brief(facts.margin)}`);
  tag("p", { class: "small" }, place, facts.verdict);
}

function modelPart(place, run, several) {
  const { story } = run, { facts } = story;
  const title = tag("h3", {}, place);
  tag("span", { class: "stroke" }, title);
  title.append(story.title);
  if (story.parameters) tag("p", { class: "parameters" }, place, story.parameters);
  if (story.cycle) tag("p", { class: "cycle" }, place, `The weights come back every ${story.cycle.passes === 1 ? "pass" : `${story.cycle.passes} passes`}: they go round and never stop.`);
  if (story.runaway) tag("p", { class: "cycle" }, place, "There are no best weights: longer ones are always better. ‖w‖ grows without end; only its direction settles.");
  if (story.status) tag("p", { class: "small ending" }, place, story.status);
  if (story.growth) growth(place, story.growth);
  if (!story.learner) return () => {};
  const list = tag("dl", {}, place);
  const entry = (name) => { tag("dt", {}, list, name); return tag("dd", {}, list); };
  const wrong = entry("Rows wrong"), step = entry("Step");
  const bounded = facts.bound !== null && run.T > 1, mistakes = run.T > 1 ? entry(bounded ? "Mistakes" : "Corrections") : null;
  const count = mistakes && tag("span", {}, mistakes);
  const meter = bounded ? tag("meter", { min: 0, max: facts.bound, "aria-label": "mistakes against the bound" }, mistakes) : null;
  if (mistakes && !several) tag("p", { class: "small" }, mistakes, facts.boundText);
  const sum = run.T === 1 && story.grid ? null : tag("pre", {}, entry(run.T > 1 ? "This step" : "Weights"));
  const picture = images(place, run);
  const table = several ? null : confusion(place, run);
  const aside = tag("p", { class: "small" }, place);

  return (run, t) => {
    const { story } = run, { frames, facts } = story, now = Math.min(t, run.T - 1), margin = frames.margin[now];
    const wide = !run.grid(now) && Number.isFinite(margin) && margin > 0 && run.count(now) === 0;
    write(wrong, `${run.count(now)} of ${story.rows}${wide ? `, margin ${brief(margin)}` : ""}`);
    write(step, run.isModel(now) ? `the model returned: ${story.returned}` : run.T === 1 ? "the model returned" : now === 0 ? "before the first correction" : `correction ${frames.n[now]}, pass ${frames.epoch[now]}`);
    if (count) write(count, bounded ? `${many(frames.n[now])} of at most ${many(facts.bound)}` : `${many(frames.n[now])} so far`);
    if (meter) meter.value = frames.n[now];
    if (sum) write(sum, caption(run, now).sum || weights(run, now) || "–");
    if (picture) picture(now);
    if (table) table(run, now);
    write(aside, asideOf(story));
  };
}

function asideOf({ model, geometry, learner }) {
  const said = [];
  if (model && model.support) said.push(`${model.support.length} support vectors (circled)${model.gap !== undefined ? `; duality gap ${brief(model.gap)}` : ""}.`);
  if (geometry) said.push(`Ellipses are one standard deviation of ${learner === "FisherDiscriminant" ? "the scatter within classes" : "the shared covariance"}.`);
  if (geometry && geometry.criterion !== null) said.push(`Fisher's J = ${brief(geometry.criterion)}.`);
  return said.join(" ");
}

function write(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

// How long the weights are, the less the penalty weighs.
function growth(place, lengths) {
  const table = tag("table", { class: "growth" }, place);
  tag("caption", {}, table, "The weaker the penalty, the longer the weights");
  for (const [C, length] of lengths) {
    const line = tag("tr", {}, table);
    tag("th", { scope: "row" }, line, `C = ${many(C)}`);
    tag("td", {}, line, `‖w‖ = ${brief(length)}`);
    tag("meter", { min: 0, max: lengths.at(-1)[1], value: length, "aria-label": `‖w‖ with C = ${C}` }, tag("td", {}, line));
  }
}

// How many rows of each class are taken for which.
function confusion(place, run) {
  const { story } = run, K = story.classes.length;
  if (K > 6 || run.story.grid || story.frames.wrong || run.n !== story.rows) return null;
  const table = tag("table", { class: "confusion" }, place);
  tag("caption", {}, table, "Rows of a class (down), taken for (across)");
  const head = tag("tr", {}, table);
  tag("td", {}, head);
  story.classes.forEach((name) => tag("th", { scope: "col" }, head, name));
  const cells = story.classes.map((name) => {
    const line = tag("tr", {}, table);
    tag("th", { scope: "row" }, line, name);
    return story.classes.map(() => tag("td", {}, line));
  });
  return (run, t) => {
    const { story } = run;
    const counts = cells.map((line) => line.map(() => 0));
    for (let k = 0; k < run.n; k++) counts[story.codes[k]][run.classAt(t, story.points[2 * k], story.points[2 * k + 1])] += 1;
    counts.forEach((line, i) => line.forEach((value, j) => {
      write(cells[i][j], String(value));
      cells[i][j].className = i !== j && value ? "off" : "";
    }));
  };
}

function legend(parent, runs, regional) {
  const [{ story, T }, second] = runs, whose = second ? ` for ${story.title}` : "";
  const list = tag("ul", { class: "legend" }, parent);
  const sign = (name, draw) => {
    const item = tag("li", {}, list);
    draw(shape("svg", { width: 18, height: 18, "aria-hidden": "true" }, item));
    tag("span", {}, item, name);
  };
  story.classes.forEach((label, code) => sign(`class ${label}`, (svg) => shape("path", { d: markPath(code, 9, 9, 5.5), fill: colourOf(code) }, svg)));
  sign(`wrong${whose}`, (svg) => shape("circle", { cx: 9, cy: 9, r: 7, class: "halo" }, svg));
  if (T > 1) sign("this row", (svg) => shape("circle", { cx: 9, cy: 9, r: 7, class: "current" }, svg));
  runs.forEach(({ story: { model, geometry, title } }, k) => {
    const other = k ? " other" : "", of = second ? ` of ${title}` : "";
    if (model && model.support) sign(`support vector${of}`, (svg) => shape("circle", { cx: 9, cy: 9, r: 7, class: `support${other}` }, svg));
    if (geometry) sign(`one deviation${of}`, (svg) => shape("ellipse", { cx: 9, cy: 9, rx: 8, ry: 5, class: `ellipse${other}`, stroke: "currentColor" }, svg));
  });
  if (runs.some((run) => run.story.walls)) sign("wall: a bound on a weight", (svg) => shape("path", { d: "M9 1v16M9 4h6M9 9h6M9 14h6", class: "wall" }, svg));
  if (regional) sign("weights that solve it", (svg) => shape("rect", { x: 1, y: 3, width: 16, height: 12, class: "solution" }, svg));
}

function certificate(parent, story) {
  const { rows, multipliers } = story.facts;
  if (!rows.length) return;
  const part = tag("details", { class: "certificate" }, parent);
  tag("summary", {}, part, `The proof: ${rows.length} rows, checked exactly`);
  tag("p", { class: "small" }, part, "Multiply these rows, signed and with 1 appended, as told, add them up, and the sum is zero:");
  const table = tag("table", {}, part);
  const head = tag("tr", {}, table);
  ["row", "class", "times"].forEach((name) => tag("th", { scope: "col" }, head, name));
  rows.forEach((k, i) => {
    const line = tag("tr", {}, table);
    [story.numbers[k], story.classes[story.codes[k]]].forEach((value) => tag("td", {}, line, String(value)));
    tag("td", { title: multipliers[i] }, line, multipliers[i].length > 14 ? `≈ ${brief(ratio(multipliers[i]))}` : multipliers[i]);
  });
  if (rows.length <= 6) part.open = true;
}

// A fraction of whole numbers of any length, as a number.
function ratio(text) {
  const [above, below] = text.split("/").map(BigInt);
  return below ? Number((above * 10n ** 12n) / below) / 1e12 : Number(above);
}
