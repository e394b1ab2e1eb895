import { on, tag } from "./drawing.js";

const MOST = 10_000_000;

// Files dropped on the page or chosen: read by Python on this machine; columns are picked here.
export function tables(dialog, server, use, say) {
  let last = null; // the file in use, for a server that was started anew

  const chooser = tag("input", { type: "file", accept: ".csv,.tsv,.txt,text/csv", hidden: "" }, document.body);
  on(chooser, "change", () => { if (chooser.files[0]) take(chooser.files[0]); chooser.value = ""; });
  on(document, "dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
  on(document, "dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
  on(document, "drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  });

  async function take(file) {
    if (file.size > MOST) { say(`${file.name} has more than 10 MB; use \`linsep fit\` for it.`); return; }
    await read({ text: await file.text(), name: file.name, target: null });
  }

  async function post(file) {
    return (await server.post("/table", file)).json();
  }

  async function read(file) {
    try {
      const table = await post(file);
      say("");
      ask(table, file);
    } catch (problem) {
      say(problem.message);
    }
  }

  // The same rows once more, where the server does not hold them any longer.
  async function again(features, scale) {
    try {
      use(await post(last), features, scale);
    } catch (problem) {
      say(problem.message);
    }
  }

  function ask(table, file) {
    dialog.replaceChildren();
    tag("h2", { id: "dialog-title" }, dialog, table.name);
    const told = table.problem || `${table.rows} rows, ${table.columns.length} features, classes ${table.classes.join(", ")}.`;
    tag("p", table.problem ? { class: "problem", role: "alert" } : {}, dialog, told);
    const labels = tag("label", {}, tag("div", { class: "row" }, dialog), "Column of labels ");
    const pick = tag("select", { id: "target" }, labels);
    const names = table.header.concat(table.question ? [table.question] : []);
    if (file.target && !names.includes(file.target)) names.push(file.target);
    names.forEach((one) => tag("option", { value: one }, pick, one));
    pick.value = file.target ?? table.header.at(-1);
    on(pick, "change", () => read({ ...file, target: pick.value }));
    const go = table.problem ? pick : columns(table, file);
    tag("button", { type: "button" }, tag("div", { class: "row" }, dialog), "Cancel").addEventListener("click", () => dialog.close());
    if (!dialog.open) dialog.showModal();
    go.focus();
  }

  // The boxes that choose features, and the button that takes them.
  function columns(table, file) {
    tag("p", {}, dialog, "Features; two of them are drawn as they are, more along two axes:");
    const list = tag("div", { class: "columns" }, dialog), texts = {}, text = (name) => name.split("=")[0];
    for (const name of table.columns) texts[text(name)] = (texts[text(name)] || 0) + 1;
    const boxes = table.columns.map((name) => {
      const label = tag("label", {}, list), box = tag("input", { type: "checkbox" }, label);
      box.checked = texts[text(name)] <= 20; // names and the like are not features
      label.append(` ${name}`);
      return box;
    });
    const scaling = tag("label", {}, tag("div", { class: "row" }, dialog)), scale = tag("input", { type: "checkbox", id: "scale" }, scaling);
    scaling.append(" bring features to one scale (mean 0, deviation 1)");
    if (table.sample) tag("p", {}, dialog, `The lab takes a sample: ${table.sample}, an even share of each class.`);
    const go = tag("button", { type: "button", class: "on", id: "use-table" }, dialog, "Use these rows");
    on(go, "click", () => {
      const features = boxes.flatMap((box, k) => (box.checked ? [k] : []));
      if (!features.length) return;
      dialog.close();
      last = file;
      use(table, features, scale.checked);
    });
    return go;
  }

  return { choose: () => chooser.click(), again };
}
