import { arrow, chord, colourOf, cornersOf, cut, extent, hide, markPath, on, outline, panel, pool, put, roomy, shape, short } from "./drawing.js";
import { contour, covering, ellipse } from "./curves.js";

// Rows, regions, boundaries, margin, what is wrong and what is proved, at one moment of one or two runs.
export function inputSpace(parent, onLight) {
  const picture = panel(parent, "Input space: the rows and the boundary"), { body } = picture;
  const layer = (name) => shape("g", { class: name }, body);
  const regionsOf = pool(layer("regions"), (group) => shape("path", { class: "region" }, group));
  const band = shape("path", { class: "band" }, body);
  const linesOf = pool(layer("boundaries"), (group) => shape("path", {}, group));
  const shapesOf = pool(layer("ellipses"), (group) => shape("path", { class: "ellipse" }, group));
  const proof = layer("proof"), [hulls, proofs, cross] = ["hull", "proofrow", "meet"].map((name) => shape("path", { class: name }, proof));
  const halos = layer("halos"), marks = layer("marks");
  const rings = shape("path", { class: "halo" }, halos), supports = ["support", "support other"].map((name) => shape("path", { class: name }, body));
  const namesOf = pool(layer("names"), (group) => shape("text", { class: "label", "text-anchor": "middle", "aria-hidden": "true" }, group));
  const marksOf = pool(marks, (group, k) => {
    const mark = shape("path", { class: "mark" }, group);
    mark.dataset.row = String(k);
    on(mark, "pointerenter", () => onLight(k));
    on(mark, "pointerleave", () => onLight(-1));
    return mark;
  });
  const lit = shape("circle", { class: "ring" }, body), current = shape("circle", { class: "current" }, body);
  const normal = arrow(body, "normal");
  let runs = [], t = 0, box = null, size = 6, lighted = -1, wrong = new Uint8Array(0), placed = "", drawn = [];
  const at = (k) => { const { points } = runs[0].story; return [picture.scale.x(points[2 * k]), picture.scale.y(points[2 * k + 1])]; };

  // A box stays while a point is dragged, so that nothing moves under the hand.
  function open(given, keepBox) {
    runs = given;
    const { story, n } = runs[0];
    if (!keepBox || !box) box = roomy(n ? extent(story.points) : [-1.5, 1.5, -1, 1], 0.16, ...picture.size());
    picture.frame(box, story.axes);
    size = (n > 300 ? 4 : n > 120 ? 5 : n > 30 ? 6 : 7.5) * Math.min(2, Math.max(1, Math.min(...picture.size()) / 700));
    place();
  }

  function place() {
    const { n } = runs[0], held = marksOf(n), { box: [left, right, low, high], width, height, start } = picture.scale;
    const key = [left, right, low, high, width, height, start, size].join();
    if (key !== placed) { placed = key; drawn = []; }
    for (let k = 0; k < n; k++) drawMark(held[k], k);
    drawProof();
    drawShapes();
  }

  // A mark that is where it was is left alone: of two thousand, one is under the hand.
  function drawMark(mark, k) {
    const { points, codes } = runs[0].story, known = drawn[k], x = points[2 * k], y = points[2 * k + 1];
    if (known && known[0] === x && known[1] === y && known[2] === codes[k]) return;
    drawn[k] = [x, y, codes[k]];
    put(mark, { d: markPath(codes[k], ...at(k), size), fill: colourOf(codes[k]) });
  }

  function show(at0) {
    t = at0;
    const run = runs[0], now = Math.min(t, run.T - 1), { story } = run;
    drawRegions(run, now);
    drawBoundaries(now);
    wrong = run.wrong(now);
    drawHalos();
    const row = story.frames.at[now];
    hide(current, row < 0);
    if (row >= 0) { const [cx, cy] = at(row); put(current, { cx, cy, r: size + 8 }); }
    supports.forEach((path, k) => drawRings(path, supportOf(runs[k]), 3.5 + 3 * k));
    light(lighted);
  }

  function supportOf(run) {
    const { model, rows } = run ? run.story : {};
    return run && t >= run.T - 1 && model && model.support && run.n === rows ? model.support : [];
  }

  // Circles around rows, all in one path.
  function drawRings(path, rows, room) {
    put(path, { d: rows.map((k) => markPath(1, ...at(k), size + room)).join("") });
  }

  function drawHalos() {
    drawRings(rings, [...wrong.keys()].filter((k) => wrong[k]), 5);
  }

  function drawRegions(run, now) {
    const { story } = run, count = story.classes.length, { scale } = picture;
    const texts = namesOf(run.binary ? 0 : count);
    let shapes;
    if (run.grid(now)) shapes = covering(scale, box, count, (x, y) => (story.grid.scores ? (gridScore(story.grid, x, y) >= 0 ? 1 : 0) : gridClass(story.grid, x, y)));
    else if (story.lift) shapes = covering(scale, box, count, (x, y) => run.classAt(now, x, y));
    else {
      shapes = story.classes.map((_, k) => {
        const corners = cellOf(run, now, k, box);
        if (!run.binary) nameRegion(texts[k], story.classes[k], corners);
        return corners.length ? `M${outline(scale, corners).replaceAll(" ", "L")}z` : "";
      });
    }
    regionsOf(count).slice(0, count).forEach((region, k) => put(region, { d: shapes[k], fill: colourOf(k) }));
  }

  // What is left of a box for a class: the corners of a polygon.
  function cellOf(run, now, k, within) {
    let corners = cornersOf(within);
    if (run.binary) return cut(corners, ...run.plane(now).map((value) => (k === 1 ? value : -value)));
    for (let j = 0; j < run.K; j++) if (j !== k) corners = cut(corners, ...run.plane(now, k).map((value, i) => value - run.plane(now, j)[i]));
    return corners;
  }

  function nameRegion(text, name, corners) {
    const area = corners.reduce((sum, [x, y], k) => { const [u, v] = corners[(k + 1) % corners.length]; return sum + (x * v - u * y) / 2; }, 0);
    const seen = 200 * Math.abs(area) > (box[1] - box[0]) * (box[3] - box[2]); // ties leave slivers
    hide(text, !seen);
    if (!seen) return;
    const mean = [0, 1].map((i) => corners.reduce((sum, one) => sum + one[i], 0) / corners.length);
    put(text, { x: picture.scale.x(mean[0]), y: picture.scale.y(mean[1]) });
    text.textContent = short(name);
  }

  function drawBoundaries(now) {
    const paths = [], { scale } = picture;
    hide(band, true);
    normal(0, 0, 0, 0);
    runs.forEach((run, k) => {
      const moment = Math.min(t, run.T - 1), other = k ? " other" : "";
      if (run.grid(moment)) paths.push([contourOfGrid(run.story.grid), `boundary${other}`]);
      else if (run.story.lift && run.binary) paths.push([contour(scale, box, (x, y) => run.value(run.plane(moment), x, y)), `boundary${other}`]);
      else if (run.binary) straight(run, moment, k, paths);
      else if (k) paths.push([contourOfClasses(run, moment), "boundary other"]);
    });
    const held = linesOf(paths.length);
    paths.forEach(([d, name], k) => put(held[k], { d, class: name }));
  }

  function straight(run, moment, k, paths) {
    const [a, b, c] = run.plane(moment), level = run.level(moment), { scale } = picture;
    const line = (ends) => (ends ? `M${ends.map(([x, y]) => `${scale.x(x)} ${scale.y(y)}`).join("L")}` : "");
    const ends = chord(box, a, b, c);
    paths.push([line(ends), k ? "boundary other" : "boundary"]);
    const edges = level !== null && (a || b);
    if (edges) for (const side of [-level, level]) paths.push([line(chord(box, a, b, c + side)), k ? "edge other" : "edge"]);
    if (k) return;
    if (edges) {
      const corners = cut(cut(cornersOf(box), a, b, c + level), -a, -b, level - c);
      put(band, { d: corners.length ? `M${outline(scale, corners).replaceAll(" ", "L")}z` : "" });
      hide(band, false);
    }
    if (!ends) return;
    // At right angles to the line on the screen, towards the second class.
    const x = (scale.x(ends[0][0]) + scale.x(ends[1][0])) / 2, y = (scale.y(ends[0][1]) + scale.y(ends[1][1])) / 2;
    const u = a / scale.across, v = -b / scale.up, length = Math.hypot(u, v);
    normal(x, y, x + (46 * u) / length, y + (46 * v) / length);
  }

  function gridClass(grid, x, y) {
    const [left, right, low, high] = grid.box, down = grid.codes.length / grid.across;
    const i = Math.round(((x - left) / (right - left)) * (grid.across - 1)), j = Math.round(((y - low) / (high - low)) * (down - 1));
    return grid.codes[Math.min(down - 1, Math.max(0, j)) * grid.across + Math.min(grid.across - 1, Math.max(0, i))];
  }

  // Between four places of the grid the score is taken to change evenly.
  function gridScore(grid, x, y) {
    const [left, right, low, high] = grid.box, wide = grid.across, down = grid.codes.length / wide;
    const u = Math.min(wide - 1.001, Math.max(0, ((x - left) / (right - left)) * (wide - 1))), v = Math.min(down - 1.001, Math.max(0, ((y - low) / (high - low)) * (down - 1)));
    const i = Math.floor(u), j = Math.floor(v), at0 = j * wide + i, s = grid.scores, p = u - i, q = v - j;
    return (1 - q) * ((1 - p) * s[at0] + p * s[at0 + 1]) + q * ((1 - p) * s[at0 + wide] + p * s[at0 + wide + 1]);
  }

  function contourOfGrid(grid) {
    if (grid.scores) return contour(picture.scale, box, (x, y) => gridScore(grid, x, y));
    return contour(picture.scale, box, (x, y) => (gridClass(grid, x, y) ? 1 : -1));
  }

  // Outlines of the classes; those along the frame are outside of it.
  function contourOfClasses(run, moment) {
    if (run.story.lift) return run.story.classes.map((_, k) => contour(picture.scale, box, (x, y) => (run.classAt(moment, x, y) === k ? 1 : -1))).join("");
    const [left, right, low, high] = box, x = (right - left) / 20, y = (high - low) / 20;
    return run.story.classes.map((_, k) => cellOf(run, moment, k, [left - x, right + x, low - y, high + y])).filter((some) => some.length).map((some) => `M${outline(picture.scale, some).replaceAll(" ", "L")}z`).join("");
  }

  // The rows that rule every separator out: those of one class, those of the other, where they meet.
  function drawProof() {
    const { facts, codes, lift } = runs[0].story, { scale } = picture, meet = lift ? null : facts.meet;
    const corners = (code) => facts.rows.filter((k) => codes[k] === code).map((k) => at(k).join(" "));
    const sides = meet ? [0, 1].map(corners).filter((some) => some.length > 1) : [];
    put(hulls, { d: sides.map((some) => `M${some.join("L")}z`).join("") });
    drawRings(proofs, facts.rows, 6);
    const [x, y] = meet ? [scale.x(meet[0]), scale.y(meet[1])] : [0, 0];
    put(cross, { d: meet ? `M${x - 8} ${y - 8}L${x + 8} ${y + 8}M${x - 8} ${y + 8}L${x + 8} ${y - 8}` : "" });
  }

  function drawShapes() {
    const paths = runs.flatMap(({ story: { geometry } }, r) => (geometry ? geometry.means.map((mean, k) => ({ d: ellipse(picture.scale, mean, geometry.covariance), stroke: colourOf(k), class: r ? "ellipse other" : "ellipse" })) : []));
    shapesOf(paths.length).slice(0, paths.length).forEach((one, k) => put(one, paths[k]));
  }

  function light(k) {
    lighted = k;
    hide(lit, k < 0 || k >= (runs[0] ? runs[0].n : 0));
    if (k >= 0 && runs[0] && k < runs[0].n) { const [cx, cy] = at(k); put(lit, { cx, cy, r: size + 9 }); }
  }

  // The row that is looked at.
  function look(k) {
    const [cx, cy] = at(k);
    hide(current, false);
    put(current, { cx, cy, r: size + 8 });
  }

  // A row under the hand is where the hand is; what follows from it comes with the next answer.
  function move(k, x, y) {
    for (const { story } of runs) { story.points[2 * k] = x; story.points[2 * k + 1] = y; }
    drawMark(marksOf(runs[0].n)[k], k);
    if (wrong[k]) drawHalos();
    light(lighted);
  }

  // A boundary on its way from one frame to the next.
  function between(before, after, share) {
    const run = runs[0];
    if (!run.binary || run.story.lift || run.story.grid) return;
    const a = run.plane(Math.min(before, run.T - 1)), b = run.plane(Math.min(after, run.T - 1));
    const [p, q, r] = a.map((value, k) => value + share * (b[k] - value));
    const ends = chord(box, p, q, r), { scale } = picture;
    put(linesOf(1)[0], { d: ends ? `M${ends.map(([x, y]) => `${scale.x(x)} ${scale.y(y)}`).join("L")}` : "" });
  }

  return { open, show, light, look, move, between, picture, box: () => box, marks: () => marks.querySelectorAll(".mark:not([visibility=hidden])") };
}
