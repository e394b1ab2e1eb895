import { brief, colourOf, extent, panel, put, roomy, shape, tag } from "./drawing.js";
import { contour } from "./curves.js";

const LOSSES = {
  "log loss": (z) => (z > -30 ? Math.log1p(Math.exp(-z)) : -z),
  "hinge loss": (z) => Math.max(0, 1 - z),
  "squared loss": (z) => (1 - z) ** 2,
  "perceptron loss": (z) => Math.max(0, -z),
};

// The mean loss as a function of w₁ and w₂, at the intercept of the moment, and the path over it.
export function surfaceView(place) {
  const root = tag("div", { class: "view", hidden: "" }, place);
  const picture = panel(root, "Loss surface over the two weights, and the path");
  const lines = shape("path", { class: "contours" }, picture.body);
  const path = shape("polyline", { class: "path own" }, picture.body), dot = shape("circle", { r: 6, class: "now own" }, picture.body);
  const note = shape("text", { x: 70, y: 28, class: "empty" }, picture.svg);
  let run = null, t = 0, box = null;

  const fits = () => run && run.binary && run.story.features === 2 && !run.story.grid;

  function open(given) {
    run = given;
    if (!fits()) return;
    const seen = [0, 0];
    for (let s = 0; s < run.T; s++) seen.push(run.plane(s)[0], run.plane(s)[1]);
    box = roomy(extent(seen), 0.3, ...picture.size(), Infinity);
    picture.frame(box, ["w₁", "w₂"]);
  }

  function show(at) {
    t = at;
    if (root.hidden) return;
    note.textContent = fits() ? "" : "a loss surface is drawn for two classes and two weights";
    for (const one of [lines, path, dot]) one.setAttribute("visibility", fits() ? "visible" : "hidden");
    if (!fits()) return;
    const { story } = run, now = Math.min(t, run.T - 1), b = run.plane(now)[2], loss = LOSSES[story.lossName], { scale } = picture;
    const value = (u, v) => {
      let total = 0;
      for (let k = 0; k < run.n; k++) total += loss((story.codes[k] === 1 ? 1 : -1) * (u * story.points[2 * k] + v * story.points[2 * k + 1] + b));
      return total / run.n;
    };
    const seen = Array.from({ length: 108 }, (_, k) => value(box[0] + ((box[1] - box[0]) * (k % 12)) / 11, box[2] + ((box[3] - box[2]) * Math.floor(k / 12)) / 8)).sort((p, q) => p - q);
    const levels = Array.from({ length: 10 }, (_, k) => seen[Math.floor((107 * (k + 0.3)) / 10)]);
    lines.setAttribute("d", levels.map((level) => contour(scale, box, (u, v) => value(u, v) - level)).join(""));
    const points = [];
    for (let s = Math.max(0, now - 400); s <= now; s++) points.push(`${scale.x(run.plane(s)[0]).toFixed(1)},${scale.y(run.plane(s)[1]).toFixed(1)}`);
    path.setAttribute("points", points.join(" "));
    put(dot, { cx: scale.x(run.plane(now)[0]), cy: scale.y(run.plane(now)[1]) });
  }

  return { root, open, show, redraw() { open(run); show(t); } };
}

// Where rows fall along the weights: a histogram for each class, and where the decision is made.
export function projectionView(place) {
  const root = tag("div", { class: "view", hidden: "" }, place);
  const picture = panel(root, "Rows along the direction of the weights"), bars = shape("g", {}, picture.body);
  const cut = shape("path", { class: "threshold" }, picture.body), note = shape("text", { x: 70, y: 28, class: "empty" }, picture.svg);
  let run = null, t = 0;

  function show(at) {
    t = at;
    if (!run || root.hidden) return;
    const fine = run.binary && !run.story.grid && run.story.frames.norm[Math.min(t, run.T - 1)] > 0 && (run.story.features <= 2 || run.story.lift);
    bars.replaceChildren();
    cut.setAttribute("d", "");
    note.textContent = fine ? "" : "projections are drawn for two classes and weights that are not zero";
    if (!fine) return;
    const now = Math.min(t, run.T - 1), { codes } = run.story, plane = run.plane(now), length = Math.hypot(...plane.subarray(0, run.wide - 1));
    const places = Array.from({ length: run.n }, (_, k) => ((codes[k] === 1 ? 1 : -1) * run.lead(now, k)) / length);
    const low = Math.min(0, ...places), high = Math.max(0, ...places), room = 0.06 * (high - low || 1), count = Math.max(8, Math.min(30, Math.round(run.n / 3)));
    const each = (high - low + 2 * room) / count, heights = [new Array(count).fill(0), new Array(count).fill(0)];
    places.forEach((one, k) => { heights[codes[k]][Math.min(count - 1, Math.floor((one - low + room) / each))] += 1; });
    const most = Math.max(...heights[0], ...heights[1]);
    const scale = picture.frame([low - room, high + room, 0, 1.1 * most], ["signed distance along w", "rows"]);
    heights.forEach((list, code) => list.forEach((height, k) => {
      if (height) shape("rect", { x: scale.x(low - room + k * each), width: each * scale.across, y: scale.y(height), height: height * scale.up, fill: colourOf(code), class: "bars" }, bars);
    }));
    put(cut, { d: `M${scale.x(0)} ${scale.y(0)}V${scale.y(1.1 * most)}` });
    note.textContent = `Fisher's J(w) = ${brief(separation(places, codes))}`;
  }

  return { root, open(given) { run = given; }, show, redraw: () => show(t) };
}

// Fisher's criterion of projections: (m₁ − m₀)² / (s₀² + s₁²), with sums of squares.
function separation(places, codes) {
  const mean = [0, 1].map((code) => { const some = places.filter((_, k) => codes[k] === code); return some.reduce((sum, one) => sum + one, 0) / some.length; });
  const spread = places.reduce((sum, one, k) => sum + (one - mean[codes[k]]) ** 2, 0);
  return (mean[1] - mean[0]) ** 2 / (spread || 1e-300);
}
