import { on, tag } from "./drawing.js";
import { player } from "./player.js";
import { bytesOf, openRun, unpack } from "./run.js";
import { headline } from "./words.js";
import { readAddress, writeAddress } from "./address.js";
import { bar } from "./bar.js";
import { blankStory } from "./blank.js";
import { board } from "./board.js";
import { pastAndFuture } from "./history.js";
import { lessons } from "./lessons.js";
import { requests } from "./requests.js";
import { sharing } from "./sharing.js";
import { tables } from "./tables.js";
import { views } from "./views.js";

const PAUSE = 220; // milliseconds of rest after which the run with all its steps is asked for
const LATE = 30; // milliseconds after which a dragged point moves without waiting for its model
const PLACE = "Place points of two classes: click for one, choose the other above, click again.";
const byId = (id) => document.getElementById(id);
const menu = JSON.parse(byId("menu").textContent);
for (const toy of Object.values(menu.toys)) for (const kind of ["points", "shadow"]) if (toy[kind]) toy[kind] = triples(toy[kind]);
const root = byId("player"), dialog = byId("dialog");
const usual = Object.fromEntries(Object.entries(menu.parameters).map(([name, kind]) => [name, kind.usual]));
const say = (text) => { byId("message").textContent = text; };
const server = requests(menu.key, say), past = pastAndFuture();
let state = null, python = "", timer = 0, remembering = 0, lagging = 0;
let before = null, changes = 0, answered = 0, refused = false;

const controls = bar(byId("top"), byId("bar"), menu, {
  data: chooseData, learner: (name) => change({ learners: [name, ...state.learners.slice(1)], t: null }),
  compare: (name) => change({ learners: name ? [state.learners[0], name] : [state.learners[0]], t: null }),
  parameter: (name, value) => change({ parameters: { ...state.parameters, [name]: value }, t: null }),
  scale: (on) => change({ scale: on, t: null }),
  file: () => files.choose(), lessons: () => school.list(), share: () => ways.share(), exports: () => ways.exports(),
  present, theme, help, unfolded: () => stage.redraw(),
});
const stage = player(root, { onFrame: framed });
const about = tag("span", { class: "about" }, stage.heads[0].querySelector("h2"));
const part = tag("strong", { id: "sample" }, byId("top"));
const leave = tag("button", { type: "button", class: "leave", title: "Leave the presentation (Escape)" }, stage.clock.bar.querySelector(".buttons"), "Leave");
on(leave, "click", present);
const pen = board(stage, stage.heads[0], {
  points: () => (state ? state.points : []), say, undo: () => go(past.undo(state)), redo: () => go(past.redo(state)),
  begin: () => { before = state; hold(true); },
  change(points, keep) { if (keep) past.keep(state); edited(points); },
  drag: dragged, rest: () => { before = null; hold(false); later(); },
}, menu.most, menu.classes);
const cue = tag("p", { class: "cue" }, stage.places[0], "Drag a point. Click to add one.");
for (const name of ["pointerdown", "keydown"]) stage.places[0].addEventListener(name, () => { cue.hidden = true; });
const right = views(stage, root, menu.lifts, {
  lift: (name) => change({ lift: name, t: null }), looked: () => school.check(),
});
const lab = {
  state: () => state, runs: () => stage.runs(), story: () => stage.runs()[0].story, at: () => stage.at(), view: right.name,
  python: () => python, request, patch: right.patch, saved: null, settled: () => !timer && !server.running(),
  restart(start) { past.keep(state); begin({ ...start, points: [], parameters: {}, lift: "", scale: false, t: null }); },
  pictures: () => [["Input space", stage.rows.picture.svg], ["Weight space", stage.weights.picture.svg]],
};
const school = lessons(stage.column, dialog, lab);
const ways = sharing(dialog, lab, server, say);
const files = tables(dialog, server, useTable, say);
window.lab = lab; // for tests and for the curious

// [x, y, …] and a figure for each class, as [x, y, class] for each point.
function triples({ at, of }) {
  return Array.from(of, (code, k) => [at[2 * k], at[2 * k + 1], Number(code)]);
}

// While a point is dragged the pictures keep their size, however long the words below are.
function hold(on) {
  stage.dock.style.height = on ? `${stage.dock.offsetHeight}px` : "";
}

function takes() {
  return [...new Set(state.learners.flatMap((name) => menu.learners[name].takes))];
}

function request() {
  const wanted = { learners: state.learners, lift: state.lift, scale: state.scale, parameters: {} };
  for (const name of takes()) wanted.parameters[name] = state.parameters[name];
  if (state.data === "opened") return { ...wanted, opened: true };
  if (state.data === "table") return { ...wanted, table: state.table.id, features: state.features };
  if (state.data !== "points") return { ...wanted, toy: state.data };
  for (const name of ["names", "axes"]) if (state[name]) wanted[name] = state[name];
  return { ...wanted, points: state.points };
}

// Whether rows can be moved: those placed here, and toys of two features.
function canEdit() {
  return state.data === "points" || Boolean(menu.toys[state.data] && menu.toys[state.data].points);
}

const replay = () => state.data === "opened" && menu.opened.story !== null;
const oneClass = () => canEdit() && state.points.every((one) => one[2] === state.points[0][2]);

function change(part) {
  refused = false;
  state = { ...state, ...part };
  refresh();
  later(0);
}

function edited(points) {
  refused = false;
  state = { ...state, points, data: "points", t: null };
  refresh();
  later();
}

// Only the point under the hand changes, so the page around it stays; it is drawn with its model, and once.
function dragged(points, k) {
  if (before) { past.keep(before); before = null; }
  const fresh = state.data !== "points";
  refused = false;
  state = { ...state, points, data: "points", t: null };
  if (fresh) arrange();
  if (oneClass()) { refresh(); return; }
  ask(true, true);
  lagging = lagging || setTimeout(() => { lagging = 0; stage.rows.move(k, ...state.points[k]); }, LATE);
  clearTimeout(timer);
  later(600);
}

function chooseData(name) {
  if (name === state.data) return;
  past.keep(state);
  refused = false;
  const toy = menu.toys[name], own = name === "points";
  state = {
    ...state, data: name, names: null, axes: null, table: null, t: null, scale: false,
    points: toy && toy.points ? toy.points : own ? state.points : [], lift: toy && !toy.points ? "" : state.lift,
  };
  refresh(false);
  later(0);
}

function useTable(table, features, scale) {
  past.keep(state);
  const drawn = table.points && features.length === 2 && !scale, { points, classes, columns, codes } = table;
  state = drawn
    ? { ...state, data: "points", table, names: classes, axes: columns, points: points.map(([x, y], k) => [x, y, codes[k]]), lift: "", t: null }
    : { ...state, data: "table", table, names: null, axes: null, features, scale, points: [], lift: "", t: null };
  refresh(false);
  later(0);
}

// At once a model and the verdict, without steps: the answer to what is under the hand.
function refresh(keep = true) {
  arrange();
  if (replay()) return;
  if (oneClass()) { answered = ++changes; server.cancel(); blank(); return; }
  if (canEdit() && !keep) blank("Fitting …", "Fitting …");
  ask(keep && canEdit());
}

function ask(keep, steady = false) {
  const mine = ++changes;
  server.quick(request(), (answer) => { if (mine > answered) show(answer, null, keep, true, steady); }, failed); // not over the steps
}

function later(wait = PAUSE) {
  clearTimeout(timer);
  timer = setTimeout(settle, wait);
}

async function settle() {
  timer = 0;
  if (replay()) { stage.open(unpack(bytesOf(menu.opened.story)).stories.map(openRun), state.t); after(); return; }
  if (oneClass()) return;
  const mine = changes;
  root.classList.add("busy");
  const patience = setTimeout(() => { stage.narration.textContent = "Fitting …"; }, 1500);
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
  if (state.data === "table" && problem.message.startsWith("The file was closed")) { files.again(state.features, state.scale); return; }
  say(problem.message);
  if (canEdit() && problem.data) blank(problem.message, "There is no model of these points.");
}

function show(answer, t, keep, quick, steady = false) {
  clearTimeout(lagging);
  lagging = 0;
  if (!refused) say("");
  python = answer.python || python;
  const wanted = state.t; // a quick answer has one frame, and must not forget which one is wanted
  stage.open(answer.stories.map(openRun), t, keep, quick);
  state.t = wanted;
  after(steady);
}

// `steady` while a point is dragged: names and places in the keyboard's order follow at rest.
function after(steady = false) {
  if (!steady) pen.dress(state.points, lab.story().classes);
  pen.ways(past.ways());
  byId("headline").textContent = headline(lab.story());
  right.show();
  school.check();
}

function blank(status = PLACE, verdict = "Two classes are needed.") {
  const wanted = state.t; // as in show
  stage.open([openRun(blankStory(state.points, status, verdict))], null, true);
  state.t = wanted;
  after();
}

function arrange() {
  controls.show(state, takes());
  controls.enable(!replay());
  pen.edit(canEdit());
  const toy = menu.toys[state.data], opened = state.data === "opened";
  if (!canEdit()) cue.hidden = true;
  about.textContent = ` · ${toy ? `${toy.label}: ${toy.hint}` : opened ? menu.opened.name : state.table ? state.table.name : "own points"}`;
  const { sample } = opened ? menu.opened : state.table || {};
  part.textContent = sample ? `A sample: ${sample}, an even share of each class. All of this is about these rows.` : "";
  right.allow(state.lift, canEdit());
}

function framed(t) {
  if (!state) return;
  state.t = t === stage.clock.last() ? null : t;
  right.at(t);
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

function go(kept) {
  if (!kept) return;
  state = { ...kept };
  refresh();
  later();
}

function begin(given) {
  const toy = menu.toys[given.data];
  state = {
    data: given.data, names: null, axes: null, points: given.data === "points" ? given.points : (toy && toy.points) || [],
    learners: given.learners, parameters: { ...usual, ...given.parameters }, lift: given.lift, scale: given.scale, t: given.t,
    table: null, features: null,
  };
  right.look(given.lift ? "lift" : "weights");
  refresh(false);
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
  const first = { data: menu.opened ? "opened" : "separable", points: [], learners: ["online"], parameters: {}, lift: "", scale: false, t: null };
  begin(given || first);
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
    "Click or tap adds a point, drag moves it, right-click deletes it. Every change is fitted at once by linsep.",
    "Keys: Tab to the points; arrows, Page Up and Page Down go from one to the next; Enter takes one up, so that arrows move it (Shift: far), and puts it down; N adds one, Delete deletes it, A to F are its class.",
    "Z and Y undo and redo. Space plays and pauses, ← and → step, with Shift to the next mistake, Home and End to the ends.",
    "Point at a row and its line in weight space lights up, and the other way round; P goes to the next one.",
    "1 to 6 choose a family of learners, W, H, O, J, K and L the right picture, S shares, E exports, Escape ends a presentation.",
    "The library computes all numbers on this machine. Nothing leaves it.",
  ]) tag("li", {}, list, line);
  tag("button", { type: "button" }, tag("div", { class: "row" }, dialog), "Close").addEventListener("click", () => dialog.close());
  dialog.showModal();
}

function key(event) {
  if (dialog.open || event.altKey || event.target.closest("input:not([type=range], [type=checkbox]), select, textarea")) return;
  const letter = event.key.toLowerCase(), undo = () => go(past.undo(state)), redo = () => go(past.redo(state));
  if (event.ctrlKey || event.metaKey) {
    if (letter !== "z" && letter !== "y") return;
    if (letter === "y" || event.shiftKey) redo();
    else undo();
    event.preventDefault();
    return;
  }
  const families = [...document.querySelectorAll("[data-family]")], shown = { w: "weights", o: "loss", j: "projection", h: "sphere", k: "kesler" };
  const actions = {
    z: undo, y: redo, s: ways.share, e: ways.exports, "?": help, l: () => { if (state.lift) right.look("lift"); },
    escape: () => { if (document.documentElement.hasAttribute("data-present")) present(); },
  };
  if (/^[1-6]$/.test(event.key) && families[event.key - 1]) families[event.key - 1].click();
  else if (/^[a-f]$/.test(letter) && letter !== "e") pen.choose("abcdef".indexOf(letter));
  else if (shown[letter]) right.look(shown[letter]);
  else if (actions[letter]) actions[letter]();
  else return;
  event.preventDefault();
}

on(document, "keydown", key);
// The address as it was entered: remember() may have written another one since.
on(window, "hashchange", (event) => open(event.newURL));
open(location.href);
