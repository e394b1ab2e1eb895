import { brief, tag } from "./drawing.js";
import { play } from "./player.js";
import { readAddress, writeAddress } from "./address.js";
import { pointBoard } from "./board.js";

const menu = JSON.parse(document.getElementById("menu").textContent);
const byId = (id) => document.getElementById(id);
const inputs = {};
let player = null, frame = null, waiting = 0, asked = 0;

const board = pointBoard(byId("board"), menu.most, () => { byId("data").value = "points"; changed(); }, say);

function option(select, value, name) {
  tag("option", { value }, select, name);
}

function fillMenus() {
  if (menu.opened) option(byId("data"), "opened", menu.opened.name);
  for (const [name, toy] of Object.entries(menu.toys)) option(byId("data"), name, toy.label);
  option(byId("data"), "points", "own points");
  option(byId("second"), "", "nothing");
  for (const [name, one] of Object.entries(menu.learners)) {
    option(byId("first"), name, one.label);
    option(byId("second"), name, one.label);
  }
  for (const [name, kind] of Object.entries(menu.parameters)) {
    const label = tag("label", {}, byId("parameters"), `${kind.label} `);
    const binary = typeof kind.usual === "boolean";
    inputs[name] = tag("input", binary ? { type: "checkbox" } : { type: "number", min: kind.least, max: kind.most, step: kind.whole ? 1 : "any", required: "" }, label);
    inputs[name].id = `parameter-${name}`;
    inputs[name].addEventListener("input", changed);
  }
}

function setParameters(given) {
  for (const [name, kind] of Object.entries(menu.parameters)) {
    const value = name in given ? given[name] : kind.usual;
    if (typeof kind.usual === "boolean") inputs[name].checked = value;
    else inputs[name].value = String(value);
  }
}

function learners() {
  return [byId("first").value, byId("second").value].filter(Boolean);
}

function parameters() {
  const taken = new Set(learners().flatMap((name) => menu.learners[name].takes));
  const found = {};
  for (const name of Object.keys(menu.parameters)) {
    if (taken.has(name)) found[name] = inputs[name].type === "checkbox" ? inputs[name].checked : inputs[name].valueAsNumber;
  }
  return found;
}

function say(text) {
  byId("message").textContent = text;
}

// Only a whole state has an address: an empty field has none.
function remember() {
  const state = { data: byId("data").value, points: board.points(), learners: learners(), parameters: parameters(), t: frame };
  if (Object.values(state.parameters).some((value) => Number.isNaN(value))) return;
  history.replaceState(null, "", writeAddress(state));
}

function arrange() {
  const data = byId("data").value, replay = data === "opened" && menu.opened.story !== null;
  byId("board").hidden = data === "opened";
  byId("result").hidden = replay;
  byId("parameters").hidden = replay;
  for (const id of ["first", "second"]) byId(id).disabled = replay;
  const taken = parameters();
  for (const [name, input] of Object.entries(inputs)) input.closest("label").hidden = !(name in taken);
}

function stop() {
  asked += 1;
  clearTimeout(waiting);
  frame = null;
  if (player) player.close();
  player = null;
  byId("run").disabled = false;
  byId("python").textContent = "";
  byId("models").replaceChildren();
  tag("li", {}, byId("models"), "Press Run.");
}

// What was shown is no longer the run of what is chosen.
function changed() {
  say("");
  stop();
  arrange();
  remember();
}

function chosen() {
  const data = byId("data").value;
  if (data in menu.toys) board.show(menu.toys[data].points);
  changed();
}

function show(stories, at) {
  byId("player").classList.toggle("pair", stories.length === 2);
  const onFrame = (t) => {
    frame = t;
    clearTimeout(waiting); // an address for each frame would be too many for the browser
    waiting = setTimeout(remember, 200);
  };
  player = play(byId("player"), stories, { at, bare: stories.length === 2, onFrame });
}

async function run(at = 0) {
  stop();
  say("");
  const data = byId("data").value;
  if (data === "opened" && menu.opened.story) { show([menu.opened.story], at); return; }
  const mine = asked, wanted = { learners: learners(), parameters: parameters() };
  if (data === "points") wanted.points = board.points();
  else if (data === "opened") wanted.opened = true;
  else wanted.toy = data;
  byId("run").disabled = true;
  let told;
  try {
    const answer = await fetch("/run", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(wanted) });
    told = await answer.json();
  } catch {
    told = { error: "The lab's server does not answer; is `linsep lab` still running?" };
  }
  if (mine !== asked) return; // something else was asked for meanwhile
  byId("run").disabled = false;
  if (told.error) { say(told.error); return; }
  byId("python").textContent = told.python;
  byId("models").replaceChildren(...told.models.map(describe));
  show(told.stories, at);
}

function describe(model) {
  const planes = model.w.map((w, k) => `w = (${w.slice(0, 4).map(brief).join(", ")}${w.length > 4 ? ", …" : ""}), b = ${brief(model.b[k])}`);
  return tag("li", {}, null, `${model.learner}: ${planes.join("; ")}; ${model.wrong} of ${model.rows} rows wrong. ${model.status}`);
}

function open() {
  let state = null;
  say("");
  try {
    state = readAddress(location.hash, menu);
  } catch (problem) {
    say(problem.message);
  }
  const first = menu.opened ? "opened" : Object.keys(menu.toys)[0];
  const { data, points, learners: names, parameters: given, t } = state || { data: first, points: [], learners: ["online"], parameters: {}, t: menu.opened ? 0 : null };
  byId("data").value = data;
  byId("first").value = names[0];
  byId("second").value = names[1] || "";
  setParameters(given);
  board.show(data === "points" ? points : data in menu.toys ? menu.toys[data].points : []);
  stop();
  arrange();
  if (t !== null) run(t);
}

fillMenus();
byId("data").addEventListener("change", chosen);
for (const id of ["first", "second"]) byId(id).addEventListener("change", changed);
byId("choices").addEventListener("submit", (event) => { event.preventDefault(); run(); });
window.addEventListener("hashchange", open);
open();
