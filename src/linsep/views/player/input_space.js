import { arrow, bit, bitsOf, canvas, chord, colourOf, cornersOf, cut, hide, markPath, outline, paleOf, put, shape, short } from "./drawing.js";

// Rows, regions, boundary, margin and what is wrong, at one moment of the run.
export function inputSpace(parent, story, onLight) {
  const picture = canvas(parent, story.box, story.axes, "Input space: the rows and the boundary");
  const { scale, body } = picture;
  const K = story.classes.length, binary = K === 2;
  const regions = story.classes.map((_, k) => shape("polygon", { fill: paleOf(k), class: "region" }, body));
  const band = shape("polygon", { class: "band" }, body);
  const edges = [-1, 1].map(() => shape("line", { class: "edge" }, body));
  const boundary = shape("line", { class: "boundary" }, body);
  const proof = shape("g", { class: "proof" }, body);
  const halos = shape("g", { class: "halos" }, body);
  const marks = shape("g", { class: "marks" }, body);
  const size = story.points.length > 300 ? 3.2 : story.points.length > 60 ? 4.4 : 6;
  const places = story.points.map(([x, y]) => [scale.x(x), scale.y(y)]);
  const rings = places.map(([cx, cy]) => shape("circle", { cx, cy, r: size + 4, class: "halo" }, halos));
  story.codes.forEach((code, k) => {
    const mark = shape("path", { d: markPath(code, ...places[k], size), fill: colourOf(code), class: "mark" }, marks);
    mark.addEventListener("pointerenter", () => onLight(k));
    mark.addEventListener("pointerleave", () => onLight(-1));
  });
  drawProof(proof, story, places, scale);
  const names = story.classes.map(() => shape("text", { class: "label", "text-anchor": "middle" }, body));
  if (!binary) names.forEach((name, k) => { name.textContent = short(story.classes[k]); });
  const lit = shape("circle", { r: size + 8, class: "ring" }, body);
  const current = shape("circle", { r: size + 7, class: "current" }, body);
  const normal = arrow(body, "normal");

  function light(k) {
    hide(lit, k < 0);
    if (k >= 0) put(lit, { cx: places[k][0], cy: places[k][1] });
  }

  function line(element, a, b, c) {
    const ends = chord(story.box, a, b, c);
    hide(element, !ends);
    if (ends) put(element, { x1: scale.x(ends[0][0]), y1: scale.y(ends[0][1]), x2: scale.x(ends[1][0]), y2: scale.y(ends[1][1]) });
    return ends;
  }

  function show(t, planes) {
    const level = story.frames.level[t];
    const plane = (k) => planes.slice(3 * k, 3 * k + 3);
    regions.forEach((region, k) => {
      let corners = cornersOf(story.box);
      if (binary) {
        const side = k === 1 ? plane(0) : plane(0).map((value) => -value);
        corners = cut(corners, ...side);
      } else {
        for (let j = 0; j < K; j++) {
          if (j !== k) corners = cut(corners, ...plane(k).map((value, i) => value - plane(j)[i]));
        }
      }
      region.setAttribute("points", outline(scale, corners));
      hide(names[k], binary || corners.length === 0);
      if (corners.length) put(names[k], { x: scale.x(mean(corners, 0)), y: scale.y(mean(corners, 1)) + 4 });
    });
    hide(boundary, true);
    hide(band, true);
    edges.forEach((edge) => hide(edge, true));
    normal(0, 0, 0, 0);
    if (binary) showBoundary(plane(0), level);
    const wrong = bitsOf(story.frames.wrong[t]);
    rings.forEach((ring, k) => hide(ring, !bit(wrong, k)));
    const at = story.frames.at[t];
    hide(current, at < 0);
    if (at >= 0) put(current, { cx: places[at][0], cy: places[at][1] });
  }

  function showBoundary([a, b, c], level) {
    const ends = line(boundary, a, b, c);
    if (level !== null && (a || b)) {
      line(edges[0], a, b, c - level);
      line(edges[1], a, b, c + level);
      const corners = cut(cut(cornersOf(story.box), a, b, c + level), -a, -b, level - c);
      band.setAttribute("points", outline(scale, corners));
      hide(band, false);
    }
    if (!ends) return;
    // At right angles to the line on the screen, towards the second class.
    const x = (scale.x(ends[0][0]) + scale.x(ends[1][0])) / 2, y = (scale.y(ends[0][1]) + scale.y(ends[1][1])) / 2;
    const u = a / scale.across, v = -b / scale.up, length = Math.hypot(u, v);
    normal(x, y, x + (46 * u) / length, y + (46 * v) / length);
  }

  light(-1);
  return { show, light, picture };
}

function mean(corners, axis) {
  return corners.reduce((sum, one) => sum + one[axis], 0) / corners.length;
}

// The rows that rule every separator out: those of one class, those of the other, where they meet.
// They meet where planes are free; those through the origin are ruled out without it.
function drawProof(group, story, places, scale) {
  const { rows, meet } = story.facts;
  [0, 1].forEach((code) => {
    const some = rows.filter((k) => story.codes[k] === code).map((k) => places[k]);
    if (meet && some.length > 1) {
      shape("polygon", { points: some.map((one) => one.join(",")).join(" "), class: "hull" }, group);
    }
  });
  rows.forEach((k) => shape("circle", { cx: places[k][0], cy: places[k][1], r: 10, class: "proofrow" }, group));
  if (meet) {
    const x = scale.x(meet[0]), y = scale.y(meet[1]);
    shape("path", { d: `M${x - 7} ${y - 7}L${x + 7} ${y + 7}M${x - 7} ${y + 7}L${x + 7} ${y - 7}`, class: "meet" }, group);
  }
}
