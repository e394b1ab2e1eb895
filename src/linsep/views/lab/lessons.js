import { on, tag } from "./drawing.js";

// One lesson for each lecture and two of proof. A task is done when the state of the lab says so.
const separable = (lab) => lab.story().facts.separable === true;
const inseparable = (lab) => lab.story().facts.separable === false;
const wrongOf = (lab, k) => lab.runs()[k].story.model.wrong;

export const LESSONS = [
  {
    title: "Threshold units", start: { data: "and", learners: ["online"] },
    text: "A unit fires where w·x + b ≥ 0. AND, OR and their kin are units; the arrow points to the side where it fires.",
    tasks: [
      ["Go back to the first frame: all weights are zero, and every row counts as wrong.", (lab) => lab.at() === 0 && lab.runs()[0].T > 1],
      ["Step on with → until no row is wrong.", (lab) => lab.at() > 0 && lab.runs()[0].count(Math.min(lab.at(), lab.runs()[0].T - 1)) === 0],
      ["Move or add points until no line can do it.", inseparable],
    ],
  },
  {
    title: "Learning from mistakes", start: { data: "three-points", learners: ["online"] },
    text: "The perceptron adds a row that it got wrong to its weights, and turns the boundary towards it. In weight space it steps across the line of that row.",
    tasks: [
      ["Which row asked for correction 6? Go there and read.", null, "1"],
      ["How many corrections does it make in all?", null, "13"],
      ["Move the points until it can make at most 20 mistakes, whatever the order.", (lab) => separable(lab) && lab.story().facts.bound !== null && lab.story().facts.bound <= 20],
    ],
  },
  {
    title: "Descending to a least squares fit", start: { data: "two-groups", learners: ["delta"] },
    text: "The delta rule walks down the mean squared error. It ends where the normal equations say, whether or not all rows are on their sides.",
    tasks: [
      ["Compare it with the exact solution.", (lab) => lab.state().learners.includes("least-squares") && lab.state().learners.length === 2],
      ["Look at the loss surface: choose it above the right picture.", (lab) => lab.view() === "loss"],
      ["Drag one point far away until least squares misplaces a row, although a separator exists.", (lab) => separable(lab) && wrongOf(lab, 0) > 0],
    ],
  },
  {
    title: "Probabilities, and weights that run away", start: { data: "separable", learners: ["logistic"] },
    text: "Logistic regression makes the right labels as likely as it can. Where a line separates them it can always do better with longer weights.",
    tasks: [
      ["Switch the penalty off: there is no optimum, and the lab says so.", (lab) => lab.state().parameters.penalised === false && separable(lab)],
      ["Bring the optimum back without a penalty: place points so that the classes overlap.", (lab) => lab.state().parameters.penalised === false && inseparable(lab)],
    ],
  },
  {
    title: "Fisher's direction", start: { data: "two-groups", learners: ["fisher"] },
    text: "Fisher's discriminant takes the direction along which the means are far apart for the spread within the classes. Every row has a say, also those far from the boundary.",
    tasks: [
      ["Look at the projection: choose it above the right picture.", (lab) => lab.view() === "projection"],
      ["Compare it with the support vector machine.", (lab) => lab.state().learners[1] === "svm"],
      ["Drag one row far out on its own side until Fisher's boundary misplaces a row and that of the SVM none.", (lab) => lab.runs().length === 2 && lab.state().learners[1] === "svm" && wrongOf(lab, 0) > 0 && wrongOf(lab, 1) === 0],
    ],
  },
  {
    title: "Proof: it cannot be done", start: { data: "xor", learners: ["online"] },
    text: "That no line separates is proved by few rows: some of one class and some of the other whose hulls meet. The cross marks a point of both.",
    tasks: [
      ["Place points so that the proof needs 3 rows only: one between two of the other class.", (lab) => inseparable(lab) && lab.story().facts.rows.length === 3],
      ["Let the perceptron run until its weights come back: they go round for ever.", (lab) => Boolean(lab.story().cycle)],
      ["Go back to XOR and lift it by x₁·x₂, above the right picture: now a plane separates it.", (lab) => lab.state().lift === "product" && separable(lab)],
    ],
  },
  {
    title: "Proof: it will end", start: { data: "separable", learners: ["online"] },
    text: "Novikoff: rows within a ball of radius R, separable with margin γ, cost at most (R/γ)² mistakes. Both are certified for the points you see.",
    tasks: [
      ["Read the bound. Is the number of mistakes ever above it? (yes or no)", null, "no"],
      ["Make the margin smaller than 0.05, and keep the rows separable.", (lab) => separable(lab) && lab.story().facts.margin < 0.05],
      ["Make a run of more than 30 corrections that still ends with no row wrong.", (lab) => separable(lab) && lab.story().corrections > 30 && wrongOf(lab, 0) === 0],
    ],
  },
];

// The lesson that is open, in a box on top of the state.
export function lessons(column, dialog, lab) {
  const box = tag("section", { class: "lesson", "aria-label": "Lesson", hidden: "" });
  column.prepend(box);
  let open = null, done = [], items = [], praise = null;

  function list() {
    dialog.replaceChildren();
    tag("h2", { id: "dialog-title" }, dialog, "Lessons");
    tag("p", {}, dialog, "One for each lecture, and two of proof. Each asks something of you, and the lab checks it.");
    const all = tag("ol", {}, dialog);
    LESSONS.forEach((one, k) => {
      const button = tag("button", { type: "button", "data-lesson": k }, tag("li", {}, all), one.title);
      on(button, "click", () => { dialog.close(); begin(k); });
    });
    tag("button", { type: "button" }, tag("div", { class: "row" }, dialog), "Close").addEventListener("click", () => dialog.close());
    dialog.showModal();
  }

  function begin(k) {
    open = k;
    const { title, text, tasks, start } = LESSONS[k];
    done = tasks.map(() => false);
    box.replaceChildren();
    box.hidden = false;
    tag("h2", {}, box, `Lesson ${k + 1}: ${title}`);
    tag("p", {}, box, text);
    const list0 = tag("ol", {}, box);
    items = tasks.map(([task, , answer], i) => {
      const item = tag("li", {}, list0, task);
      if (answer !== undefined) question(item, i, answer);
      return item;
    });
    praise = tag("p", { class: "praise", role: "status" }, box);
    const row = tag("div", { class: "row" }, box);
    if (k + 1 < LESSONS.length) tag("button", { type: "button" }, row, "Next lesson").addEventListener("click", () => begin(k + 1));
    tag("button", { type: "button" }, row, "Leave").addEventListener("click", leave);
    column.scrollTop = 0;
    box.scrollIntoView({ block: "nearest" }); // on a phone it is far below
    lab.restart(start);
    mark();
  }

  function question(item, i, answer) {
    item.append(" ");
    const input = tag("input", { type: "text", size: 4, "aria-label": "Your answer" }, item);
    const reply = tag("span", { role: "status" }, item);
    on(input, "input", () => {
      reply.textContent = "";
      if (input.value.trim().toLowerCase() !== answer) return;
      done[i] = true;
      mark();
    });
    on(input, "change", () => { if (input.value && !done[i]) reply.textContent = " Not so; look again."; });
  }

  function leave() {
    open = null;
    box.hidden = true;
  }

  function mark() {
    const next = done.indexOf(false);
    items.forEach((item, i) => { item.className = done[i] ? "done" : next >= 0 && i > next ? "later" : "wide"; });
    praise.textContent = next < 0 ? "Solved." : "";
    box.dataset.done = String(done.filter(Boolean).length);
    box.dataset.tasks = String(done.length);
  }

  // Tasks are done in their order, so that each is a step.
  function check() {
    if (open === null || !lab.runs().length) return;
    const next = done.indexOf(false);
    if (next < 0) return;
    const [, test] = LESSONS[open].tasks[next];
    if (test && test(lab)) { done[next] = true; mark(); }
  }

  return { list, begin, check };
}
