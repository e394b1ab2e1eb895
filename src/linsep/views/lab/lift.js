import { contour } from "./curves.js";
import { colourOf, markPath, on, put, shape, tag } from "./drawing.js";
import { raise } from "./run.js";
import { turning } from "./turning.js";

// Two features raised to three: points at their height, the plane that was trained there, and its shadow.
export function liftView(place) {
  const root = tag("div", { class: "view", hidden: "" }, place);
  const svg = shape("svg", { class: "picture", role: "img", "aria-label": "Three dimensions: drag or use the arrows to turn" }, root);
  const line = tag("div", { class: "slide" }, root);
  tag("label", { for: "height" }, line, "height");
  const slider = tag("input", { id: "height", type: "range", min: 0, max: 100, value: 100 }, line);
  let run = null, t = 0;
  const eye = turning(svg, 0.6, 0.5, draw);
  on(slider, "input", draw);

  function draw() {
    if (!run || root.hidden) return;
    const { story } = run, width = root.clientWidth, height = root.clientHeight, share = Number(slider.value) / 100;
    put(svg, { viewBox: `0 0 ${width} ${height}` });
    svg.replaceChildren();
    const xy = (k) => [story.points[2 * k], story.points[2 * k + 1]], z = Array.from({ length: run.n }, (_, k) => raise(story.lift, ...xy(k)));
    const box = bounds(story.points, z), project = projection(box, eye, width, height, share);
    const flat = (...one) => project(...one).slice(0, 2);
    const polygon = (corners, name) => shape("polygon", { points: corners.map((one) => flat(...one)).join(" "), class: name }, svg);
    const [[x0, x1], [y0, y1], [z0, z1]] = box;
    polygon([[x0, y0, z0], [x1, y0, z0], [x1, y1, z0], [x0, y1, z0]], "ground");
    shape("path", { d: `M${flat(x0, y0, z0)}L${flat(x0, y0, z1)}`, class: "stem" }, svg);
    const places = z.map((height0, k) => ({ k, low: flat(...xy(k), z0), at: project(...xy(k), height0) }));
    places.forEach(({ low, at }) => shape("path", { d: `M${low}L${at[0]} ${at[1]}`, class: "stem" }, svg));
    const now = Math.min(t, run.T - 1);
    if (run.binary) {
      const plane = run.plane(now), [a, b, c, d] = plane, corners = slice(plane, box);
      const [u, v] = flat(x0, y0, z0), [p, q] = flat(x1, y0, z0), [r, s] = flat(x0, y1, z0), across = 200 / (x1 - x0), up = 200 / (y1 - y0);
      const shadow = contour({ across, up, x: (x) => across * (x - x0), y: (y) => up * (y - y0) }, [x0, x1, y0, y1], (x, y) => a * x + b * y + c * raise(story.lift, x, y) + d);
      shape("path", { d: shadow, class: "curve", transform: `matrix(${[p - u, q - v, r - u, s - v].map((part) => part / 200)} ${u} ${v})` }, svg);
      if (share > 0.02 && corners.length > 2) polygon(corners, "raised");
    }
    const wrong = run.wrong(now);
    places.sort((a, b) => a.at[2] - b.at[2]).forEach(({ k, at }) => {
      if (wrong[k]) shape("circle", { cx: at[0], cy: at[1], r: 10, class: "halo" }, svg);
      shape("path", { d: markPath(story.codes[k], at[0], at[1], 6), fill: colourOf(story.codes[k]), class: "mark" }, svg);
    });
    const names = [["x₁", (x0 + x1) / 2, y0, z0], ["x₂", x1, (y0 + y1) / 2, z0], [story.lift === "product" ? "x₁·x₂" : "x₁² + x₂²", x0, y0, share * z1 + (1 - share) * z0]];
    for (const [name, ...at] of names) { const [px, py] = project(...at); shape("text", { x: px, y: py + (name.length > 2 ? -4 : 18), class: "label", "text-anchor": "middle" }, svg).textContent = name; }
  }

  return {
    root,
    open(given) { run = given; draw(); },
    show(at) { t = at; draw(); },
    redraw: draw,
  };
}

function bounds(points, z) {
  const of = (values) => { const low = Math.min(...values), high = Math.max(...values), room = 0.15 * (high - low || 1); return [low - room, high + room]; };
  const some = Array.from(points);
  return [of(some.filter((_, k) => k % 2 === 0)), of(some.filter((_, k) => k % 2)), of(z)];
}

function projection([[x0, x1], [y0, y1], [z0, z1]], { yaw, pitch }, width, height, share) {
  const size = 0.52 * Math.min(0.9 * width, height - 40);
  return (x, y, z) => {
    const u = (2 * (x - x0)) / (x1 - x0) - 1, v = (2 * (y - y0)) / (y1 - y0) - 1, w = share * (1.6 * (z - z0)) / (z1 - z0) - 0.6;
    const a = u * Math.cos(yaw) - v * Math.sin(yaw), b = u * Math.sin(yaw) + v * Math.cos(yaw);
    return [width / 2 + size * a * 0.72, height / 2 - 10 - size * 0.72 * (b * Math.sin(pitch) + w * Math.cos(pitch)), -b];
  };
}

// Where a plane meets a box: corners in a circle.
function slice([a, b, c, d], [xs, ys, zs]) {
  const value = (p) => a * p[0] + b * p[1] + c * p[2] + d, crossings = [];
  const corners = xs.flatMap((x) => ys.flatMap((y) => zs.map((z) => [x, y, z])));
  corners.forEach((one, i) => corners.forEach((two, j) => {
    if (j <= i || one.filter((part, k) => part !== two[k]).length !== 1) return;
    const s = value(one), r = value(two);
    if (s > 0 !== r > 0) crossings.push(one.map((part, k) => part + ((two[k] - part) * s) / (s - r)));
  }));
  if (crossings.length < 3) return [];
  const span = [xs, ys, zs].map(([low, high]) => high - low || 1);
  const scaled = crossings.map((p) => p.map((part, k) => part / span[k]));
  const mean = [0, 1, 2].map((k) => scaled.reduce((total, p) => total + p[k], 0) / scaled.length);
  const n = [a * span[0], b * span[1], c * span[2]], u = scaled[0].map((part, k) => part - mean[k]); // lengths do not change the order
  const v = [n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]];
  const dot = (p, q) => p.reduce((total, part, k) => total + part * q[k], 0);
  const angle = (p) => { const from = p.map((part, k) => part - mean[k]); return Math.atan2(dot(from, v), dot(from, u)); };
  return crossings.map((p, k) => [p, angle(scaled[k])]).sort((p, q) => p[1] - q[1]).map(([p]) => p);
}
