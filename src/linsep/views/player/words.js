// What is proved, and what happens in a frame, in words and numbers.
import { brief, many } from "./drawing.js";

// The verdict in one sentence. R and γ are the pair of which the bound is made.
export function headline({ facts, features, classes, lift, intercept }) {
  const { separable, verdict, rows, bound, radius, gamma, margin } = facts;
  if (separable === null) return verdict;
  const several = classes.length > 2, kind = several ? "straight boundaries" : features > 2 ? "plane" : "line";
  const name = `${kind}${lift ? " in three dimensions" : ""}${intercept ? "" : " through the origin"}`;
  if (!separable) return `No ${name} can separate the classes${rows.length ? `: ${rows.length} rows prove it` : ""}.`;
  const equal = (letter, value) => `${letter}\u00a0=\u00a0${brief(value)}`;
  const told = bound !== null ? `: at most ${many(bound)} mistakes = (R/γ)², ${equal("R", radius)}, ${equal("γ", gamma)}` : margin !== null ? ` with margin ${brief(margin)}` : "";
  return `${several ? "S" : "A "}${several ? name.slice(1) : name} separate${several ? "" : "s"} the classes${told}.`;
}

export function number(value) {
  return brief(value);
}

function vector(values) {
  return `(${Array.from(values, number).join(", ")})`;
}

export function caption(run, t) {
  const { story } = run, { frames } = story;
  const left = rest(run.count(t), story.rows);
  if (!story.learner) return { said: story.status, sum: "" };
  if (run.T === 1) {
    return { said: `The model: ${story.status || "fitted"} ${left}`, sum: weights(run, t) };
  }
  if (t === 0) {
    const zero = run.plane(0).every((one) => one === 0) && frames.norm[0] === 0;
    return { said: `Start: ${zero ? "all weights are zero" : "the weights it was given"}. ${left}`, sum: weights(run, 0) };
  }
  if (run.isModel(t)) return { said: `The model returned: ${story.returned}. ${left}`, sum: weights(run, t) };
  return { said: `${opening(run, t)} ${turned(run, t)}${left}`, sum: sum(run, t) };
}

function rest(wrong, n) {
  if (wrong === 0) return `All ${many(n)} rows are on their own side.`;
  return `${many(wrong)} of ${many(n)} rows ${wrong === 1 ? "is" : "are"} wrong now.`;
}

// The numbers of one frame in a table with several a frame, without those that are not there.
function ofFrame(table, T, t) {
  const each = table.length / T;
  return Array.from(table.subarray(t * each, (t + 1) * each)).filter((one) => !Number.isNaN(one));
}

function opening(run, t) {
  const { story } = run, { frames } = story, row = frames.row[t], at = frames.at[t];
  const head = `Correction ${many(frames.n[t])}, pass ${many(frames.epoch[t])}:`;
  if (row < 0) return `${head} one step for many rows together.`;
  let who = `row ${row}`;
  if (at >= 0) who += ` of class ${story.classes[story.codes[at]]}`;
  const scores = ofFrame(frames.score, run.T, t), mistake = frames.mistake[t];
  if (scores.length !== 1) return `${head} ${who} was ${mistake ? "taken for another class" : "not far ahead"}.`;
  if (frames.plane[t] >= 0) who += `, for or against class ${story.classes[frames.plane[t]]},`;
  const side = scores[0] === 0 ? "on the boundary, which counts as wrong" : mistake ? "on the wrong side" : "on its side";
  return `${head} ${who} scored ${number(scores[0])}, ${side}.`;
}

function turned(run, t) {
  if (!run.binary || run.story.features > 3) return "";
  const d = run.wide - 1, before = run.plane(t - 1).subarray(0, d), after = run.plane(t).subarray(0, d);
  const dot = (u, v) => u.reduce((total, one, k) => total + one * v[k], 0);
  const lengths = Math.sqrt(dot(before, before) * dot(after, after));
  if (!lengths) return after.some((one) => one !== 0) ? "" : "The weights are zero: there is no boundary. ";
  const angle = (180 / Math.PI) * Math.acos(Math.min(1, Math.max(-1, dot(before, after) / lengths)));
  if (angle < 0.05) return "The boundary moved without turning. ";
  return `The boundary turned by ${number(Math.round(10 * angle) / 10)}°${run.story.every === 1 ? "" : " since the frame before"}. `;
}

// Planes hold (w, 0, b) of one feature, (w₁, w₂, b) of two, all of three raised ones.
function parts(run, plane) {
  const d = run.story.features;
  return { w: plane.subarray(0, d === 1 ? 1 : run.wide - 1), b: plane[run.wide - 1] };
}

function exact(run) {
  return run.story.features <= 2 || Boolean(run.story.lift);
}

export function weights(run, t) {
  if (run.grid(t)) return "";
  if (!exact(run)) return `‖w‖ = ${number(run.story.frames.norm[t])}`;
  return Array.from({ length: run.K }, (_, k) => {
    const { w, b } = parts(run, run.plane(t, k));
    return `${run.binary ? "w" : `w of ${run.story.classes[k]}`} = ${vector(w)}, b = ${number(b)}`;
  }).join("\n");
}

// w + η y x = w′ with its numbers, where the correction was exactly that.
function sum(run, t) {
  const { story } = run, { frames } = story, at = frames.at[t];
  const steps = ofFrame(frames.step, run.T, t);
  if (story.every !== 1 || at < 0 || !steps.length || !exact(run)) return weights(run, t);
  const x = [story.points[2 * at], story.points[2 * at + 1], ...(run.third ? [run.third[at]] : [])].slice(0, story.features);
  const lines = [], first = Math.max(0, frames.plane[t]);
  for (const [k, step] of steps.entries()) {
    if (step === 0) continue;
    const place = run.binary ? 0 : first + k;
    const before = parts(run, run.plane(t - 1, place)), after = parts(run, run.plane(t, place));
    const reach = Math.max(...before.w.map(Math.abs)) + Math.abs(step) * Math.max(...x.map(Math.abs));
    if (x.some((one, j) => Math.abs(before.w[j] + step * one - after.w[j]) > 1e-5 * reach)) return weights(run, t);
    const name = run.binary ? "" : ` of class ${story.classes[place]}`;
    lines.push(`w${name}: ${vector(before.w)} + (${number(step)}) · ${vector(x)} = ${vector(after.w)}`);
    if (before.b !== after.b) lines.push(`b${name}: ${number(before.b)} + (${number(after.b - before.b)}) = ${number(after.b)}`);
  }
  return lines.join("\n");
}
