// Shapes, scales and elements that every picture uses.

// colours.js is written by film/page.py from the one list of colours.
import { COLOURS } from "./colours.js";

const ROOM = { right: 8, top: 8, bottom: 44 };
const leftRoom = () => ("present" in document.documentElement.dataset ? 78 : 58); // numbers are larger there
const SVG = "http://www.w3.org/2000/svg";

export function shape(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (parent) parent.append(made);
  return made;
}

export function tag(name, attributes, parent, text) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

export function on(target, name, act, how) {
  target.addEventListener(name, act, how);
}

// Data to screen and back, for a box [left, right, low, high] in a picture of so many pixels.
function scaleOf(box, width, height) {
  const [left, right, low, high] = box, start = leftRoom();
  const across = (width - start - ROOM.right) / (right - left);
  const up = (height - ROOM.top - ROOM.bottom) / (high - low);
  return {
    box, across, up, width, height, start,
    x: (value) => start + (value - left) * across,
    y: (value) => height - ROOM.bottom - (value - low) * up,
    fromX: (pixel) => left + (pixel - start) / across,
    fromY: (pixel) => low + (height - ROOM.bottom - pixel) / up,
  };
}

// The smallest and largest of each coordinate of [x, y, x, y, ...].
export function extent(values) {
  const box = [Infinity, -Infinity, Infinity, -Infinity];
  for (let k = 0; k + 1 < values.length; k += 2) {
    const x = values[k], y = values[k + 1];
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    if (x < box[0]) box[0] = x;
    if (x > box[1]) box[1] = x;
    if (y < box[2]) box[2] = y;
    if (y > box[3]) box[3] = y;
  }
  return box[0] <= box[1] ? box : [-1, 1, -1, 1];
}

// A box of a shape around what is there, with room. Both axes have one scale, unless one spans far more.
export function roomy([left, right, low, high], room, width, height, uneven = 6) {
  const shape = Math.max(0.2, (width - leftRoom() - ROOM.right) / Math.max(60, height - ROOM.top - ROOM.bottom));
  let across = (right - left) / shape, up = high - low;
  if (!across && !up) across = up = 2;
  if (!across || !up || Math.max(across, up) <= uneven * Math.min(across, up)) across = up = Math.max(across, up);
  const half = [(0.5 + room) * across * shape, (0.5 + room) * up];
  const middle = [(left + right) / 2, (low + high) / 2];
  return [middle[0] - half[0], middle[0] + half[0], middle[1] - half[1], middle[1] + half[1]];
}

export function steps(low, high) {
  const rough = (high - low) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((k) => k * power >= rough) || 10);
  const values = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) values.push(k * step);
  return values;
}

// A label that fits into a picture.
export function short(label, most = 12) {
  return label.length > most ? `${label.slice(0, most - 1)}…` : label;
}

export function brief(value, digits = 4) {
  const text = Number(value.toPrecision(digits)).toString();
  return text.replace("-", "−");
}

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });

// A number at an axis: thousands as 1K, for want of room.
function numbered(value) {
  return Math.abs(value) < 1000 ? brief(value) : compact.format(value).replace("-", "−");
}

// An empty picture with axes, as large as its place; what is drawn in its body is cut at its frame.
export function panel(parent, label) {
  const svg = shape("svg", { role: "img", "aria-label": label, class: "picture" }, parent);
  const paper = shape("rect", { class: "paper" }, svg);
  const body = shape("svg", {}, svg); // a picture within the picture is cut faster than by a clip path
  const axes = shape("g", { class: "axes", "aria-hidden": "true" }, svg); // numbers without words
  const made = { svg, body, paper, scale: null, size, frame };
  let framed = "", measured = null;
  new ResizeObserver(() => { measured = null; }).observe(parent); // measuring lays the page out

  function size() {
    measured = measured || [Math.max(240, parent.clientWidth), Math.max(180, parent.clientHeight)];
    return measured;
  }

  function frame(box, names) {
    const [width, height] = size(), scale = scaleOf(box, width, height), { start } = scale, key = [...box, width, height, start, ...names].join();
    made.scale = scale;
    if (key === framed) return scale;
    framed = key;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const inner = { x: start, y: ROOM.top, width: width - start - ROOM.right, height: height - ROOM.top - ROOM.bottom };
    put(body, { ...inner, viewBox: Object.values(inner).join(" ") });
    put(paper, inner);
    axes.replaceChildren();
    shape("rect", { ...inner, class: "frame" }, axes);
    const base = height - ROOM.bottom;
    for (const value of steps(box[0], box[1])) {
      shape("line", { x1: scale.x(value), x2: scale.x(value), y1: base, y2: base + 4 }, axes);
      shape("text", { x: scale.x(value), y: base + 19, "text-anchor": "middle" }, axes).textContent = numbered(value);
    }
    if (names[1]) {
      for (const value of steps(box[2], box[3])) {
        shape("line", { x1: start - 4, x2: start, y1: scale.y(value), y2: scale.y(value) }, axes);
        shape("text", { x: start - 7, y: scale.y(value) + 5, "text-anchor": "end" }, axes).textContent = numbered(value);
      }
    }
    shape("text", { x: (width + start) / 2, y: height - 6, "text-anchor": "middle", class: "name" }, axes).textContent = short(names[0], 30);
    shape("text", { transform: `translate(${start / 4} ${(height - ROOM.bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "name" }, axes).textContent = short(names[1], 30);
    return scale;
  }

  return made;
}

const counted = new Intl.NumberFormat("en");

export function many(value) {
  return counted.format(value);
}

export function colourOf(code) {
  return COLOURS[code % COLOURS.length];
}

// Each class has a mark of its own; colour and mark together repeat after a hundred classes.
// Square, circle, triangle, diamond, triangle down, star, plus, cross, triangle left, triangle right.
export function markPath(code, x, y, r) {
  const at = (angle, far) => `${x + far * Math.sin(angle)} ${y - far * Math.cos(angle)}`;
  const ring = (n, first, far) => Array.from({ length: n }, (_, k) => at(first + (2 * Math.PI * k) / n, far));
  const plus = (far, thick, turned) => {
    const steps = [[-1, -1], [-1, -far], [1, -far], [1, -1], [far, -1], [far, 1], [1, 1], [1, far], [-1, far], [-1, 1], [-far, 1], [-far, -1]];
    const cos = Math.cos(turned), sin = Math.sin(turned);
    return `M${steps.map(([u, v]) => `${x + thick * (u * cos - v * sin)} ${y + thick * (u * sin + v * cos)}`).join("L")}z`;
  };
  switch ((code + Math.floor(code / COLOURS.length)) % 10) {
    case 0: return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
    case 1: return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
    case 2: return `M${ring(3, 0, 1.35 * r).join("L")}z`;
    case 3: return `M${ring(4, 0, 1.35 * r).join("L")}z`;
    case 4: return `M${ring(3, Math.PI, 1.35 * r).join("L")}z`;
    case 6: return plus(3, 0.42 * r, 0);
    case 7: return plus(3, 0.42 * r, Math.PI / 4);
    case 8: return `M${ring(3, -Math.PI / 2, 1.35 * r).join("L")}z`;
    case 9: return `M${ring(3, Math.PI / 2, 1.35 * r).join("L")}z`;
    default: {
      const outer = ring(5, 0, 1.5 * r), inner = ring(5, Math.PI / 5, 0.65 * r);
      return `M${outer.flatMap((one, k) => [one, inner[k]]).join("L")}z`;
    }
  }
}

// What is left of a polygon where a·x + b·y + c > 0.
export function cut(corners, a, b, c) {
  const kept = [];
  corners.forEach((there, k) => {
    const here = corners[(k + corners.length - 1) % corners.length];
    const s = a * here[0] + b * here[1] + c, r = a * there[0] + b * there[1] + c;
    if (s > 0 !== r > 0) kept.push([0, 1].map((i) => here[i] + ((there[i] - here[i]) * s) / (s - r)));
    if (r > 0) kept.push(there);
  });
  return kept;
}

export function cornersOf([left, right, low, high]) {
  return [[left, low], [right, low], [right, high], [left, high]];
}

// The part of the line a·x + b·y + c = 0 within a box: two ends, or none.
export function chord(box, a, b, c) {
  const corners = cornersOf(box), ends = [];
  corners.forEach((there, k) => {
    const here = corners[(k + 3) % 4];
    const s = a * here[0] + b * here[1] + c, r = a * there[0] + b * there[1] + c;
    if (s > 0 !== r > 0) ends.push([0, 1].map((i) => here[i] + ((there[i] - here[i]) * s) / (s - r)));
  });
  return ends.length === 2 ? ends : null;
}

export function outline(scale, corners) {
  return corners.map(([x, y]) => `${scale.x(x).toFixed(2)},${scale.y(y).toFixed(2)}`).join(" ");
}

// What is as it was is not set again: the browser would draw it anew.
export function put(element, attributes) {
  for (const key in attributes) {
    const value = String(attributes[key]);
    if (element.getAttribute(key) !== value) element.setAttribute(key, value);
  }
}

export function hide(element, hidden) {
  put(element, { visibility: hidden ? "hidden" : "inherit" });
}

export function arrow(parent, name) {
  const group = shape("g", { class: name }, parent);
  const line = shape("line", {}, group), head = shape("path", {}, group);
  return (x1, y1, x2, y2) => {
    const length = Math.hypot(x2 - x1, y2 - y1);
    hide(group, !(length > 1));
    if (!(length > 1)) return;
    const u = (x2 - x1) / length, v = (y2 - y1) / length, size = Math.min(9, length * 0.6);
    put(line, { x1, y1, x2: x2 - u * size * 0.7, y2: y2 - v * size * 0.7 });
    const left = [x2 - u * size - v * size * 0.5, y2 - v * size + u * size * 0.5];
    const right = [x2 - u * size + v * size * 0.5, y2 - v * size - u * size * 0.5];
    put(head, { d: `M${x2} ${y2}L${left.join(" ")}L${right.join(" ")}z` });
  };
}

// As many elements as are wanted, made once and used again; shown or hidden where their number changes.
export function pool(parent, make) {
  const held = [];
  let shown = 0;
  return (count) => {
    while (held.length < count) held.push(make(parent, held.length));
    for (let k = Math.min(shown, count); k < Math.max(shown, count); k++) hide(held[k].element || held[k], k >= count);
    shown = count;
    return held;
  };
}
