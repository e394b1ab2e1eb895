import { on, tag } from "./drawing.js";
import { keslerView } from "./kesler.js";
import { liftView } from "./lift.js";
import { sphereView } from "./sphere.js";
import { projectionView, surfaceView } from "./surface.js";

// What the right picture shows: its name in the list, its title, and what there is to be seen.
const SEEN = {
  weights: ["weight space", "Weight space", "a line for each row; shaded: right for all"],
  sphere: ["sphere", "Sphere", "all directions of the weights and the intercept"],
  loss: ["loss surface", "Loss surface", ""],
  projection: ["projection", "Projection", "rows seen along one direction"],
  kesler: ["Kesler rows", "Kesler", "the long vectors of a correction"],
  lift: ["3 dimensions", "Three dimensions", "drag to turn"],
};

// The right picture and the two lists that choose it.
export function views(stage, root, lifts, actions) {
  const place = stage.places[1], head = stage.heads[1].querySelector("h2");
  const made = { sphere: sphereView(place), lift: liftView(place), loss: surfaceView(place), projection: projectionView(place, stage.rows), kesler: keslerView(place) };
  const tools = tag("div", { class: "tools" }, stage.heads[1]);
  const list = (id, name, options) => {
    const select = tag("select", { id }, tag("label", { class: "pick" }, tools, `${name} `));
    for (const [value, text] of options) tag("option", { value }, select, text);
    return select;
  };
  const seen = list("view", "Show", Object.entries(SEEN).map(([value, [name]]) => [value, name]));
  const lift = list("lift", "Third feature", Object.entries(lifts).map(([value, name]) => [value, value ? name : "none"]));
  let now = "weights";
  on(seen, "change", () => look(seen.value));
  on(lift, "change", () => { actions.lift(lift.value); look(lift.value ? "lift" : "weights"); });

  function look(name) {
    now = root.dataset.view = seen.value = name;
    for (const [key, one] of Object.entries(made)) one.root.hidden = key !== name;
    made.projection.hide();
    show();
    actions.looked();
  }

  function entitle(run, several) {
    const [, title, usual] = SEEN[now];
    let about = usual;
    if (run && now === "loss") about = `mean ${run.story.lossName}${["LogisticRegression", "LinearSVC"].includes(run.story.learner) ? ", no penalty" : ""}, at this b`;
    else if (run && now === "weights" && !run.binary) about = "the weights of each class, and their paths";
    else if (run && now === "weights" && !run.story.grid && !run.solvable()) about = "a line for each row";
    if (several && now !== "weights") about += `, of ${run.story.title} alone`;
    head.textContent = title;
    tag("span", { class: "about" }, head, ` · ${about}`);
  }

  function show() {
    const [run, second] = stage.runs();
    entitle(run, Boolean(second));
    if (!run || (now === "lift" && !run.story.lift) || !made[now]) return;
    made[now].open(run);
    made[now].show(stage.at());
  }

  function allow(chosen, can) {
    lift.value = chosen;
    lift.disabled = !can;
    seen.querySelector("[value=lift]").disabled = !chosen;
    if (now === "lift" && !chosen) look("weights");
  }

  new ResizeObserver(() => Object.values(made).forEach((one) => { if (!one.root.hidden) one.redraw(); })).observe(root);
  return { look, show, allow, name: () => now, at: (t) => { if (made[now]) made[now].show(t); }, patch: () => made.sphere.corners() };
}
