import { tag } from "./drawing.js";

// Rows and weights whose features are the pixels of a square, as pictures.
export function images(place, run) {
  const given = run.story.images;
  if (!given) return null;
  const { side } = given, d = side * side, box = tag("div", { class: "images" }, place);
  const picture = (name) => {
    const figure = tag("figure", {}, box);
    const made = tag("canvas", { width: side, height: side, role: "img", "aria-label": name }, figure);
    tag("figcaption", {}, figure, name);
    return made;
  };
  const row = picture("this row");
  const weights = Array.from({ length: run.K }, (_, k) => picture(run.binary ? "weights" : `weights of ${run.story.classes[k]}`));
  let before = -1;
  return (t) => {
    const at = run.story.frames.at[t] >= 0 ? run.story.frames.at[t] : 0;
    paint(row, given.rows.subarray(at * d, (at + 1) * d), false);
    let nearest = 0;
    while (nearest + 1 < given.frames.length && given.frames[nearest + 1] <= t) nearest++;
    if (nearest === before) return;
    before = nearest;
    weights.forEach((one, k) => paint(one, given.weights.subarray((nearest * run.K + k) * d, (nearest * run.K + k + 1) * d), true));
  };
}

// Grey where all values are of one sign; orange below zero and blue above where they are signed.
function paint(canvas, values, signed) {
  const pen = canvas.getContext("2d"), { width } = canvas, image = pen.createImageData(width, width);
  const reach = values.reduce((most, one) => Math.max(most, Math.abs(one)), 0) || 1;
  values.forEach((value, k) => {
    const share = Math.abs(value) / reach;
    const colour = signed ? (value < 0 ? [213, 94, 0] : [0, 114, 178]) : [20, 20, 20];
    colour.forEach((part, c) => { image.data[4 * k + c] = 255 + share * (part - 255); });
    image.data[4 * k + 3] = 255;
  });
  pen.putImageData(image, 0, 0);
}
