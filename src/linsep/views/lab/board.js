import { colourOf, markPath, put, shape, steps, tag } from "./drawing.js";

const LETTERS = "ABCDEF";

// Points on the picture of the input space: placed, moved, painted and deleted, by pointer, touch and keys.
export function board(stage, head, actions, most, classes) {
  const { picture } = stage.rows, { svg } = picture;
  const tools = tag("div", { class: "tools", role: "toolbar", "aria-label": "Points" }, head);
  let code = 0, brush = false, snap = false, dragged = -1, painted = null, editable = true, cursor = null;
  const swatches = [];
  const press = (sign, name, action) => {
    const made = tag("button", { type: "button", title: name, "aria-label": name }, tools, sign);
    made.addEventListener("click", action);
    return made;
  };
  for (let k = 0; k < classes; k++) {
    const button = press("", `Add points of class ${LETTERS[k]} (${LETTERS[k]})`, () => choose(k));
    button.classList.add("swatch");
    button.dataset.code = String(k);
    shape("path", { d: markPath(k, 9, 9, 6), fill: colourOf(k) }, shape("svg", { viewBox: "0 0 18 18", "aria-hidden": "true" }, button));
    swatches.push(button);
  }
  const brushing = press("brush", "brush: paint many points", () => { brush = !brush; mark(); });
  const snapping = press("snap", "snap to the grid", () => { snap = !snap; mark(); });
  const undo = press("↶", "Undo (Z)", actions.undo), redo = press("↷", "Redo (Y)", actions.redo);
  press("clear", "clear: delete all points", () => actions.change([], true));
  const cross = shape("path", { class: "crosshair", visibility: "hidden" }, svg);

  function choose(k) {
    code = k;
    mark();
  }

  function mark() {
    swatches.forEach((one, k) => one.setAttribute("aria-pressed", String(k === code)));
    brushing.setAttribute("aria-pressed", String(brush));
    snapping.setAttribute("aria-pressed", String(snap));
  }

  function ways([back, on]) {
    undo.disabled = !back;
    redo.disabled = !on;
  }

  // Names and places in the order of the keyboard; called whenever points were drawn anew.
  function dress(points, names) {
    svg.setAttribute("role", editable ? "group" : "img");
    svg.parentElement.classList.toggle("editable", editable);
    tools.hidden = !editable;
    if (editable) svg.setAttribute("tabindex", "0");
    else svg.removeAttribute("tabindex");
    stage.rows.marks().forEach((one, k) => {
      if (!editable || !points[k]) { one.removeAttribute("tabindex"); one.removeAttribute("role"); return; }
      const [x, y, kind] = points[k];
      put(one, { tabindex: 0, role: "button", "aria-label": `Point ${k} at ${x}, ${y}, class ${names[kind] ?? LETTERS[kind]}` });
    });
  }

  // Where the picture is on the screen, measured once while it stays: measuring lays the page out.
  let box = null;
  new ResizeObserver(() => { box = null; }).observe(svg);
  document.addEventListener("scroll", () => { box = null; }, { capture: true, passive: true });

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

  const inside = ([x, y]) => { const [left, right, low, high] = picture.scale.box; return x >= left && x <= right && y >= low && y <= high; };

  function add(where, keep = true) {
    const points = actions.points();
    if (points.length >= most) { actions.say(`There are ${most} points already; delete some first.`); return; }
    actions.change([...points, [...place(...where), code]], keep);
  }

  function remove(k) {
    actions.change(actions.points().filter((_, j) => j !== k), true);
  }

  svg.addEventListener("pointerdown", (event) => {
    if (!editable || event.button !== 0) return;
    const mark = event.target.closest(".mark");
    if (mark) {
      dragged = Number(mark.dataset.row);
      actions.begin();
      mark.focus();
    } else {
      const where = under(event);
      if (!inside(where)) return;
      add(where);
      if (brush) painted = [event.clientX, event.clientY];
      else dragged = actions.points().length - 1;
    }
    svg.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  svg.addEventListener("pointermove", (event) => {
    if (dragged >= 0) {
      const points = actions.points().map((one) => [...one]);
      if (!points[dragged]) return;
      points[dragged].splice(0, 2, ...place(...under(event)));
      actions.drag(points, dragged);
    } else if (painted && Math.hypot(event.clientX - painted[0], event.clientY - painted[1]) > 16 && inside(under(event))) {
      painted = [event.clientX, event.clientY];
      add(under(event), false);
    }
  });
  for (const name of ["pointerup", "pointercancel"]) {
    svg.addEventListener(name, () => {
      if (dragged >= 0 || painted) actions.rest();
      dragged = -1;
      painted = null;
    });
  }
  svg.addEventListener("contextmenu", (event) => {
    const mark = event.target.closest(".mark");
    if (!editable || !mark) return;
    event.preventDefault();
    remove(Number(mark.dataset.row));
  });
  svg.addEventListener("keydown", (event) => {
    if (!editable || event.ctrlKey || event.metaKey || event.altKey) return;
    const mark = event.target.closest(".mark");
    const done = mark ? keyed(Number(mark.dataset.row), event) : aimed(event);
    if (!done) return;
    event.preventDefault();
    event.stopPropagation();
  });
  svg.addEventListener("blur", () => { cross.setAttribute("visibility", "hidden"); });

  const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

  function stepped(x, y, event) {
    const [left, right, low, high] = picture.scale.box, share = event.shiftKey ? 0.1 : 0.01, [u, v] = WAYS[event.key];
    return place(x + u * share * (right - left), y + v * share * (high - low));
  }

  function keyed(k, event) {
    const points = actions.points().map((one) => [...one]);
    if (!points[k]) return false;
    if (event.key in WAYS) {
      points[k].splice(0, 2, ...stepped(points[k][0], points[k][1], event));
      actions.change(points, true, k);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      remove(k);
      const left = stage.rows.marks();
      if (left.length) left[Math.min(k, left.length - 1)].focus();
    } else if (LETTERS.slice(0, classes).includes(event.key.toUpperCase())) {
      points[k][2] = LETTERS.indexOf(event.key.toUpperCase());
      actions.change(points, true, k);
    } else return false;
    return true;
  }

  // Without a mouse: arrows move a cross, Enter adds a point there.
  function aimed(event) {
    const [left, right, low, high] = picture.scale.box;
    cursor = cursor && inside(cursor) ? cursor : [(left + right) / 2, (low + high) / 2];
    if (event.key in WAYS) cursor = stepped(...cursor, event);
    else if (event.key === "Enter") add(cursor);
    else return false;
    const x = picture.scale.x(cursor[0]), y = picture.scale.y(cursor[1]);
    put(cross, { d: `M${x - 12} ${y}H${x + 12}M${x} ${y - 12}V${y + 12}`, visibility: "visible" });
    return true;
  }

  mark();
  return { dress, ways, choose, edit: (can) => { editable = can; }, editable: () => editable };
}
