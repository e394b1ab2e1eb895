import { put, shape, tag } from "./drawing.js";

const LENGTH = 1000;
const SPEEDS = [1, 2, 4, 8, 16, 60];

// Buttons, speed, scrubber with a tick at each mistake, and how many rows are wrong over time.
export function timeline(parent, stories, go) {
  const frames = stories[0].frames;
  const last = Math.max(...stories.map((story) => story.frames.n.length)) - 1;
  const bar = tag("div", { class: "timeline", role: "group", "aria-label": "Time" }, parent);
  const buttons = tag("div", { class: "buttons" }, bar);
  const button = (sign, name, action) => {
    const made = tag("button", { type: "button", "aria-label": name, title: name }, buttons, sign);
    made.addEventListener("click", action);
    return made;
  };
  button("|‹", "First frame (Home)", () => go("first"));
  button("«", "Mistake before (Shift+Left)", () => go("mistake before"));
  button("‹", "Step back (Left)", () => go("back"));
  const play = button("▶", "Play (Space)", () => go("play"));
  button("›", "Step (Right)", () => go("on"));
  button("»", "Next mistake (Shift+Right)", () => go("next mistake"));
  button("›|", "Last frame (End)", () => go("last"));
  const speed = tag("select", { "aria-label": "Frames each second" }, buttons);
  SPEEDS.forEach((value) => tag("option", { value }, speed, `${value} a second`));
  const where = tag("output", { class: "where" }, buttons);

  const track = tag("div", { class: "track" }, bar);
  const scrubber = tag("input", { type: "range", min: 0, max: last, value: 0, step: 1, "aria-label": "Frame" }, track);
  scrubber.addEventListener("input", () => go(Number(scrubber.value)));
  const chart = shape("svg", { viewBox: `0 0 ${LENGTH} 70`, preserveAspectRatio: "none", role: "img", "aria-label": "Rows wrong after each correction; ticks are mistakes, tall ticks ends of passes" }, track);
  chart.addEventListener("click", (event) => {
    const box = chart.getBoundingClientRect();
    go(Math.round((last * (event.clientX - box.left)) / box.width));
  });
  const x = (t) => (last ? (LENGTH * t) / last : 0);
  drawTicks(chart, frames, stories[0].passes, x);
  stories.forEach((story, k) => {
    const most = Math.max(1, ...story.frames.count);
    const points = story.frames.count.map((value, t) => `${x(t)},${56 - (46 * value) / most}`);
    shape("polyline", { points: points.join(" "), class: k ? "curve other" : "curve" }, chart);
  });
  const cursor = shape("line", { y1: 0, y2: 70, class: "cursor" }, chart);
  tag("p", { class: "small" }, track, "Rows wrong over time; ticks below are mistakes, tall ones ends of passes.");

  const slow = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const fitting = SPEEDS.find((value) => last / value <= 30) || 60;
  speed.value = String(slow ? 1 : Math.max(2, fitting));

  function show(t, playing) {
    scrubber.value = String(t);
    scrubber.setAttribute("aria-valuetext", `frame ${t} of ${last}, correction ${frames.n[Math.min(t, frames.n.length - 1)]}`);
    where.textContent = `${t} / ${last}`;
    put(cursor, { x1: x(t), x2: x(t) });
    play.textContent = playing ? "❚❚" : "▶";
    play.setAttribute("aria-label", playing ? "Pause (Space)" : "Play (Space)");
  }

  return { show, last, slow, rate: () => Number(speed.value) };
}

function drawTicks(chart, frames, passes, x) {
  let small = "", tall = "";
  frames.mistake.forEach((wrong, t) => { if (wrong) small += `M${x(t)} 60v6`; });
  let t = 0;
  passes.forEach(([after]) => {
    while (t < frames.n.length - 1 && frames.n[t] < after) t++;
    tall += `M${x(t)} 56v14`;
  });
  shape("path", { d: tall, class: "passes" }, chart);
  shape("path", { d: small, class: "ticks" }, chart);
}
