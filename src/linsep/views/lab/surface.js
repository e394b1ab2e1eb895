import { brief, colourOf, extent, on, panel, put, roomy, shape, tag } from "./drawing.js";
import { contour } from "./curves.js";

const LOSSES = {
  "log loss": (z) => (z > -30 ? Math.log1p(Math.exp(-z)) : -z),
  "hinge loss": (z) => Math.max(0, 1 - z),
  "squared loss": (z) => (1 - z) ** 2,
  "perceptron loss": (z) => Math.max(0, -z),
};

// The mean loss as a function of w₁ and w₂, at the intercept of this step, and the path over it.
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

// Where rows fall along a direction: a histogram for each class, and where the decision is made.
// The direction is that of the weights, until it is turned by hand: by the handle in the input space, or the slider.
export function projectionView(place, rows) {
  const root = tag("div", { class: "view", hidden: "" }, place), plot = tag("div", { class: "plot" }, root);
  const picture = panel(plot, "Rows along the direction of the weights"), bars = shape("g", {}, picture.body);
  const cut = shape("path", { class: "threshold" }, picture.body), note = tag("p", { class: "about note" }, root);
  const line = tag("div", { class: "slide" }, root);
  tag("label", { for: "direction" }, line, "direction");
  const slider = tag("input", { id: "direction", type: "range", min: 0, max: 180, step: 0.5 }, line);
  const own = tag("button", { type: "button", id: "own-direction" }, line, "of the weights");
  const axis = shape("path", { class: "axis", visibility: "hidden" }, rows.picture.body);
  const handle = shape("circle", { r: 9, class: "handle", visibility: "hidden" }, rows.picture.svg);
  let run = null, t = 0, turned = null;
  on(slider, "input", () => { turned = (Number(slider.value) * Math.PI) / 180; show(t); });
  on(own, "click", () => { turned = null; show(t); });
  on(handle, "pointerdown", (event) => { handle.setPointerCapture(event.pointerId); event.stopPropagation(); event.preventDefault(); });
  on(handle, "pointermove", (event) => {
    if (!handle.hasPointerCapture(event.pointerId)) return;
    const box = rows.picture.svg.getBoundingClientRect(), { scale } = rows.picture, [x, y] = middle();
    turned = Math.atan2(scale.fromY(event.clientY - box.top) - y, scale.fromX(event.clientX - box.left) - x);
    show(t);
  });

  const middle = () => { const { points } = run.story, sum = [0, 0]; points.forEach((one, k) => { sum[k % 2] += one / run.n; }); return sum; };

  // A direction and a threshold in the plane of the two features.
  function direction(now) {
    const plane = run.plane(now);
    if (turned === null) { const length = Math.hypot(plane[0], plane[1]); return [plane[0] / length, plane[1] / length, -plane[2] / length]; }
    const [u, v] = [Math.cos(turned), Math.sin(turned)], { points, codes } = run.story, total = [0, 0], count = [0, 0];
    codes.forEach((code, k) => { total[code] += u * points[2 * k] + v * points[2 * k + 1]; count[code] += 1; });
    return [u, v, (total[0] / count[0] + total[1] / count[1]) / 2];
  }

  function hideAxis() {
    for (const one of [axis, handle]) one.setAttribute("visibility", "hidden");
  }

  function show(at) {
    t = at;
    if (root.hidden) { hideAxis(); return; }
    if (!run) return;
    const now = Math.min(t, run.T - 1), fine = run.binary && !run.story.grid && run.story.features === 2 && !run.story.lift && (turned !== null || run.story.frames.norm[now] > 0);
    bars.replaceChildren();
    cut.setAttribute("d", "");
    line.hidden = !fine;
    note.textContent = fine ? "" : "projections are drawn for two classes, two features, and weights that are not zero";
    if (!fine) { hideAxis(); return; }
    const { codes, points } = run.story, [u, v, threshold] = direction(now);
    const places = Array.from({ length: run.n }, (_, k) => u * points[2 * k] + v * points[2 * k + 1]);
    const low = Math.min(threshold, ...places), high = Math.max(threshold, ...places), room = 0.06 * (high - low || 1), count = Math.max(8, Math.min(30, Math.round(run.n / 3)));
    const each = (high - low + 2 * room) / count, heights = [new Array(count).fill(0), new Array(count).fill(0)];
    places.forEach((one, k) => { heights[codes[k]][Math.min(count - 1, Math.floor((one - low + room) / each))] += 1; });
    const most = Math.max(...heights[0], ...heights[1]);
    const scale = picture.frame([low - room, high + room, 0, 1.1 * most], ["place along the direction", "rows"]);
    heights.forEach((list, code) => list.forEach((height, k) => {
      if (height) shape("rect", { x: scale.x(low - room + k * each), width: each * scale.across, y: scale.y(height), height: height * scale.up, fill: colourOf(code), class: "bars" }, bars);
    }));
    put(cut, { d: `M${scale.x(threshold)} ${scale.y(0)}V${scale.y(1.1 * most)}` });
    note.textContent = `J = ${brief(separation(places, codes))} ${turned === null ? "along the weights" : "turned by hand"}; the largest is ${brief(best(points, codes))}`;
    if (document.activeElement !== slider) slider.value = String((((Math.atan2(v, u) * 180) / Math.PI) + 360) % 180);
    const screen = rows.picture.scale, [x, y] = middle(), far = 0.34 * Math.min((screen.box[1] - screen.box[0]), (screen.box[3] - screen.box[2]));
    const [x1, y1, x2, y2] = [screen.x(x - far * u), screen.y(y - far * v), screen.x(x + far * u), screen.y(y + far * v)];
    put(axis, { d: `M${x1} ${y1}L${x2} ${y2}`, visibility: "visible" });
    put(handle, { cx: x2, cy: y2, visibility: "visible" });
  }

  return { root, open(given) { if (!run || run.story.title !== given.story.title) turned = null; run = given; }, show, redraw: () => show(t), hide: hideAxis };
}

// Fisher's criterion of projections: (m₁ − m₀)² / (s₀² + s₁²), with sums of squares.
function separation(places, codes) {
  const mean = [0, 1].map((code) => { const some = places.filter((_, k) => codes[k] === code); return some.reduce((sum, one) => sum + one, 0) / some.length; });
  const spread = places.reduce((sum, one, k) => sum + (one - mean[codes[k]]) ** 2, 0);
  return (mean[1] - mean[0]) ** 2 / (spread || 1e-300);
}

// The largest it can be in the plane: (m₁ − m₀)ᵀ S⁻¹ (m₁ − m₀), with the scatter S within classes.
function best(points, codes) {
  const mean = [[0, 0], [0, 0]], count = [0, 0];
  codes.forEach((code, k) => { count[code] += 1; mean[code][0] += points[2 * k]; mean[code][1] += points[2 * k + 1]; });
  mean.forEach((one, code) => one.forEach((sum, i) => { one[i] = sum / count[code]; }));
  let a = 0, b = 0, c = 0;
  codes.forEach((code, k) => { const u = points[2 * k] - mean[code][0], v = points[2 * k + 1] - mean[code][1]; a += u * u; b += u * v; c += v * v; });
  const p = mean[1][0] - mean[0][0], q = mean[1][1] - mean[0][1];
  return (c * p * p - 2 * b * p * q + a * q * q) / (a * c - b * b);
}
