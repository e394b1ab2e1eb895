import { colourOf, put, shape, tag } from "./drawing.js";
import { seen, turning } from "./turning.js";

const TRAIL = 400; // steps of the path that are drawn

// All directions of (w₁, w₂, b) at once: a row is a great circle, the separators are a patch of the sphere.
export function sphereView(place) {
  const root = tag("div", { class: "view", hidden: "" }, place);
  const svg = shape("svg", { class: "picture", role: "img", "aria-label": "Directions of (w₁, w₂, b) on a sphere: drag or use the arrows to turn" }, root);
  const note = tag("p", { class: "about note" }, root);
  let run = null, t = 0, patch = [], circles = [];
  const eye = turning(svg, 0.6, 0.4, draw);
  const fits = () => run && run.binary && run.story.features === 2 && !run.story.lift && !run.story.grid;

  function open(given) {
    const fresh = !run || run.story !== given.story;
    run = given;
    if (!fits() || !fresh) return;
    const { points, codes, weights, facts } = run.story;
    const normals = Array.from(codes, (code, k) => unit([points[2 * k], points[2 * k + 1], 1].map((one) => (code === 1 ? one : -one))));
    circles = Array.from(weights.lines, (k) => [colourOf(codes[k]), ring(normals[k])]);
    patch = facts.separable && run.n === run.story.rows ? corners(normals) : [];
    const last = direction(run.T - 1);
    if (last) { eye.yaw = Math.atan2(-last[0], -last[1]) + 0.3; eye.pitch = Math.atan2(last[2], Math.hypot(last[0], last[1])); }
  }

  function direction(s) {
    const [a, b, c] = run.plane(s), length = Math.hypot(a, b, c);
    return length ? [a / length, b / length, c / length] : null;
  }

  function draw() {
    if (!run || root.hidden || root.clientHeight < 60) return; // nothing is seen
    const width = root.clientWidth, height = root.clientHeight, size = 0.46 * Math.min(width, height - 56);
    put(svg, { viewBox: `0 0 ${width} ${height}` });
    svg.replaceChildren();
    note.textContent = fits() ? "a circle for each row; separators shaded" : "the sphere is drawn for two classes, two features and an intercept";
    if (!fits()) return;
    const at = (v) => { const [a, b, c] = seen(v, eye); return [width / 2 + size * a, height / 2 - size * b + 20, c]; };
    shape("circle", { cx: width / 2, cy: height / 2 + 20, r: size, class: "ground" }, svg);
    for (const [colour, points] of circles) {
      const both = curve(points, at);
      shape("path", { d: both.back, stroke: colour, class: "circle behind" }, svg);
      shape("path", { d: both.front, stroke: colour, class: "circle" }, svg);
    }
    if (patch.length > 2) {
      const edge = patch.flatMap((one, k) => arc(one, patch[(k + 1) % patch.length])).map(at);
      const front = edge.reduce((sum, one) => sum + one[2], 0) > 0;
      shape("path", { d: `M${edge.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}z`, class: `solution${front ? "" : " behind"}` }, svg);
    }
    const now = Math.min(t, run.T - 1), steps = [];
    for (let s = Math.max(0, now - TRAIL); s <= now; s++) { const one = direction(s); if (one) steps.push(...(steps.length ? arc(steps[steps.length - 1], one) : []), one); }
    const both = curve(steps, at);
    shape("path", { d: both.back, class: "path own behind" }, svg);
    shape("path", { d: both.front, class: "path own" }, svg);
    const here = direction(now);
    if (here) { const [cx, cy, depth] = at(here); shape("circle", { cx, cy, r: 6, class: `now own${depth < 0 ? " behind" : ""}` }, svg); }
    for (const [name, axis] of [["w₁", [1, 0, 0]], ["w₂", [0, 1, 0]], ["b", [0, 0, 1]]]) {
      const [x, y, depth] = at(axis.map((one) => 1.04 * one));
      shape("text", { x, y, class: `label${depth < 0 ? " behind" : ""}`, "text-anchor": "middle" }, svg).textContent = name;
    }
  }

  return { root, open(given) { open(given); draw(); }, show(at) { t = at; draw(); }, redraw: draw, corners: () => patch };
}

const cross = (u, v) => [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
const dot = (u, v) => u[0] * v[0] + u[1] * v[1] + u[2] * v[2];

function unit(v) {
  const length = Math.hypot(...v) || 1;
  return v.map((one) => one / length);
}

// A closed curve in two parts: what faces the eye, and what is behind.
function curve(points, at) {
  const arcs = { front: "", back: "" };
  let side = "";
  points.map(at).forEach(([x, y, depth], k, all) => {
    const next = depth >= 0 ? "front" : "back", place = `${x.toFixed(1)} ${y.toFixed(1)}`;
    if (next === side) arcs[next] += `L${place}`;
    else arcs[next] += k && all[k - 1] ? `M${all[k - 1][0].toFixed(1)} ${all[k - 1][1].toFixed(1)}L${place}` : `M${place}`;
    side = next;
  });
  return arcs;
}

function ring(normal) {
  const u = unit(cross(normal, Math.abs(normal[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0])), v = cross(normal, u);
  return Array.from({ length: 65 }, (_, k) => { const a = (2 * Math.PI * k) / 64; return u.map((one, i) => Math.cos(a) * one + Math.sin(a) * v[i]); });
}

// Points between two directions, on the sphere.
function arc(from, to) {
  return Array.from({ length: 10 }, (_, k) => unit(from.map((one, i) => one + ((to[i] - one) * k) / 10)));
}

// The corners of what all rows allow: where two circles cross and no row forbids, in a circle.
function corners(normals) {
  const corners = [], allows = (v) => normals.every((one) => dot(one, v) > -1e-9);
  for (let i = 0; i < normals.length; i++) {
    for (let j = 0; j < i; j++) {
      const v = cross(normals[i], normals[j]), length = Math.hypot(...v);
      if (length < 1e-12) continue;
      for (const sign of [1, -1]) { const one = v.map((part) => (sign * part) / length); if (allows(one) && !corners.some((other) => dot(one, other) > 1 - 1e-12)) corners.push(one); }
    }
  }
  if (corners.length < 3) return corners;
  const middle = unit([0, 1, 2].map((k) => corners.reduce((sum, one) => sum + one[k], 0))), u = unit(cross(middle, Math.abs(middle[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0])), v = cross(middle, u);
  return corners.map((one) => [Math.atan2(dot(one, v), dot(one, u)), one]).sort((a, b) => a[0] - b[0]).map(([, one]) => one);
}
