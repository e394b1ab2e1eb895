import { on, tag } from "./drawing.js";

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "font-family", "visibility", "paint-order", "text-anchor"];

// Ways out: an address, one file, Python, a command, the model, the rows, the pictures.
export function sharing(dialog, lab, server, say) {
  function start(title) {
    dialog.replaceChildren();
    tag("h2", { id: "dialog-title" }, dialog, title);
  }

  function end() {
    const row = tag("div", { class: "row" }, dialog);
    tag("button", { type: "button" }, row, "Close").addEventListener("click", () => dialog.close());
    if (!dialog.open) dialog.showModal();
  }

  function copyable(name, text, id) {
    const row = tag("div", { class: "row" }, dialog);
    tag("strong", {}, row, name);
    const button = tag("button", { type: "button" }, row, "Copy");
    const area = tag("textarea", { readonly: "", id, "aria-label": name }, dialog);
    area.value = text;
    on(button, "click", async () => {
      area.select();
      try { await navigator.clipboard.writeText(text); } catch { document.execCommand("copy"); }
      button.textContent = "Copied";
    });
  }

  function share() {
    start("Share");
    const can = lab.state().data !== "table";
    tag("p", {}, dialog, can ? "The address holds points, learners, parameters and step. Who has linsep opens it with: linsep lab 'ADDRESS'" : "Rows of a file have no address; share the file below.");
    if (can) copyable("Address", location.href, "address");
    tag("p", {}, dialog, "One file with this run inside: anybody opens it in a browser, plays it and steps through it. It needs no linsep and no network.");
    const row = tag("div", { class: "row" }, dialog);
    tag("button", { type: "button", id: "save-film" }, row, "Save as one file").addEventListener("click", () => save("/film", "film.html", "text/html"));
    end();
  }

  function exports() {
    start("Export");
    copyable("Python that does the same", lab.python(), "python");
    const { story } = lab.runs()[0];
    if (story.command) copyable("Command, with the rows saved as points.csv", story.command, "command");
    const row = tag("div", { class: "row" }, dialog);
    const button = (name, id, act) => tag("button", { type: "button", id }, row, name).addEventListener("click", act);
    button("Rows (CSV)", "save-csv", () => download(csv(story), "points.csv", "text/csv"));
    button("Model", "save-model", () => save("/model", "model.linsep", "application/octet-stream"));
    lab.pictures().forEach(([name, svg]) => {
      button(`${name} (SVG)`, `svg-${name.split(" ")[0].toLowerCase()}`, () => download(written(svg), `${name}.svg`, "image/svg+xml"));
      button(`${name} (PNG)`, `png-${name.split(" ")[0].toLowerCase()}`, () => painted(svg, `${name}.png`));
    });
    end();
  }

  async function save(path, name, type) {
    try {
      const answer = await server.post(path, lab.request());
      download(await answer.blob(), name, type);
      lab.saved = name;
    } catch (problem) {
      dialog.close();
      say(problem.message);
    }
  }

  return { share, exports };
}

function download(content, name, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function csv({ points, codes, classes, axes }) {
  const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const names = axes[0] === "x₁" ? ["x1", "x2"] : axes;
  const lines = Array.from(codes, (code, k) => `${points[2 * k]},${points[2 * k + 1]},${quoted(classes[code])}`);
  return `${names.map(quoted).join(",")},label\n${lines.join("\n")}\n`;
}

// A picture with its styles inside, so that it looks the same elsewhere.
export function written(svg) {
  const copy = svg.cloneNode(true), from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((one, k) => {
    const style = getComputedStyle(one);
    for (const name of STYLES) { const value = style.getPropertyValue(name); if (value) to[k].setAttribute(name, value); }
    to[k].removeAttribute("class");
  });
  copy.removeAttribute("opacity"); // behind another view
  const [, , width, height] = svg.getAttribute("viewBox").split(" ");
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  return new XMLSerializer().serializeToString(copy);
}

function painted(svg, name) {
  const image = new Image(), [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const address = URL.createObjectURL(new Blob([written(svg)], { type: "image/svg+xml" }));
  on(image, "load", () => {
    const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
    canvas.width = 2 * width;
    canvas.height = 2 * height;
    pen.fillStyle = getComputedStyle(document.body).backgroundColor;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    canvas.toBlob((blob) => download(blob, name, "image/png"));
  });
  image.src = address;
}
