import { brief, many, on, tag } from "./drawing.js";
import { inputSpace } from "./input_space.js";
import { statePanel } from "./state.js";
import { timeline } from "./timeline.js";
import { weightSpace } from "./weight_space.js";
import { openRun } from "./run.js";
import { caption, headline } from "./words.js";

const TURN = 160; // milliseconds in which the boundary goes from one frame to the next

// Two linked pictures, the state beside them, and a clock below: one run, or two on one clock.
export function player(root, options = {}) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  (dark.onchange = () => { document.documentElement.dataset.theme = dark.matches ? "dark" : "light"; })();
  const stage = tag("div", { class: "stage" }, root);
  const pane = (name, title) => {
    const made = tag("section", { class: `pane ${name}`, "aria-label": title }, stage);
    const head = tag("header", {}, made);
    tag("h2", {}, head, title);
    return { made, head, place: tag("div", { class: "place" }, made) };
  };
  const left = pane("input", "Input space"), right = pane("weight", "Weight space");
  const rows = inputSpace(left.place, light), weights = weightSpace(right.place, light);
  const column = tag("aside", { class: "state", "aria-label": "State", tabindex: 0 }, stage);
  const panel = statePanel(column);
  const dock = tag("div", { class: "dock" }, root);
  const narration = tag("p", { class: "narration", role: "status", "aria-live": "polite" }, dock);
  const clock = timeline(dock, act);
  let runs = [], now = -1, timer = 0, drawing = 0, lit = -1, visit = 0;

  function open(given, at = null, keep = false, quick = false) {
    now = -1; // before it pauses: the clock of what was is not shown again
    pause();
    runs = given;
    const single = runs.every((run) => run.T === 1 && run.story.grid); // no plane of weights: one large picture
    if (single !== stage.classList.contains("single")) { stage.classList.toggle("single", single); keep = false; }
    rows.open(runs, keep);
    weights.open(runs, quick);
    panel.open(runs);
    clock.open(runs, quick);
    to(at === null ? clock.last() : at);
  }

  function act(what) {
    if (!runs.length) return;
    if (what === "play") { timer ? pause() : start(); return; }
    pause();
    if (typeof what === "number") to(what);
    else if (what === "first") to(0);
    else if (what === "last") to(clock.last());
    else if (what === "back") step(-1);
    else if (what === "on") step(1);
    else if (what === "next mistake") to(after("mistake"), true);
    else if (what === "mistake before") to(before("mistake"), true);
  }

  function step(way) {
    if (clock.unit() === "example") look(visit + way);
    else to(way > 0 ? after(clock.unit()) : before(clock.unit()), true);
  }

  // The rule looks at one row after the other; most of them it leaves as they are.
  function look(next) {
    const { story } = runs[0], { frames, order } = story;
    next = Math.min(order.length, Math.max(0, next));
    let t = Math.min(now, runs[0].T - 1);
    while (t > 0 && frames.visit[t] > next) t--;
    while (t + 1 < runs[0].T && frames.visit[t + 1] <= next) t++;
    to(t);
    visit = next;
    if (!next || (frames.visit[t] === next && frames.at[t] >= 0)) return; // the correction itself tells
    const k = order[next - 1], pass = Math.ceil(next / runs[0].n), by = frames.wrong ? "" : `${brief(Math.abs(runs[0].lead(t, k)))} `; // a projection tells no scores
    rows.look(k);
    narration.textContent = `Example ${many(next)}, pass ${pass}: row ${story.numbers[k]} of class ${story.classes[story.codes[k]]} is ${by}on its own side. Nothing changes.`;
  }

  function after(unit) {
    const { frames } = runs[0].story;
    if (unit === "correction") return now + 1;
    const test = unit === "mistake" ? (t) => frames.mistake[t] : (t) => frames.epoch[t] > frames.epoch[now];
    for (let t = now + 1; t < runs[0].T; t++) if (test(t)) return t;
    return clock.last();
  }

  function before(unit) {
    const { frames } = runs[0].story;
    if (unit === "correction") return now - 1;
    const test = unit === "mistake" ? (t) => frames.mistake[t] : (t) => t === 0 || frames.epoch[t] > frames.epoch[t - 1];
    for (let t = now - 1; t > 0; t--) if (test(t)) return t;
    return 0;
  }

  function start() {
    if (now >= clock.last() && !(clock.unit() === "example" && visit < runs[0].story.order.length)) to(0);
    narration.setAttribute("aria-live", "off"); // a voice cannot keep up; it speaks again at rest
    const tick = () => {
      const ended = clock.unit() === "example" ? visit >= runs[0].story.order.length : now >= clock.last();
      if (ended) { pause(); return; }
      const rate = clock.rate(), each = Math.min(60, rate);
      timer = setTimeout(tick, 1000 / each);
      if (clock.unit() === "example") { look(visit + Math.max(1, Math.round(rate / each))); return; }
      to(now + Math.max(1, Math.round(rate / each)), rate <= 4);
    };
    timer = setTimeout(tick, 1000 / Math.min(60, clock.rate()));
    clock.show(now, true);
  }

  function pause() {
    clearTimeout(timer);
    timer = 0;
    narration.setAttribute("aria-live", "polite");
    if (now >= 0) clock.show(now, false);
  }

  function to(t, gently = false) {
    t = Math.min(clock.last(), Math.max(0, t));
    const was = now, { visit: visits } = runs[0].story.frames;
    now = t;
    visit = visits ? visits[Math.min(t, runs[0].T - 1)] : 0;
    cancelAnimationFrame(drawing);
    rows.show(t);
    weights.show(t);
    panel.show(t);
    if (gently && !clock.slow && was >= 0 && Math.abs(was - t) === 1) turn(was, t, performance.now());
    narration.textContent = runs.map((run) => (t >= run.T && runs.length > 1 && run.T > 1 ? `${run.story.title} has ended.` : `${runs.length > 1 ? `${run.story.title}. ` : ""}${caption(run, Math.min(t, run.T - 1)).said}`)).join(" ");
    clock.show(t, timer !== 0);
    root.dataset.frame = String(t);
    if (options.onFrame) options.onFrame(t);
  }

  function turn(was, t, started) {
    const share = Math.min(1, (performance.now() - started) / TURN);
    if (share >= 1) { rows.show(t); return; }
    rows.between(was, t, share);
    drawing = requestAnimationFrame(() => turn(was, t, started));
  }

  function light(k) {
    lit = k;
    rows.light(k);
    weights.light(k);
  }

  function next(step) {
    const { story, n } = runs[0];
    light((lit + step + n + (lit < 0 && step < 0 ? 1 : 0)) % n);
    narration.textContent = `Row ${story.numbers[lit]}, class ${story.classes[story.codes[lit]]}: its line in the space of weights is lit.`;
  }

  function key(event) {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || !runs.length) return;
    if (target.closest("select, textarea, dialog, .view input, input:not([type=range]), .mark")) return;
    if (event.key === " " && target.closest("button, a, summary")) return;
    const actions = {
      " ": "play", ArrowRight: event.shiftKey ? "next mistake" : "on",
      ArrowLeft: event.shiftKey ? "mistake before" : "back", Home: "first", End: "last",
    };
    if (event.key in actions) act(actions[event.key]);
    else if (event.key === "p" || event.key === "P") next(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
  }

  function redraw() {
    if (!runs.length) return;
    rows.open(runs, false);
    weights.open(runs);
    rows.show(now);
    weights.show(now);
  }

  on(document, "keydown", key);
  const watch = new ResizeObserver(redraw); // after those of the pictures, which measure anew
  [stage, left.place, right.place].forEach((one) => watch.observe(one));
  return { open, to, act, redraw, light, look, at: () => now, visit: () => visit, runs: () => runs, rows, weights, clock, narration, column, heads: [left.head, right.head], places: [left.place, right.place], dock };
}

// A film: the player alone, at the frame that an address ending in #t=7 asks for, else at the end; #play plays it.
export function film(root, stories) {
  const head = tag("header", { class: "title" }, root);
  tag("h1", {}, head, stories.map((story) => story.title).join(" · "));
  tag("p", { class: "headline" }, head, headline(stories[0]));
  tag("p", { class: "small" }, head, "Space plays and pauses, ← and → step, Shift with them goes to the next mistake, P lights the next row and its line.");
  const made = player(root), frame = /^#t=(\d{1,6})$/.exec(location.hash);
  made.open(stories.map(openRun), frame ? Number(frame[1]) : null);
  if (location.hash === "#play" && !made.clock.slow) {
    made.clock.pace(1);
    made.act("play");
  }
  return made;
}
