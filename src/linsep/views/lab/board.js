import { colourOf, markPath, on, put, shape, steps, tag } from "./drawing.js";

const LETTERS = "ABCDEF";
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const FINGER = 24, STILL = 8; // pixels: how near a finger takes a point, how far it may move and still tap
// Moves as the hand makes them, where the browser tells them, and not only once a frame.
const MOVES = "onpointerrawupdate" in window ? "pointerrawupdate" : "pointermove";

// Points on the picture of the input space: placed, moved, painted and deleted, by pointer, touch and keys.
export function board(stage, head, actions, most, classes) {
  const { picture } = stage.rows, { svg } = picture;
  const tools = tag("div", { class: "tools", role: "toolbar", "aria-label": "Points" }, head);
  let code = 0, brush = false, snap = false, dragged = -1, painted = null, tapped = null, editable = true;
  let stop = 0, taken = false, awaited = false; // the point that Tab reaches; whether arrows move it; whether it is to be drawn yet
  const swatches = [];
  const press = (sign, title, action, more = {}) => {
    const made = tag("button", { type: "button", title, ...more }, tools, sign);
    on(made, "click", action);
    return made;
  };
  tag("span", { class: "pick" }, tools, "Add class");
  for (let k = 0; k < classes; k++) {
    const name = `Add points of class ${LETTERS[k]} (${LETTERS[k]})`;
    const button = press("", name, () => choose(k), { class: "swatch", "data-code": k });
    shape("path", { d: markPath(k, 9, 9, 6), fill: colourOf(k) }, shape("svg", { viewBox: "0 0 18 18", "aria-hidden": "true" }, button));
    button.append(LETTERS[k]);
    swatches.push(button);
  }
  const undo = press("Undo", "Undo (Z)", actions.undo), redo = press("Redo", "Redo (Y)", actions.redo);
  press("Clear", "Clear: delete all points", () => actions.change([], true));
  const brushing = press("Brush", "Brush: paint many points", () => { brush = !brush; mark(); }, { class: "extra" });
  const snapping = press("Snap", "Snap to the grid", () => { snap = !snap; mark(); }, { class: "extra" });

  function choose(k) {
    code = k;
    mark();
  }

  function mark() {
    const used = actions.points().reduce((largest, one) => Math.max(largest, one[2]), 2);
    swatches.forEach((one, k) => { put(one, { "aria-pressed": k === code }); one.classList.toggle("extra", k > Math.max(used, code)); });
    put(brushing, { "aria-pressed": brush });
    put(snapping, { "aria-pressed": snap });
  }

  function ways([back, on]) {
    undo.disabled = !back;
    redo.disabled = !on;
  }

  // Names and places in the order of the keyboard; called whenever points were drawn anew.
  function dress(points, names) {
    put(svg, { role: editable ? "group" : "img" });
    svg.parentElement.classList.toggle("editable", editable);
    tools.hidden = !editable;
    stop = Math.max(0, Math.min(stop, points.length - 1));
    if (editable && !points.length) put(svg, { tabindex: 0 });
    else svg.removeAttribute("tabindex");
    stage.rows.marks().forEach((one, k) => {
      if (!editable || !points[k]) { for (const name of ["tabindex", "role", "aria-label"]) one.removeAttribute(name); return; }
      const [x, y, kind] = points[k];
      put(one, { tabindex: k === stop ? 0 : -1, role: "button", "aria-label": `Point ${k} at ${x}, ${y}, class ${names[kind] ?? LETTERS[kind]}` });
    });
    mark();
    if (awaited) focusOn(stop, taken);
  }

  // Where the picture is on the screen, measured once while it stays: measuring lays the page out.
  let box = null;
  new ResizeObserver(() => { box = null; }).observe(svg);
  on(document, "scroll", () => { box = null; }, { capture: true, passive: true });

  function under(event) {
    if (dragged < 0 || !box) box = svg.getBoundingClientRect();
    return [picture.scale.fromX(event.clientX - box.left), picture.scale.fromY(event.clientY - box.top)];
  }

  // As many digits as can be seen, so that addresses stay short; or a point of the grid.
  function tidy(value, low, high) {
    const inside = Math.min(high, Math.max(low, value));
    if (snap) {
      const ticks = steps(low, high), each = ticks.length > 1 ? (ticks[1] - ticks[0]) / 2 : 1;
      return Number((Math.round(inside / each) * each).toPrecision(12)) + 0;
    }
    const digits = Math.min(12, Math.max(0, 2 - Math.floor(Math.log10(high - low))));
    return Number(inside.toFixed(digits)) + 0;
  }

  function place(x, y) {
    const [left, right, low, high] = picture.scale.box;
    return [tidy(x, left, right), tidy(y, low, high)];
  }

  function inside([x, y]) {
    const [left, right, low, high] = picture.scale.box;
    return x >= left && x <= right && y >= low && y <= high;
  }

  // The point under the pointer; a finger takes the nearest.
  function hit(event) {
    const mark = event.target.closest(".mark");
    if (mark) return Number(mark.dataset.row);
    return event.pointerType === "touch" ? nearest(event) : -1;
  }

  function nearest({ clientX, clientY }) {
    const { left, top } = svg.getBoundingClientRect(), { scale } = picture;
    let found = -1, least = FINGER;
    actions.points().forEach(([x, y], k) => {
      const far = Math.hypot(scale.x(x) + left - clientX, scale.y(y) + top - clientY);
      if (far < least) { least = far; found = k; }
    });
    return found;
  }

  function add(where, keep = true) {
    const points = actions.points();
    if (points.length >= most) { actions.say(`There are ${most} points already; delete some first.`); return false; }
    actions.change([...points, [...place(...where), code]], keep);
    return true;
  }

  function remove(k) {
    actions.change(actions.points().filter((_, j) => j !== k), true);
  }

  const changed = (k, one) => actions.points().map((known, j) => (j === k ? one : known));

  // A finger on a point or with the brush draws; elsewhere it scrolls the page, and only a tap adds a point.
  on(svg, "touchstart", (event) => {
    if (editable && event.touches.length === 1 && (brush || nearest(event.touches[0]) >= 0)) event.preventDefault();
  }, { passive: false });
  on(svg, "pointerdown", (event) => {
    if (!editable || event.button !== 0) return;
    const where = under(event), k = hit(event);
    if (k >= 0) {
      dragged = k;
      actions.begin();
      focusOn(k);
    } else if (!inside(where)) return;
    else if (event.pointerType === "touch" && !brush) { tapped = [event.clientX, event.clientY]; return; }
    else if (add(where)) {
      if (brush) painted = [event.clientX, event.clientY];
      else dragged = actions.points().length - 1;
    }
    svg.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  on(svg, MOVES, (event) => {
    if (dragged >= 0) {
      const known = actions.points()[dragged];
      if (!known) return;
      const [x, y] = place(...under(event));
      if (x !== known[0] || y !== known[1]) actions.drag(changed(dragged, [x, y, known[2]]), dragged);
    } else if (painted && Math.hypot(event.clientX - painted[0], event.clientY - painted[1]) > 16 && inside(under(event))) {
      painted = [event.clientX, event.clientY];
      add(under(event), false);
    } else if (tapped && Math.hypot(event.clientX - tapped[0], event.clientY - tapped[1]) > STILL) tapped = null;
  });
  for (const name of ["pointerup", "pointercancel"]) {
    on(svg, name, (event) => {
      if (tapped && name === "pointerup") add(under(event));
      if (dragged >= 0 || painted) actions.rest();
      dragged = -1;
      painted = tapped = null;
    });
  }
  on(svg, "contextmenu", (event) => {
    const mark = event.target.closest(".mark");
    if (!editable || !mark) return;
    event.preventDefault();
    remove(Number(mark.dataset.row));
  });
  on(svg, "focusin", (event) => {
    const mark = event.target.closest(".mark");
    if (mark) hold(Number(mark.dataset.row), taken && stop === Number(mark.dataset.row));
  });
  on(svg, "keydown", (event) => {
    if (!editable || event.ctrlKey || event.metaKey || event.altKey) return;
    const mark = event.target.closest(".mark");
    if (!keyed(awaited ? stop : mark ? Number(mark.dataset.row) : -1, event)) return;
    event.preventDefault();
    event.stopPropagation();
  });

  // The one point that Tab reaches; `moves` says whether arrows move it or go to the next one.
  function hold(k, moves) {
    const all = stage.rows.marks();
    for (const j of [stop, k]) if (all[j]) { put(all[j], { tabindex: j === k ? 0 : -1 }); all[j].removeAttribute("aria-pressed"); }
    stop = k;
    taken = moves;
    if (all[k] && moves) put(all[k], { "aria-pressed": true });
  }

  function focusOn(k, moves = false) {
    hold(k, moves);
    const mark = stage.rows.marks()[k];
    awaited = !mark && k < actions.points().length;
    mark?.focus();
  }

  function keyed(k, event) {
    const points = actions.points(), point = points[k], letter = event.key.toUpperCase();
    const [left, right, low, high] = picture.scale.box;
    if (letter === "N" || (event.key === "Enter" && !point)) {
      const [x, y] = point || [(left + right) / 2, (low + high) / 2];
      if (add([x + (point ? 0.03 * (right - left) : 0), y])) focusOn(points.length, true);
      return true;
    }
    if (!point) return false;
    if (event.key === "Enter" || (event.key === "Escape" && taken)) hold(k, event.key === "Enter" && !taken);
    else if (event.key in WAYS && taken) {
      const [u, v] = WAYS[event.key], share = event.shiftKey ? 0.1 : 0.01;
      const [x, y] = place(point[0] + u * share * (right - left), point[1] + v * share * (high - low));
      actions.change(changed(k, [x, y, point[2]]), true);
    } else if (event.key in WAYS) focusOn(beside(k, WAYS[event.key]));
    else if (event.key === "PageDown" || event.key === "PageUp") focusOn((k + (event.key === "PageDown" ? 1 : points.length - 1)) % points.length);
    else if (event.key === "Delete" || event.key === "Backspace") {
      remove(k);
      focusOn(Math.max(0, Math.min(k, points.length - 2)));
    } else if (LETTERS.slice(0, classes).includes(letter)) actions.change(changed(k, [point[0], point[1], LETTERS.indexOf(letter)]), true);
    else return false;
    return true;
  }

  // The nearest point towards a side, those straight ahead before those aslant.
  function beside(k, [u, v]) {
    const points = actions.points(), { across, up } = picture.scale;
    let found = k, least = Infinity;
    points.forEach(([x, y], j) => {
      const dx = (x - points[k][0]) * across, dy = (y - points[k][1]) * up;
      const ahead = u * dx + v * dy, aside = Math.abs(u * dy) + Math.abs(v * dx);
      const far = ahead + 2 * aside;
      if (j !== k && (ahead > 0 || (ahead === 0 && aside === 0 && j > k)) && far < least) { least = far; found = j; }
    });
    return found;
  }

  return { dress, ways, choose, edit: (can) => { editable = can; }, editable: () => editable };
}
