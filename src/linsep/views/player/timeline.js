import { brief, many, on, put, shape, tag } from "./drawing.js";

const SPEEDS = [1, 4, 16, 60, 240];
const STEPS = [["example", "example"], ["correction", "correction"], ["mistake", "mistake"], ["pass", "pass"]];
const WIDE = 300, HIGH = 60;

// Buttons, speed, scrubber with a tick at each mistake, and five numbers over time with one cursor.
export function timeline(parent, go) {
  const bar = tag("div", { class: "timeline", role: "group", "aria-label": "Time" }, parent);
  const buttons = tag("div", { class: "buttons" }, bar);
  const button = (sign, name, action) => {
    const made = tag("button", { type: "button", title: name }, buttons, sign);
    on(made, "click", action);
    return made;
  };
  button("|‹ Start", "Start: the first frame (Home)", () => go("first"));
  button("« Mistake", "« Mistake before (Shift+Left)", () => go("mistake before"));
  button("‹ Back", "‹ Back by one step (Left)", () => go("back"));
  const play = button("▶ Play", "Play (Space)", () => go("play"));
  button("Step ›", "Step › (Right)", () => go("on"));
  button("Mistake »", "Mistake » the next one (Shift+Right)", () => go("next mistake"));
  button("End ›|", "End: the last frame (End)", () => go("last"));
  const choice = (name, options) => {
    const label = tag("label", { class: "pick extra" }, buttons, `${name} `), made = tag("select", { "aria-label": name }, label);
    options.forEach(([value, text]) => tag("option", { value }, made, text));
    return made;
  };
  const unit = choice("step by", STEPS);
  unit.value = "correction";
  const speed = choice("speed", SPEEDS.map((value) => [value, `${value} a second`]));
  const scrubber = tag("input", { type: "range", min: 0, max: 0, value: 0, step: 1, "aria-label": "Frame" }, buttons);
  on(scrubber, "input", () => go(Number(scrubber.value)));
  const where = tag("span", { class: "where" }, buttons);
  const charts = tag("div", { class: "charts" }, bar);
  const slow = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let runs = [], last = 0, cursors = [];

  // A quick answer has no steps yet: the curves of the run before stay until those that follow, so that nothing moves.
  function open(given, quick) {
    runs = given;
    last = Math.max(...runs.map((run) => run.T)) - 1;
    scrubber.max = String(last);
    const stale = quick && cursors.length > 0;
    bar.classList.toggle("stale", stale);
    if (stale) return;
    bar.classList.toggle("still", last === 0);
    const fitting = SPEEDS.find((value) => last / value <= 20) || 240;
    speed.value = String(slow ? 1 : Math.max(4, fitting));
    charts.replaceChildren();
    const { story } = runs[0];
    unit.options[0].disabled = !story.order;
    if (!story.order && unit.value === "example") unit.value = "correction";
    const kinds = [["count", "rows wrong"], ["loss", story.lossName], ["norm", "‖w‖"], ["margin", "margin"], ["angle", "angle", `angle to ${story.towards}`]];
    cursors = last === 0 ? [] : kinds.map(([key, name, whole = name]) => chart(charts, key, name, whole, key === "count"));
    const proved = last > 0 && story.facts.squeeze;
    if (proved) cursors.push(squeeze(charts, runs[0]));
    charts.classList.toggle("six", Boolean(proved));
    if (last === 0) tag("p", { class: "small" }, charts, runs[0].story.grid || runs[0].T === 1 ? "This learner goes to its end at once: there are no steps to play." : "");
  }

  // A picture over time that can be scrubbed.
  function axes(place, name, title) {
    const figure = tag("figure", { class: "chart", title }, place);
    const caption = tag("figcaption", {}, figure);
    tag("span", {}, caption, name);
    const value = tag("b", {}, caption); // an output would be read aloud at every step
    const svg = shape("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img", "aria-label": title }, figure);
    on(svg, "pointerdown", (event) => {
      const seek = (one) => { const box = svg.getBoundingClientRect(); go(Math.round((last * (one.clientX - box.left)) / box.width)); };
      seek(event);
      svg.setPointerCapture(event.pointerId);
      svg.onpointermove = seek;
      svg.onpointerup = svg.onpointercancel = () => { svg.onpointermove = null; };
    });
    return { svg, value };
  }

  function chart(place, key, name, whole, ticked) {
    const { svg, value } = axes(place, name, `${whole} over time`);
    const [low, high] = reach(runs, key);
    const y = (one) => HIGH - 8 - ((HIGH - 14) * (one - low)) / (high - low || 1);
    if (key === "margin" && low < 0 && high > 0) shape("path", { d: `M0 ${y(0)}H${WIDE}`, class: "zero" }, svg);
    if (ticked) shape("path", { d: marksOf(runs[0]), class: "ticks" }, svg);
    runs.forEach((run, k) => shape("path", { d: curve(run.story.frames[key], run.T, y), class: k ? "curve other" : "curve" }, svg));
    return { value, line: shape("path", { class: "cursor" }, svg), at: ({ frames }, t) => (Number.isFinite(frames[key][t]) ? `${brief(frames[key][t])}${key === "angle" ? "°" : ""}` : "–") };
  }

  // Novikoff's proof: after k corrections kγ ≤ ⟨w, w*⟩ ≤ ‖w‖ ≤ R√k, and where the outer curves meet no run can go on.
  function squeeze(place, run) {
    const { frames, facts: { squeeze: { radius, margin, step } } } = run.story;
    const { svg, value } = axes(place, "", "Novikoff's proof over time: each correction adds at least γ to the projection on the widest separator, and at most R² to the squared length; the dashed bounds meet after (R/γ)² corrections");
    const above = Float32Array.from(frames.n, (k) => step * radius * Math.sqrt(k)), below = Float32Array.from(frames.n, (k) => step * margin * k);
    const high = above.reduce((most, one) => Math.max(most, one), 0) || 1, y = (one) => HIGH - 4 - ((HIGH - 8) * one) / high;
    for (const [values, name] of [[above, "length bound"], [frames.length, "length"], [frames.along, "along"], [below, "along bound"]]) {
      shape("path", { d: curve(values, run.T, y), class: `curve ${name}` }, svg);
    }
    const at = (_, t) => (Number.isFinite(frames.along[t]) ? `kγ ${brief(below[t], 3)} ≤ ⟨w,w*⟩ ${brief(frames.along[t], 3)} ≤ R√k ${brief(above[t], 3)}` : "–");
    return { value, line: shape("path", { class: "cursor" }, svg), at };
  }

  const x = (t) => (last ? (WIDE * t) / last : 0);

  // As many points as can be seen: the least and the most of each place.
  function curve(values, T, y) {
    let d = "", open = false;
    const each = Math.max(1, Math.floor(T / (2 * WIDE)));
    for (let from = 0; from < T; from += each) {
      let low = Infinity, high = -Infinity;
      for (let t = from; t < Math.min(T, from + each); t++) if (Number.isFinite(values[t])) { low = Math.min(low, values[t]); high = Math.max(high, values[t]); }
      if (low > high) { open = false; continue; }
      d += `${open ? "L" : "M"}${x(from).toFixed(1)} ${y(low).toFixed(1)}${high > low ? `L${x(from).toFixed(1)} ${y(high).toFixed(1)}` : ""}`;
      open = true;
    }
    return d;
  }

  function marksOf(run) {
    let d = "";
    const each = Math.max(1, Math.floor(run.T / WIDE));
    for (let t = 0; t < run.T; t += each) if (run.story.frames.mistake[t]) d += `M${x(t).toFixed(1)} ${HIGH - 5}v5`;
    return d;
  }

  function show(t, playing) {
    scrubber.value = String(t);
    const { frames } = runs[0].story, now = Math.min(t, runs[0].T - 1);
    scrubber.setAttribute("aria-valuetext", `frame ${t} of ${last}, correction ${frames.n[now]}`);
    where.textContent = `${many(t)} / ${many(last)}`;
    if (!bar.classList.contains("stale")) for (const { value, line, at } of cursors) {
      put(line, { d: `M${x(t).toFixed(1)} 0V${HIGH}` });
      value.textContent = at(runs[0].story, now);
    }
    const said = playing ? "❚❚ Pause" : "▶ Play";
    if (play.textContent !== said) play.textContent = said;
  }

  return { open, show, slow, last: () => last, rate: () => Number(speed.value), pace: (rate) => { speed.value = String(rate); }, unit: () => unit.value, bar };
}

function reach(runs, key) {
  let low = Infinity, high = -Infinity;
  for (const { story: { frames } } of runs) for (const value of frames[key]) if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
  if (low > high) return [0, 1];
  return key === "margin" ? [Math.max(low, -2 * Math.abs(high) - 1), high] : [Math.min(0, low), high];
}
