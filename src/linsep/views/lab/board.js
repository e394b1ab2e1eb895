import { HEIGHT, WIDTH, canvas, colourOf, markPath, shape, tag } from "./drawing.js";

const NAMES = { "-1": "A (label −1)", 1: "B (label 1)" };
const TOOLS = [["-1", "add-A", "add A (−1)"], ["1", "add-B", "add B (1)"], ["move", "move", "move"], ["delete", "delete", "delete"]];

// Points that can be placed, moved and deleted, by pointer and by keyboard.
export function pointBoard(root, most, onChange, say) {
  let points = [], picture = null, dragged = -1;
  const tools = tag("fieldset", { class: "tools" }, root);
  tag("legend", {}, tools, "Click to");
  TOOLS.forEach(([value, id, name], k) => {
    const label = tag("label", {}, tools);
    const input = tag("input", { type: "radio", name: "tool", value, id: `tool-${id}` }, label);
    input.checked = k === 0;
    label.append(` ${name}`);
  });
  const place = tag("div", {}, root);
  const typed = tag("form", { class: "tools" }, root);
  const field = (name) => {
    const label = tag("label", {}, typed, `${name} `);
    return tag("input", { type: "number", step: "any", value: 0 }, label);
  };
  const across = field("x₁"), up = field("x₂");
  [["-1", "Add A here"], ["1", "Add B here"]].forEach(([label, name]) => {
    const button = tag("button", { type: "button" }, typed, name);
    button.addEventListener("click", () => add(Number(across.value), Number(up.value), Number(label)));
  });
  const clear = tag("button", { type: "button" }, typed, "Delete all");
  clear.addEventListener("click", () => { show([]); onChange(); });
  typed.addEventListener("submit", (event) => event.preventDefault());
  tag("p", { class: "small" }, root, "Drag moves a point. By keyboard: Tab to a point, arrows move it (Shift: far), Delete deletes it, A and B change its class.");

  const tool = () => tools.querySelector("input:checked").value;

  function show(given, box = boxOf(given)) {
    points = given.map((one) => [...one]);
    place.replaceChildren();
    picture = canvas(place, box, ["x₁", "x₂"], "The points");
    picture.svg.setAttribute("role", "group");
    picture.svg.addEventListener("pointerdown", (event) => {
      if (event.button === 0 && !event.target.closest(".mark")) pressed(event);
    });
    picture.svg.addEventListener("pointermove", (event) => { if (dragged >= 0) move(dragged, ...under(event)); });
    for (const name of ["pointerup", "pointercancel"]) {
      picture.svg.addEventListener(name, () => { if (dragged >= 0) { dragged = -1; onChange(); } });
    }
    points.forEach((_, k) => drawPoint(k));
  }

  function redraw(focus = -1) {
    show(points, picture.scale.box);
    const marks = picture.body.querySelectorAll(".mark");
    if (focus >= 0 && marks.length) marks[Math.min(focus, marks.length - 1)].focus();
  }

  function drawPoint(k) {
    const mark = shape("path", { class: "mark", tabindex: 0, role: "button" }, picture.body);
    paint(mark, k);
    mark.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      if (tool() === "delete") { remove(k); return; }
      dragged = k;
      picture.svg.setPointerCapture(event.pointerId);
      mark.focus();
      event.preventDefault();
    });
    mark.addEventListener("keydown", (event) => { if (keyed(k, event)) { event.preventDefault(); event.stopPropagation(); } });
  }

  function paint(mark, k) {
    const [x, y, label] = points[k], code = label > 0 ? 1 : 0, { scale } = picture;
    mark.setAttribute("d", markPath(code, scale.x(x), scale.y(y), 6));
    mark.setAttribute("fill", colourOf(code));
    mark.setAttribute("aria-label", `Point ${k} at ${x}, ${y}, class ${NAMES[label]}`);
  }

  function keyed(k, event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const [left, right, low, high] = picture.scale.box, share = event.shiftKey ? 0.1 : 0.01;
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const [x, y] = points[k];
    if (event.key in ways) {
      const [u, v] = ways[event.key];
      move(k, x + u * share * (right - left), y + v * share * (high - low));
      onChange();
    } else if (event.key === "Delete" || event.key === "Backspace") remove(k, true);
    else if (/^[abAB]$/.test(event.key)) {
      points[k][2] = event.key.toLowerCase() === "a" ? -1 : 1;
      redraw(k);
      onChange();
    } else return false;
    return true;
  }

  function under(event) {
    const box = picture.svg.getBoundingClientRect(), { scale } = picture;
    return [
      scale.fromX(((event.clientX - box.left) * WIDTH) / box.width),
      scale.fromY(((event.clientY - box.top) * HEIGHT) / box.height),
    ];
  }

  function pressed(event) {
    const [x, y] = under(event), [left, right, low, high] = picture.scale.box;
    if (x < left || x > right || y < low || y > high) return;
    if (tool() === "move" || tool() === "delete") return;
    add(x, y, Number(tool()));
  }

  // As many digits as can be seen, so that addresses stay short.
  function seen(value, span) {
    const digits = Math.min(12, Math.max(0, 2 - Math.floor(Math.log10(span))));
    return Number(value.toFixed(digits)) + 0;
  }

  function add(x, y, label) {
    if (points.length >= most) { say(`There are ${most} points already; delete some first.`); return; }
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    const [left, right, low, high] = picture.scale.box;
    points.push([seen(x, right - left), seen(y, high - low), label]);
    const outside = x < left || x > right || y < low || y > high;
    if (outside) show(points);
    else drawPoint(points.length - 1);
    onChange();
  }

  function move(k, x, y) {
    const [left, right, low, high] = picture.scale.box;
    points[k][0] = seen(Math.min(right, Math.max(left, x)), right - left);
    points[k][1] = seen(Math.min(high, Math.max(low, y)), high - low);
    paint(picture.body.querySelectorAll(".mark")[k], k);
  }

  function remove(k, keepFocus = false) {
    points.splice(k, 1);
    redraw(keepFocus ? k : -1);
    onChange();
  }

  show([]);
  return { show, points: () => points.map((one) => [...one]) };
}

// A box around points, with room, a third wider than high.
function boxOf(points) {
  if (!points.length) return [-2, 2, -1.5, 1.5];
  const middle = [0, 1].map((i) => {
    const values = points.map((one) => one[i]);
    return [(Math.min(...values) + Math.max(...values)) / 2, Math.max(...values) - Math.min(...values)];
  });
  const high = Math.max(middle[0][1] / (4 / 3), middle[1][1]) * 0.7 || 1;
  return [middle[0][0] - (high * 4) / 3, middle[0][0] + (high * 4) / 3, middle[1][0] - high, middle[1][0] + high];
}
