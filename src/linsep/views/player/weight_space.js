import { arrow, chord, colourOf, cornersOf, cut, extent, hide, markPath, on, outline, panel, pool, put, roomy, shape, short } from "./drawing.js";

const TICKED = 40; // so many lines can show their wrong side without hiding each other
const TAIL = 400; // steps of the path that are drawn; older ones would only be a knot

// Each row is a line that forbids one side; what they all leave is the solution region.
export function weightSpace(parent, onLight) {
  const picture = panel(parent, "Weight space: a line for each row, and the path of the weights"), { body } = picture;
  const regions = ["solution", "solution other"].map((name) => shape("polygon", { class: name }, body));
  const zero = shape("path", { class: "zero" }, body);
  const wall = shape("path", { class: "wall" }, body);
  // Lines of one look are one path: of each class those that are satisfied, above them those that are not.
  const strands = ["constraint", "constraint", "constraint violated", "constraint violated"].map((name, k) => shape("path", { class: name, stroke: colourOf(k % 2) }, body));
  const bright = shape("path", { class: "constraint lit" }, body);
  const loop = shape("polyline", { class: "loop" }, body);
  const pathsOf = pool(body, (group) => shape("polyline", { class: "path" }, group));
  const dotsOf = pool(body, (group) => shape("path", { class: "now" }, group));
  const namesOf = pool(body, (group) => shape("text", { class: "label" }, group));
  const step = arrow(body, "step");
  const empty = shape("text", { x: 70, y: 28, class: "empty" }, picture.svg);
  const slices = shape("text", { class: "slices" }, picture.svg);
  let runs = [], box = null, lit = -1, t = 0, drawn = [];
  on(picture.svg, "pointermove", (event) => { const row = under(event); if (row !== lit) onLight(row); });
  on(picture.svg, "pointerleave", () => onLight(-1));

  // The two numbers of the weights that are drawn: (w₁, w₂), or (w, b) of one feature.
  const flat = (run) => run.story.features === 1;
  const where = (run, s, k = 0) => { const plane = run.plane(s, k); return [plane[0], flat(run) ? plane[2] : plane[1]]; };

  // While a point is dragged the frame stays as long as the weights are well within it.
  function open(given, steady) {
    runs = given.filter((run) => run.T > 1 || !run.story.grid);
    picture.svg.classList.toggle("blank", !runs.length);
    drawn = [];
    if (!runs.length) { body.setAttribute("visibility", "hidden"); empty.textContent = "no plane of weights: the boundary is curved"; return; }
    body.removeAttribute("visibility");
    const seen = [0, 0];
    for (const run of runs) {
      for (let s = 0; s < run.T; s += Math.max(1, Math.floor(run.T / 2000))) for (let k = 0; k < run.K; k++) seen.push(...where(run, s, k));
      for (let k = 0; k < run.K; k++) seen.push(...where(run, run.T - 1, k));
    }
    const bounds = runs.flatMap(boundsOf);
    for (const [axis, value] of bounds) seen.push(...(axis ? [0, value] : [value, 0]));
    const around = extent(seen);
    if (!steady || !box || !holds(box, around)) box = roomy(around, 0.25, ...picture.size(), Infinity);
    const scale = picture.frame(box, runs[0].story.weights.names);
    put(zero, { d: `M${scale.x(box[0])} ${scale.y(0)}H${scale.x(box[1])}M${scale.x(0)} ${scale.y(box[2])}V${scale.y(box[3])}` });
    put(wall, { d: bounds.map((one) => wallOf(scale, one)).join("") });
  }

  // Bounds on weights that are drawn as they are: [axis, value, the way that is forbidden].
  function boundsOf(run) {
    const { walls, features, lift } = run.story, known = walls && (features <= 2 || lift) ? walls : [null, null];
    const axes = flat(run) ? [0] : [0, 1];
    return known.flatMap((value, side) => (value === null ? [] : axes.map((axis) => [axis, value, side ? 1 : -1])));
  }

  function wallOf(scale, [axis, value, way]) {
    const [left, right, low, high] = box, ends = axis ? [[left, value], [right, value]] : [[value, low], [value, high]];
    const [[x1, y1], [x2, y2]] = ends.map(([x, y]) => [scale.x(x), scale.y(y)]);
    return pathOf({ at: [x1, y1, x2, y2], away: axis ? [0, -way] : [way, 0] }, true);
  }

  // sᵢ(Aᵢu + Bᵢv + Cᵢ) > 0 places a row rightly; `k` is the place of the row among the lines.
  function constraint(run, row, k, s) {
    const { story } = run, plane = run.plane(s);
    const A = story.points[2 * row], y = story.points[2 * row + 1], sign = story.codes[row] === 1 ? 1 : -1;
    if (flat(run)) return { A, B: 1, C: 0, sign };
    if (story.weights.offsets) return { A, B: y, C: story.weights.offsets[s * story.weights.lines.length + k], sign };
    return { A, B: y, C: run.third ? plane[2] * run.third[row] + plane[3] : plane[2], sign };
  }

  function show(at) {
    t = at;
    if (!runs.length) return;
    const run = runs[0], now = Math.min(t, run.T - 1), { lines } = run.story.weights;
    const all = Array.from(lines, (row, k) => constraint(run, row, k, now)), missing = !drawRegion(regions[0], run);
    drawRegion(regions[1], runs[1]); // each has the slice at its own intercept
    empty.textContent = missing ? `no weights ${run.story.facts.separable === false ? "" : "in this picture "}put every row right` : "";
    const both = runs[1] && run.solvable() && !run.story.weights.exact;
    put(slices, { x: picture.scale.start + 6, y: picture.scale.height - 52 });
    slices.textContent = both ? `lines: at b of the first${run.story.facts.separable ? "; dashed: at b of the second" : ""}` : "";
    drawLines(all, lines, where(run, now));
    drawPaths();
  }

  // What all rows leave at the present weights of a run; whether there is any, where all rows are known.
  function drawRegion(region, run) {
    const complete = Boolean(run) && run.solvable(), now = run ? Math.min(t, run.T - 1) : 0;
    let corners = complete ? cornersOf(box) : [];
    for (let row = 0; complete && corners.length && row < run.n; row++) {
      const { A, B, C, sign } = constraint(run, row, row, now);
      corners = A || B ? cut(corners, sign * A, sign * B, sign * C) : sign * C > 0 ? corners : [];
    }
    hide(region, corners.length < 3);
    region.setAttribute("points", outline(picture.scale, corners));
    return !complete || corners.length > 2;
  }

  function drawLines(all, rows, [u, v]) {
    const { scale } = picture, parts = strands.map(() => []);
    drawn = [];
    all.forEach(({ A, B, C, sign }, k) => {
      const ends = chord(box, A, B, C);
      if (!ends) return;
      const [[x1, y1], [x2, y2]] = ends.map(([x, y]) => [scale.x(x), scale.y(y)]);
      const line = { row: rows[k], code: sign > 0 ? 1 : 0, at: [x1, y1, x2, y2], away: [-sign * A * scale.across, sign * B * scale.up] };
      drawn.push(line);
      parts[sign * (A * u + B * v + C) > 0 ? line.code : 2 + line.code].push(pathOf(line, all.length <= TICKED));
    });
    strands.forEach((one, k) => put(one, { d: parts[k].join("") }));
    brighten();
  }

  function brighten() {
    const line = drawn.find(({ row }) => row === lit);
    hide(bright, !line);
    if (line) put(bright, { d: pathOf(line, true), stroke: colourOf(line.code) });
  }

  // The row whose line is nearest to the pointer, if one is near.
  function under(event) {
    const frame = picture.svg.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
    let nearest = -1, least = 5;
    for (const { row, at: [x1, y1, x2, y2] } of drawn) {
      const far = Math.abs((x2 - x1) * (y1 - y) - (x1 - x) * (y2 - y1)) / Math.hypot(x2 - x1, y2 - y1);
      if (far < least) { least = far; nearest = row; }
    }
    return nearest;
  }

  function drawPaths() {
    const all = runs.flatMap((run, r) => Array.from({ length: run.K }, (_, k) => ({ run, r, k })));
    const paths = pathsOf(all.length), dots = dotsOf(all.length), names = namesOf(all.length), { scale } = picture;
    all.forEach(({ run, r, k }, i) => {
      const now = Math.min(t, run.T - 1), points = [];
      for (let s = Math.max(0, now - TAIL); s <= now; s++) { const [x, y] = where(run, s, k); points.push(`${scale.x(x).toFixed(1)},${scale.y(y).toFixed(1)}`); }
      const kind = r ? " other" : run.binary ? " own" : "";
      put(paths[i], { points: points.join(" "), class: `path${kind}` });
      paths[i].style.stroke = run.binary ? "" : colourOf(k);
      const [x, y] = where(run, now, k);
      put(dots[i], { d: markPath(run.binary ? 1 : k, scale.x(x), scale.y(y), 6), class: `now${kind}` });
      dots[i].style.fill = run.binary ? "" : colourOf(k);
      names[i].textContent = run.binary ? "" : short(run.story.classes[k]);
      const late = 4 * x > box[0] + 3 * box[1]; // towards the right edge, where a name has no room
      put(names[i], { x: scale.x(x) + (late ? -9 : 9), y: scale.y(y) - 6, "text-anchor": late ? "end" : "start" });
    });
    drawLoop(runs[0]);
    step(0, 0, 0, 0);
    const run = runs[0], now = Math.min(t, run.T - 1);
    if (now > 0 && run.binary) {
      const [a, b] = where(run, now - 1), [p, q] = where(run, now);
      step(scale.x(a), scale.y(b), scale.x(p), scale.y(q));
    }
  }

  // Where the weights go round for ever.
  function drawLoop(run) {
    const { cycle } = run.story, { scale } = picture, points = [];
    if (cycle && run.binary && t >= cycle.first) for (let s = cycle.first; s <= cycle.last; s++) { const [x, y] = where(run, s); points.push(`${scale.x(x).toFixed(1)},${scale.y(y).toFixed(1)}`); }
    loop.setAttribute("points", points.join(" "));
  }

  function light(row) {
    lit = row;
    brighten();
  }

  return { open, show, light, picture };
}

// Whether a box holds another, and not only as a speck.
function holds([left, right, low, high], [a, b, c, d]) {
  return a >= left && b <= right && c >= low && d <= high && 4 * Math.max((b - a) / (right - left), (d - c) / (high - low)) > 1;
}

function pathOf({ at: [x1, y1, x2, y2], away }, ticked) {
  return `M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}${ticked ? ticks(x1, y1, x2, y2, ...away) : ""}`;
}

// Short strokes on the side that a line forbids; (u, v) points there, on the screen.
function ticks(x1, y1, x2, y2, u, v) {
  const length = Math.hypot(x2 - x1, y2 - y1), far = Math.hypot(u, v);
  if (!length || !far) return "";
  let d = "";
  for (let s = 12; s < length; s += 24) {
    const x = x1 + ((x2 - x1) * s) / length, y = y1 + ((y2 - y1) * s) / length;
    d += `M${x.toFixed(1)} ${y.toFixed(1)}l${((7 * u) / far).toFixed(1)} ${((7 * v) / far).toFixed(1)}`;
  }
  return d;
}
