import { tag } from "./drawing.js";
import { inputSpace } from "./input_space.js";
import { statePanel } from "./state_panel.js";
import { timeline } from "./timeline.js";
import { weightSpace } from "./weight_space.js";

const TURN = 160; // milliseconds in which the boundary goes from one frame to the next

// Play one run, or several on one clock. Returns what a page around the player needs.
export function play(root, stories, options = {}) {
  root.replaceChildren();
  if (!options.bare) tag("h1", {}, root, stories.map((story) => story.title).join(" · "));
  const stages = stories.map((story) => stage(root, story));
  const controls = tag("div", { class: "controls" }, stories.length === 1 ? stages[0].place : root);
  const narration = tag("p", { class: "narration", role: "status", "aria-live": "polite" }, controls);
  let now = -1, timer = 0, drawing = 0;
  const clock = timeline(controls, stories, act);
  help(controls);

  function act(what) {
    const marks = stories[0].frames.mistake;
    if (what === "play") { timer ? pause() : start(); return; }
    pause();
    if (typeof what === "number") to(what);
    else if (what === "first") to(0);
    else if (what === "last") to(clock.last);
    else if (what === "back") to(now - 1, true);
    else if (what === "on") to(now + 1, true);
    else if (what === "next mistake") {
      const found = marks.findIndex((wrong, t) => wrong && t > now);
      to(found < 0 ? clock.last : found, true);
    } else if (what === "mistake before") {
      const found = marks.findLastIndex((wrong, t) => wrong && t < now);
      to(Math.max(0, found), true);
    }
  }

  function start() {
    if (now >= clock.last) to(0);
    narration.setAttribute("aria-live", "off"); // a voice cannot keep up; it speaks again at rest
    const tick = () => {
      if (now >= clock.last) { pause(); return; }
      timer = setTimeout(tick, 1000 / clock.rate());
      to(now + 1, clock.rate() <= 4);
    };
    timer = setTimeout(tick, 1000 / clock.rate());
    clock.show(now, true);
  }

  function pause() {
    clearTimeout(timer);
    timer = 0;
    narration.setAttribute("aria-live", "polite");
    if (now >= 0) clock.show(now, false);
  }

  function to(t, gently = false) {
    t = Math.min(clock.last, Math.max(0, t));
    const before = now;
    now = t;
    cancelAnimationFrame(drawing);
    const gentle = gently && !clock.slow && before >= 0 && Math.abs(before - t) === 1;
    if (gentle) turn(before, t, performance.now());
    else stages.forEach((one) => one.draw(t, t, 1));
    stages.forEach((one) => one.show(t));
    narration.textContent = stages.map((one) => one.said(t)).join(" ");
    clock.show(t, timer !== 0);
    root.dataset.frame = String(t);
    if (options.onFrame) options.onFrame(t);
  }

  function turn(before, t, started) {
    const share = Math.min(1, (performance.now() - started) / TURN);
    stages.forEach((one) => one.draw(before, t, share));
    if (share < 1) drawing = requestAnimationFrame(() => turn(before, t, started));
  }

  function key(event) {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest("select, textarea, input:not([type=range])")) return;
    if (event.key === " " && target.closest("button, a, summary")) return;
    const actions = {
      " ": "play", ArrowRight: event.shiftKey ? "next mistake" : "on",
      ArrowLeft: event.shiftKey ? "mistake before" : "back", Home: "first", End: "last",
    };
    if (event.key in actions) act(actions[event.key]);
    else if (event.key === "p" || event.key === "P") narration.textContent = stages[0].next(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
  }

  document.addEventListener("keydown", key);
  to(options.at || 0);
  return {
    to,
    at: () => now,
    close: () => { pause(); document.removeEventListener("keydown", key); root.replaceChildren(); },
  };
}

// The frame that an address ending in #t=7 asks for.
export function moment() {
  const found = /^#t=(\d{1,6})$/.exec(location.hash);
  return found ? Number(found[1]) : 0;
}

// One run: two linked pictures and the state beside them.
function stage(root, story) {
  const place = tag("div", { class: "stage" }, root);
  const figure = (name) => {
    const made = tag("figure", {}, place);
    tag("figcaption", {}, made, name);
    return made;
  };
  let t = 0, lit = -1;
  const end = story.frames.n.length - 1;
  const light = (k) => {
    lit = k;
    rows.light(k);
    weights.light(k, t);
  };
  const rows = inputSpace(figure("Input space"), story, light);
  const weights = weightSpace(figure("Weight space"), story, light);
  const panel = statePanel(place, story);
  const planes = story.frames.planes;
  return {
    place,
    draw(before, after, share) {
      const a = planes[Math.min(before, end)], b = planes[Math.min(after, end)];
      rows.show(Math.min(after, end), a.map((value, k) => value + share * (b[k] - value)));
    },
    show(at) {
      t = Math.min(at, end);
      weights.show(t);
      panel.show(t);
    },
    said: (at) => (at > end ? `${story.learner} has ended: ${story.status}` : story.frames.said[at]),
    next(step) {
      const n = story.points.length;
      light((lit + step + n + (lit < 0 && step < 0 ? 1 : 0)) % n);
      return `Row ${story.numbers[lit]}, class ${story.classes[story.codes[lit]]}: its line in the space of weights is lit.`;
    },
  };
}

function help(root) {
  const more = tag("details", { class: "help" }, root);
  tag("summary", {}, more, "Keys");
  tag("p", {}, more, "Space plays and pauses, ← and → step, Shift with them goes to the next mistake, Home and End to the ends. P lights the next row and its line; so does pointing at either.");
}
