import { tag } from "./drawing.js";
import { player } from "./player.js";
import { bytesOf, openRun, unpack } from "./run.js";
import { readAddress, writeAddress } from "./address.js";
import { bar } from "./bar.js";
import { board } from "./board.js";
import { pastAndFuture } from "./history.js";
import { lessons } from "./lessons.js";
import { keslerView } from "./kesler.js";
import { liftView } from "./lift.js";
import { requests } from "./requests.js";
import { sharing } from "./sharing.js";
import { sphereView } from "./sphere.js";
import { projectionView, surfaceView } from "./surface.js";
import { tables } from "./tables.js";

const PAUSE = 220; // milliseconds of rest after which the run with all its steps is asked for
const menu = JSON.parse(document.getElementById("menu").textContent);
const byId = (id) => document.getElementById(id);
const root = byId("player"), dialog = byId("dialog");
const usual = Object.fromEntries(Object.entries(menu.parameters).map(([name, kind]) => [name, kind.usual]));
const say = (text) => { byId("message").textContent = text; };
const server = requests(menu.key), past = pastAndFuture();
let state = null, python = "", timer = 0, remembering = 0, before = null, view = "weights", changes = 0, answered = 0, refused = false;

const controls = bar(byId("bar"), menu, {
  data: chooseData, learner: chooseLearner, compare: (name) => change({ learners: name ? [state.learners[0], name] : [state.learners[0]], t: null }),
  parameter: (name, value) => change({ parameters: { ...state.parameters, [name]: value }, t: null }),
  scale: (on) => change({ scale: on, t: null }),
  file: () => files.choose(), lessons: () => school.list(), share: () => ways.share(), exports: () => ways.exports(),
  present, theme, help,
});
const stage = player(root, { onFrame: framed });
const about = tag("span", { class: "about" }, stage.heads[0].querySelector("h2"));
const part = tag("p", { class: "sample", id: "sample" }, stage.heads[0]);
const leave = tag("button", { type: "button", class: "leave" }, stage.clock.bar.querySelector(".buttons"), "Leave");
leave.title = "Leave the presentation (Escape)";
leave.addEventListener("click", present);
const pen = board(stage, stage.heads[0], {
  points: () => state.points, say, undo: () => go(past.undo(snapshot())), redo: () => go(past.redo(snapshot())),
  begin: () => { before = snapshot(); hold(true); },
  change(points, keep, focus = -1) { if (keep) past.keep(snapshot()); edited(points); if (focus >= 0) stage.rows.marks()[focus]?.focus(); },
  drag(points, k) {
    if (before) { past.keep(before); before = null; }
    stage.rows.move(k, points[k][0], points[k][1]);
    edited(points, true);
  },
  rest: () => { before = null; hold(false); later(); },
}, menu.most, menu.classes);
const views = { sphere: sphereView(stage.places[1]), lift: liftView(stage.places[1]), loss: surfaceView(stage.places[1]), projection: projectionView(stage.places[1], stage.rows), kesler: keslerView(stage.places[1]) };
const cue = tag("p", { class: "cue" }, stage.places[0], "Drag a point. Click to add one.");
for (const name of ["pointerdown", "keydown"]) stage.places[0].addEventListener(name, () => { cue.hidden = true; });
const TITLES = {
  weights: ["Weight space", "a line for each row; shaded: right for all"], sphere: ["Sphere", "all directions of the weights and the intercept"], loss: ["Loss surface", ""],
  projection: ["Projection", "rows seen along one direction"], kesler: ["Kesler", "the long vectors of a correction"], lift: ["Three dimensions", "drag to turn"],
};
const lab = {
  state: () => state, runs: () => stage.runs(), story: () => stage.runs()[0].story, at: () => stage.at(), view: () => view, python: () => python, request,
  restart(start) { past.keep(snapshot()); begin({ ...start, points: [], parameters: {}, lift: "", scale: false, t: null }); },
  pictures: () => [["Input space", stage.rows.picture.svg], ["Weight space", stage.weights.picture.svg]],
  patch: () => views.sphere.corners(), saved: null, settled: () => !timer && !server.running(), choose: pen.choose,
};
const school = lessons(stage.column, dialog, lab);
const ways = sharing(dialog, lab, server, say);
const files = tables(dialog, server, useTable, say);
const picker = viewPicker();
window.lab = lab; // for tests and for the curious

function viewPicker() {
  const place = tag("div", { class: "tools" }, stage.heads[1]);
  const seen = tag("select", { id: "view", "aria-label": "What the right picture shows" }, place);
  [["weights", "weight space"], ["sphere", "sphere"], ["loss", "loss surface"], ["projection", "projection"], ["kesler", "Kesler rows"], ["lift", "3 dimensions"]].forEach(([value, name]) => tag("option", { value }, seen, name));
  const lift = tag("select", { id: "lift", "aria-label": "A third feature" }, place);
  Object.entries(menu.lifts).forEach(([value, name]) => tag("option", { value }, lift, value ? `lift by ${name}` : "no lift"));
  seen.addEventListener("change", () => look(seen.value));
  lift.addEventListener("change", () => { change({ lift: lift.value, t: null }); look(lift.value ? "lift" : "weights"); });
  return { seen, lift };
}

function look(name) {
  view = root.dataset.view = name;
  picker.seen.value = name;
  for (const [key, one] of Object.entries(views)) one.root.hidden = key !== name;
  views.projection.hide();
  showViews();
  school.check();
}

function entitle() {
  const head = stage.heads[1].querySelector("h2"), run = stage.runs()[0];
  head.textContent = TITLES[view][0];
  const { lossName, learner } = run ? run.story : {}, several = view === "weights" && run && !run.binary;
  const about = several ? "the weights of each class, and their paths" : view === "weights" && run && !run.story.grid && !run.solvable() ? "a line for each row" : view !== "loss" ? TITLES[view][1] : `mean ${lossName}${["LogisticRegression", "LinearSVC"].includes(learner) ? ", no penalty" : ""}, at this b`;
  tag("span", { class: "about" }, head, ` · ${about}`);
}

function showViews() {
  entitle();
  const run = stage.runs()[0];
  if (!run) return;
  if (view === "lift" && !run.story.lift) return;
  if (views[view]) { views[view].open(run); views[view].show(stage.at()); }
}

// While a point is dragged the pictures keep their size, however long the words below are.
function hold(on) {
  stage.dock.style.height = on ? `${stage.dock.offsetHeight}px` : "";
}

function snapshot() {
  return { ...state, points: state.points.map((one) => [...one]) };
}

function takes() {
  return [...new Set(state.learners.flatMap((name) => menu.learners[name].takes))];
}

function request() {
  const wanted = { learners: state.learners, lift: state.lift, scale: state.scale, parameters: {} };
  for (const name of takes()) wanted.parameters[name] = state.parameters[name];
  if (state.data === "opened") wanted.opened = true;
  else if (state.data === "table") { wanted.table = state.table.id; wanted.features = state.features; }
  else if (state.data === "points" || menu.toys[state.data].points) {
    wanted.points = state.points;
    for (const name of ["names", "axes"]) if (state[name]) wanted[name] = state[name];
    if (state.data !== "points") { delete wanted.points; wanted.toy = state.data; }
  } else wanted.toy = state.data;
  return wanted;
}

// Whether rows can be moved: those placed here, and toys of two features.
function canEdit() {
  return state.data === "points" || Boolean(menu.toys[state.data] && menu.toys[state.data].points);
}

const replay = () => state.data === "opened" && menu.opened.story !== null;

function change(part) {
  refused = false;
  state = { ...state, ...part };
  refresh();
  later(0);
}

function edited(points, dragging = false) {
  refused = false;
  state = { ...state, points, data: "points", t: null };
  refresh();
  if (dragging) clearTimeout(timer);
  later(dragging ? 600 : PAUSE);
}

function chooseData(name) {
  past.keep(snapshot());
  if (name === "table" || name === state.data) return;
  refused = false;
  const toy = menu.toys[name];
  state = { ...state, data: name, names: null, axes: null, table: null, points: toy && toy.points ? toy.points.map((one) => [...one]) : name === "points" ? state.points : [], t: null, scale: false, lift: toy && !toy.points ? "" : state.lift };
  refresh(false);
  later(0);
}

function chooseLearner(name) {
  change({ learners: [name, ...state.learners.slice(1)], t: null });
}

function useTable(table, features, scale) {
  past.keep(snapshot());
  if (table.points && features.length === 2 && !scale) state = { ...state, data: "points", table, names: table.classes, axes: table.columns, points: table.points.map(([x, y], k) => [x, y, table.codes[k]]), lift: "", t: null };
  else state = { ...state, data: "table", table, names: null, axes: null, features, scale, points: [], lift: "", t: null };
  refresh(false);
  later(0);
}

// At once a model and the verdict, without steps: the answer to what is under the hand.
function refresh(keep = true) {
  arrange();
  if (replay()) return;
  const mine = ++changes, classes = new Set(state.points.map((one) => one[2]));
  if (canEdit() && classes.size < 2) { answered = mine; server.cancel(); blank(); return; }
  if (canEdit() && !keep) blank("Fitting …", "Fitting …");
  server.quick(request(), (answer) => { if (mine > answered) show(answer, null, keep && canEdit(), true); }, failed); // not over the steps
}

function later(wait = PAUSE) {
  clearTimeout(timer);
  timer = setTimeout(settle, wait);
}

async function settle() {
  timer = 0;
  if (replay()) { stage.open(unpack(bytesOf(menu.opened.story)).stories.map(openRun), state.t); after(); return; }
  if (canEdit() && new Set(state.points.map((one) => one[2])).size < 2) return;
  const mine = changes;
  root.classList.add("busy");
  const patience = setTimeout(() => { stage.narration.textContent = "Fitting … The first time a learner runs on this machine it is compiled, which takes a few seconds."; }, 1500);
  try {
    const answer = await server.traced(request());
    if (mine === changes) { answered = mine; show(answer, state.t, canEdit()); }
  } catch (problem) {
    if (mine === changes) failed(problem);
  }
  clearTimeout(patience);
  root.classList.toggle("busy", server.running());
  remember();
}

function failed(problem) {
  if (problem.name === "AbortError" || problem.superseded) return;
  say(problem.message);
  if (canEdit() && problem.data) blank(problem.message, "There is no model of these points.");
}

function show(answer, t, keep, quick) {
  if (!refused) say("");
  python = answer.python || python;
  const wanted = state.t; // a quick answer has one frame, and must not forget which one is wanted
  stage.open(answer.stories.map(openRun), t, keep, quick);
  state.t = wanted;
  after();
}

function after() {
  pen.dress(state.points, stage.runs()[0].story.classes);
  pen.ways(past.ways());
  showViews();
  school.check();
}

// Points without a model: fewer than two classes.
function blank(status = "Place points of two classes: click for one, choose the other above, click again.", verdict = "Two classes are needed.") {
  const n = state.points.length, most = Math.max(1, ...state.points.map((one) => one[2]));
  const classes = Array.from({ length: most + 1 }, (_, k) => "ABCDEF"[k]), K = classes.length === 2 ? 1 : classes.length, zero = () => new Float32Array(1);
  const story = {
    title: "No model yet", learner: "", parameters: "", classes, status, notes: [], rows: n, features: 2, lift: "", intercept: true,
    points: Float64Array.from(state.points.flatMap(([x, y]) => [x, y])), codes: Uint16Array.from(state.points.map((one) => one[2])), numbers: Uint32Array.from(state.points.keys()),
    every: 1, corrections: 0, returned: "", axes: ["x₁", "x₂"], level: null, lossName: "perceptron loss", towards: "", passes: [], images: null, geometry: null, model: { wrong: n, rows: n },
    frames: { n: new Uint32Array(1), epoch: new Uint32Array(1), row: Int32Array.of(-1), at: Int32Array.of(-1), planes: new Float64Array(3 * K), mistake: new Uint8Array(1), plane: Int32Array.of(-1), score: new Float64Array(0), step: new Float64Array(0), count: Uint32Array.of(n), loss: zero(), norm: zero(), margin: zero(), angle: zero(), wrong: new Uint8Array(Math.ceil(n / 8)) },
    weights: { names: ["w₁", "w₂"], note: "nothing is known yet.", exact: true, lines: new Uint32Array(0) },
    facts: { verdict, separable: null, rows: [], multipliers: [], bound: null, boundText: "", margin: null, radius: null, gamma: null, meet: null },
  };
  const wanted = state.t; // as in show
  stage.open([openRun(story)], null, true);
  state.t = wanted;
  after();
}

function arrange() {
  controls.show(state, takes());
  controls.enable(!replay());
  pen.edit(canEdit());
  const toy = menu.toys[state.data];
  if (!canEdit()) cue.hidden = true;
  about.textContent = ` · ${toy ? `${toy.label}: ${toy.hint}` : state.data === "opened" ? menu.opened.name : state.table ? state.table.name : "own points"}`;
  const { sample } = state.data === "opened" ? menu.opened : state.table || {};
  part.textContent = sample ? `A sample: ${sample}, an even share of each class. Everything here is about these rows.` : "";
  picker.lift.value = state.lift;
  picker.lift.disabled = !canEdit();
  picker.seen.querySelector("[value=lift]").disabled = !state.lift;
  if (view === "lift" && !state.lift) look("weights");
}

function framed(t) {
  if (!state) return;
  const last = t === stage.clock.last();
  state.t = last ? null : t;
  if (views[view]) views[view].show(t);
  clearTimeout(remembering); // an address for each frame would be too many for the browser
  remembering = setTimeout(remember, 200);
  school.check();
}

function remember() {
  if (state.data === "table") return;
  const parameters = Object.fromEntries(takes().filter((name) => state.parameters[name] !== usual[name]).map((name) => [name, state.parameters[name]]));
  const address = writeAddress({ ...state, parameters });
  if (location.hash !== address) history.replaceState(null, "", address);
}

function go(snapshotted) {
  if (!snapshotted) return;
  state = snapshotted;
  refresh();
  later();
}

function begin(given) {
  const toy = menu.toys[given.data];
  state = {
    data: given.data, names: null, axes: null, points: given.data === "points" ? given.points : toy && toy.points ? toy.points.map((one) => [...one]) : [],
    learners: given.learners, parameters: { ...usual, ...given.parameters }, lift: given.lift, scale: given.scale, t: given.t, table: null, features: null,
  };
  refresh(false);
  look(state.lift ? "lift" : "weights");
  later(0);
}

function open(address) {
  say("");
  let given = null;
  refused = false;
  try {
    given = readAddress(new URL(address).hash, menu);
  } catch (problem) {
    refused = true; // what is wrong with an address stays to be read
    say(problem.message);
  }
  begin(given || { data: menu.opened ? "opened" : "separable", points: [], learners: ["online"], parameters: {}, lift: "", scale: false, t: null });
}

function theme() {
  const { dataset } = document.documentElement;
  dataset.theme = dataset.theme === "dark" ? "light" : "dark";
}

function present() {
  document.documentElement.toggleAttribute("data-present");
  stage.redraw();
}

function help() {
  dialog.replaceChildren();
  tag("h2", { id: "dialog-title" }, dialog, "Help");
  const list = tag("ul", {}, dialog);
  for (const line of [
    "Click adds a point of the class chosen, drag moves one, right-click or Delete deletes it. Every change is fitted at once by linsep.",
    "By keyboard: Tab to the picture, arrows move a cross, Enter adds a point; Tab to a point, arrows move it (Shift: far), Delete deletes it, A to F change its class.",
    "Z and Y undo and redo. Space plays and pauses, ← and → step, Shift with them goes to the next mistake, Home and End to the ends.",
    "Point at a row and its line in weight space lights up, and the other way round; P goes to the next one.",
    "1 to 6 choose the family of learners, W, H, O, J, K and L the right picture, S shares, E exports, Escape leaves a presentation.",
    "All numbers are computed by the library on this machine. Nothing leaves it.",
  ]) tag("li", {}, list, line);
  tag("button", { type: "button" }, tag("div", { class: "row" }, dialog), "Close").addEventListener("click", () => dialog.close());
  dialog.showModal();
}

function key(event) {
  if (dialog.open || event.altKey || event.target.closest("input:not([type=range], [type=checkbox]), select, textarea")) return;
  const letter = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey) {
    if (letter === "z") { go(event.shiftKey ? past.redo(snapshot()) : past.undo(snapshot())); event.preventDefault(); }
    if (letter === "y") { go(past.redo(snapshot())); event.preventDefault(); }
    return;
  }
  const families = [...document.querySelectorAll("[data-family]")];
  const actions = {
    z: () => go(past.undo(snapshot())), y: () => go(past.redo(snapshot())), s: ways.share, e: ways.exports, "?": help,
    w: () => look("weights"), o: () => look("loss"), j: () => look("projection"), h: () => look("sphere"), k: () => look("kesler"), l: () => { if (state.lift) look("lift"); },
    escape: () => { if (document.documentElement.hasAttribute("data-present")) present(); },
  };
  if (/^[1-6]$/.test(event.key) && families[event.key - 1]) families[event.key - 1].click();
  else if (/^[a-f]$/.test(letter) && letter !== "e") pen.choose("abcdef".indexOf(letter));
  else if (actions[letter]) actions[letter]();
  else return;
  event.preventDefault();
}

document.addEventListener("keydown", key);
new ResizeObserver(() => Object.values(views).forEach((one) => { if (!one.root.hidden) one.redraw(); })).observe(root);
// The address as it was entered: remember() may have written another one since.
window.addEventListener("hashchange", (event) => open(event.newURL));
open(location.href);
