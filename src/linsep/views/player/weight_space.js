import { arrow, canvas, chord, colourOf, hide, markPath, outline, put, shape, short } from "./drawing.js";

const TICKED = 40; // so many lines can show their wrong side without hiding each other

// Each row is a line that forbids one side; what they all leave is the solution region.
export function weightSpace(parent, story, onLight) {
  const { weights, frames } = story;
  const picture = canvas(parent, weights.box, weights.names, "Weight space: a line for each row, and the path of the weights");
  const { scale, body } = picture;
  const region = shape("polygon", { class: "solution" }, body);
  const zero = shape("g", { class: "zero" }, body);
  shape("line", { x1: scale.x(weights.box[0]), x2: scale.x(weights.box[1]), y1: scale.y(0), y2: scale.y(0) }, zero);
  shape("line", { x1: scale.x(0), x2: scale.x(0), y1: scale.y(weights.box[2]), y2: scale.y(weights.box[3]) }, zero);
  const group = shape("g", { class: "constraints" }, body);
  const ticked = weights.lines.length <= TICKED;
  const lines = weights.lines.map((row, k) => {
    const code = story.codes[row];
    const line = shape("path", { stroke: colourOf(code), class: "constraint" }, group);
    const touch = shape("path", { class: "touch" }, group);
    touch.addEventListener("pointerenter", () => onLight(row));
    touch.addEventListener("pointerleave", () => onLight(-1));
    return { line, touch, k, row };
  });
  const planes = weights.path[0].length / 2;
  const colour = (k) => (planes === 1 ? "#111" : colourOf(k));
  const paths = Array.from({ length: planes }, (_, k) => shape("polyline", { class: "path", stroke: colour(k) }, body));
  const dots = Array.from({ length: planes }, (_, k) => shape("path", { class: "now", fill: colour(k) }, body));
  const names = Array.from({ length: planes }, () => shape("text", { class: "label" }, body));
  if (planes > 1) names.forEach((name, k) => { name.textContent = short(story.classes[k]); });
  const step = arrow(body, "step");
  const empty = shape("text", { x: 76, y: 30, class: "empty" }, picture.svg);
  let lit = -1;

  const at = (t, k) => [scale.x(weights.path[t][2 * k]), scale.y(weights.path[t][2 * k + 1])];

  function offset(t, k) {
    if (weights.moving === "no") return weights.C[k];
    return weights.moving === "together" ? weights.C[t] : weights.C[t][k];
  }

  function showLine({ line, touch, k, row }, t) {
    const A = weights.A[k], B = weights.B[k], C = offset(t, k), sign = weights.signs[k];
    const ends = chord(weights.box, A, B, C);
    hide(line, !ends);
    hide(touch, !ends);
    if (!ends) return;
    const [[x1, y1], [x2, y2]] = ends.map(([x, y]) => [scale.x(x), scale.y(y)]);
    let d = `M${x1} ${y1}L${x2} ${y2}`;
    touch.setAttribute("d", d);
    if (ticked || row === lit) d += ticks(x1, y1, x2, y2, -sign * A * scale.across, sign * B * scale.up);
    line.setAttribute("d", d);
    const [u, v] = weights.path[t];
    line.classList.toggle("violated", !(sign * (A * u + B * v + C) > 0));
    line.classList.toggle("lit", row === lit);
  }

  function show(t) {
    const shown = weights.regions && weights.regions[weights.regions.length > 1 ? t : 0];
    hide(region, !shown || shown.length === 0);
    if (shown) region.setAttribute("points", outline(scale, shown));
    empty.textContent = shown && shown.length === 0 ? "no weights of this view satisfy all rows" : "";
    lines.forEach((one) => showLine(one, t));
    for (let k = 0; k < planes; k++) {
      const from = Math.max(0, t - 400); // older steps would only be a knot
      const points = [];
      for (let s = from; s <= t; s++) points.push(at(s, k).map((value) => value.toFixed(1)).join(","));
      paths[k].setAttribute("points", points.join(" "));
      const [cx, cy] = at(t, k);
      put(dots[k], { d: markPath(planes === 1 ? 1 : k, cx, cy, 5) });
      put(names[k], { x: cx + 8, y: cy - 5 });
    }
    step(0, 0, 0, 0);
    if (t > 0 && planes === 1) step(...at(t - 1, 0), ...at(t, 0));
  }

  function light(row, t) {
    lit = row;
    lines.forEach((one) => showLine(one, t));
  }

  put(region, { "aria-hidden": "true" });
  return { show, light, picture, frames };
}

// Short strokes on the side that a line forbids; (u, v) points there, on the screen.
function ticks(x1, y1, x2, y2, u, v) {
  const length = Math.hypot(x2 - x1, y2 - y1), far = Math.hypot(u, v);
  if (!length || !far) return "";
  let d = "";
  for (let s = 12; s < length; s += 24) {
    const x = x1 + ((x2 - x1) * s) / length, y = y1 + ((y2 - y1) * s) / length;
    d += `M${x} ${y}l${(7 * u) / far} ${(7 * v) / far}`;
  }
  return d;
}
