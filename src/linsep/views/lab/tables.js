import { tag } from "./drawing.js";

const MOST = 10_000_000;

// Files dropped on the page or chosen: read by Python on this machine; columns are picked here.
export function tables(dialog, server, use, say) {
  const chooser = tag("input", { type: "file", accept: ".csv,.tsv,.txt,text/csv", hidden: "" }, document.body);
  chooser.addEventListener("change", () => { if (chooser.files[0]) open(chooser.files[0]); chooser.value = ""; });
  document.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    if (event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
  });

  async function open(file) {
    if (file.size > MOST) { say(`${file.name} has more than 10 MB; use \`linsep fit\` for it.`); return; }
    await read(await file.text(), file.name, null);
  }

  async function read(text, name, target) {
    try {
      const table = await (await server.post("/table", { text, name, target })).json();
      say("");
      ask(table, text, name, target);
    } catch (problem) {
      say(problem.message);
    }
  }

  function ask(table, text, name, target) {
    dialog.replaceChildren();
    tag("h2", { id: "dialog-title" }, dialog, table.name);
    tag("p", {}, dialog, `${table.rows} rows, ${table.columns.length} features, classes ${table.classes.join(", ")}.`);
    const labels = tag("label", {}, tag("div", { class: "row" }, dialog), "Column of labels ");
    const pick = tag("select", { id: "target" }, labels);
    table.header.forEach((one) => tag("option", { value: one }, pick, one));
    pick.value = target ?? table.header[table.header.length - 1];
    pick.addEventListener("change", () => read(text, name, pick.value));
    tag("p", {}, dialog, "Features; two of them are drawn as they are, more along two axes:");
    const columns = tag("div", { class: "columns" }, dialog);
    const boxes = table.columns.map((name) => {
      const label = tag("label", {}, columns), box = tag("input", { type: "checkbox" }, label);
      box.checked = true;
      label.append(` ${name}`);
      return box;
    });
    const scaling = tag("label", {}, tag("div", { class: "row" }, dialog)), scale = tag("input", { type: "checkbox", id: "scale" }, scaling);
    scaling.append(" bring features to one scale (mean 0, deviation 1)");
    const row = tag("div", { class: "row" }, dialog);
    const go = tag("button", { type: "button", class: "on", id: "use-table" }, row, "Use these rows");
    go.addEventListener("click", () => {
      const features = boxes.flatMap((box, k) => (box.checked ? [k] : []));
      if (!features.length) return;
      dialog.close();
      use(table, features, scale.checked);
    });
    tag("button", { type: "button" }, row, "Cancel").addEventListener("click", () => dialog.close());
    if (!dialog.open) dialog.showModal();
    go.focus();
  }

  return { choose: () => chooser.click() };
}
