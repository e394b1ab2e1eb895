import { arrow, chord, colourOf, cornersOf, cut, extent, hide, markPath, outline, panel, pool, put, roomy, shape, short } from "./drawing.js";

const TICKED = 40; // so many lines can show their wrong side without hiding each other
const TAIL = 400; // steps of the path that are drawn; older ones would only be a knot

// Each row is a line that forbids one side; what they all leave is the solution region.
export function weightSpace(parent, onLight) {
  const picture = panel(parent, "Weight space: a line for each row, and the path of the weights"), { body } = picture;
  const region = shape("polygon", { class: "solution" }, body);
  const zero = shape("path", { class: "zero" }, body);
  const linesOf = pool(shape("g", { class: "constraints" }, body), (group, k) => {
    const element = shape("g", {}, group), line = shape("path", { class: "constraint" }, element);
    const touch = shape("path", { class: "touch" }, element);
    touch.addEventListener("pointerenter", () => onLight(runs[0].story.weights.lines[k]));
    touch.addEventListener("pointerleave", () => onLight(-1));
    return { element, line, touch };
  });
  const loop = shape("polyline", { class: "loop" }, body);
  const pathsOf = pool(body, (group) => shape("polyline", { class: "path" }, group));
  const dotsOf = pool(body, (group) => shape("path", { class: "now" }, group));
  const namesOf = pool(body, (group) => shape("text", { class: "label" }, group));
  const step = arrow(body, "step");
  const empty = shape("text", { x: 70, y: 28, class: "empty" }, picture.svg);
  let runs = [], box = null, lit = -1, t = 0;

  // The two numbers of the weights that are drawn: (w₁, w₂), or (w, b) of one feature.
  const flat = (run) => run.story.features === 1;
  const where = (run, s, k = 0) => { const plane = run.plane(s, k); return [plane[0], flat(run) ? plane[2] : plane[1]]; };

  function open(given) {
    runs = given.filter((run) => run.T > 1 || !run.story.grid);
    picture.svg.classList.toggle("blank", !runs.length);
    if (!runs.length) { body.setAttribute("visibility", "hidden"); empty.textContent = "no plane of weights: the boundary is curved"; return; }
    body.removeAttribute("visibility");
    const seen = [0, 0];
    for (const run of runs) {
      for (let s = 0; s < run.T; s += Math.max(1, Math.floor(run.T / 2000))) for (let k = 0; k < run.K; k++) seen.push(...where(run, s, k));
      for (let k = 0; k < run.K; k++) seen.push(...where(run, run.T - 1, k));
    }
    box = roomy(extent(seen), 0.25, ...picture.size(), Infinity);
    const scale = picture.frame(box, runs[0].story.weights.names);
    put(zero, { d: `M${scale.x(box[0])} ${scale.y(0)}H${scale.x(box[1])}M${scale.x(0)} ${scale.y(box[2])}V${scale.y(box[3])}` });
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
    const all = Array.from(lines, (row, k) => constraint(run, row, k, now));
    drawRegion(run, now, all);
    const ticked = lines.length <= TICKED, held = linesOf(lines.length), [u, v] = where(run, now);
    all.forEach((one, k) => drawLine(held[k], one, lines[k], ticked, !(one.sign * (one.A * u + one.B * v + one.C) > 0)));
    drawPaths();
  }

  function drawRegion(run, now, lined) {
    const { story } = run, told = run.binary && run.n === story.rows && (!story.weights.offsets || lined.length === run.n);
    const all = story.weights.offsets ? lined : Array.from({ length: told ? run.n : 0 }, (_, row) => constraint(run, row, 0, now));
    let corners = told ? cornersOf(box) : [];
    for (const { A, B, C, sign } of all) {
      if (!corners.length) break;
      corners = A || B ? cut(corners, sign * A, sign * B, sign * C) : sign * C > 0 ? corners : [];
    }
    hide(region, corners.length < 3);
    region.setAttribute("points", outline(picture.scale, corners));
    empty.textContent = told && corners.length < 3 ? "no weights of this view satisfy all rows" : "";
  }

  function drawLine({ line, touch }, { A, B, C, sign }, row, ticked, violated) {
    const ends = chord(box, A, B, C), { scale } = picture;
    hide(line, !ends);
    hide(touch, !ends);
    if (!ends) return;
    const [[x1, y1], [x2, y2]] = ends.map(([x, y]) => [scale.x(x), scale.y(y)]);
    let d = `M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}`;
    touch.setAttribute("d", d);
    if (ticked || row === lit) d += ticks(x1, y1, x2, y2, -sign * A * scale.across, sign * B * scale.up);
    put(line, { d, stroke: colourOf(runs[0].story.codes[row]), class: `constraint${violated ? " violated" : ""}${row === lit ? " lit" : ""}` });
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
      put(names[i], { x: scale.x(x) + 9, y: scale.y(y) - 6 });
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
    if (runs.length) show(t);
  }

  return { open, show, light, picture };
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
