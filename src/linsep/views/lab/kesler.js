import { brief, tag } from "./drawing.js";

// Kesler's construct: a row of one class becomes a long vector for each rival, and one plane has to be right for them all.
export function keslerView(place) {
  const root = tag("div", { class: "view kesler", hidden: "", tabindex: 0, role: "region", "aria-label": "Kesler's construct" }, place);
  let run = null, t = 0;

  function show(at) {
    t = at;
    if (!run || root.hidden) return;
    root.replaceChildren();
    const { story } = run;
    if (run.binary || story.grid || !(story.features <= 2 || story.lift)) {
      tag("p", { class: "about" }, root, "Kesler's vectors are shown for three classes or more and two features.");
      return;
    }
    const now = Math.min(t, run.T - 1), row = story.frames.at[now], k = row >= 0 ? row : 0, before = row >= 0 && now > 0 ? now - 1 : now;
    const own = story.codes[k], x = [story.points[2 * k], story.points[2 * k + 1], ...(run.third ? [run.third[k]] : [])].slice(0, story.features), extended = [...x, 1];
    tag("p", {}, root, `Row ${story.numbers[k]} of class ${story.classes[own]}, x̃ = (${extended.map((one) => brief(one, 3)).join(", ")}), is one long vector for each rival: x̃ in the block of its class, −x̃ in the rival's. The stacked weights W must score each above 0.`);
    const plane = (j) => { const all = run.plane(before, j); return [...Array.from(all).slice(0, story.features), all[run.wide - 1]]; };
    const score = (j) => plane(j).reduce((sum, one, i) => sum + one * extended[i], 0), written = (values) => values.map((one) => brief(one, 3)).join("  ");
    const rivals = story.classes.map((_, j) => j).filter((j) => j !== own);
    const table = tag("table", {}, root), head = tag("tr", {}, tag("thead", {}, table)), body = tag("tbody", {}, table);
    tag("td", {}, head);
    [before === now ? "W now" : "W before", ...rivals.map((j) => `z against ${story.classes[j]}`)].forEach((name) => tag("th", { scope: "col" }, head, name));
    story.classes.forEach((name, i) => {
      const line = tag("tr", {}, body);
      tag("th", { scope: "row" }, line, `block ${name}`);
      tag("td", {}, line, written(plane(i)));
      rivals.forEach((j) => tag("td", {}, line, i === own ? written(extended) : i === j ? written(extended.map((one) => -one)) : "0"));
    });
    const last = tag("tr", {}, body);
    tag("th", { scope: "row" }, last, "W · z");
    tag("td", {}, last);
    rivals.forEach((j) => { const value = score(own) - score(j); tag("td", { class: value <= 0 ? "off" : "" }, last, `${brief(value)}${value <= 0 ? ": wrong" : ""}`); });
    tag("p", { class: "small" }, root, before === now ? "No correction is shown: these are the weights of this step." : "The rule adds the vector that is wrong to W: the block of the class gains x̃, that of the rival loses it.");
  }

  return { root, open(given) { run = given; }, show, redraw: () => show(t) };
}
