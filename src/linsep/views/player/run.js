// A recorded run: arrays as they came, and what can be told from them at one step.

const KINDS = { f8: Float64Array, f4: Float32Array, i4: Int32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };

// What Python packed: JSON with arrays beside it.
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true), start = 4 + length;
  const known = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const rich = (value) => {
    if (Array.isArray(value)) return value.map(rich);
    if (value === null || typeof value !== "object") return value;
    if (value.$) {
      const [kind, shape, where] = value.$;
      const count = shape.reduce((product, one) => product * one, 1);
      return new KINDS[kind](buffer, start + where, count);
    }
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rich(one)]));
  };
  return rich(known);
}

export function bytesOf(text) {
  return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)).buffer;
}

export function raise(lift, x, y) {
  return lift === "product" ? x * y : x * x + y * y;
}

export function openRun(story) {
  const { frames, points, codes, lift } = story;
  const T = frames.n.length, n = codes.length, K = story.classes.length === 2 ? 1 : story.classes.length;
  const wide = frames.planes.length / (T * K);
  const third = lift ? Float64Array.from({ length: n }, (_, k) => raise(lift, points[2 * k], points[2 * k + 1])) : null;
  const run = { story, T, n, K, wide, third, binary: K === 1 };

  // Models without one plane are known at the places of a grid; their steps, if any, are planes.
  run.grid = (t) => (t === T - 1 ? story.grid : undefined);

  // Whether the lines of all rows are known, so that the solution region can be drawn.
  run.solvable = () => run.binary && n === story.rows && story.weights.lines.length > 0 && (!story.weights.offsets || story.weights.lines.length === n);

  run.plane = (t, k = 0) => frames.planes.subarray((t * K + k) * wide, (t * K + k + 1) * wide);

  // ⟨w, x⟩ + b of one plane at a place of the picture.
  run.value = (plane, x, y) => plane[0] * x + plane[1] * y + (lift ? plane[2] * raise(lift, x, y) + plane[3] : plane[2]);

  const score = (plane, k) => plane[0] * points[2 * k] + plane[1] * points[2 * k + 1] + (lift ? plane[2] * third[k] + plane[3] : plane[2]);

  // How far the score of the right class is ahead; 0 or less is wrong.
  run.lead = (t, k) => {
    if (run.binary) return (codes[k] === 1 ? 1 : -1) * score(run.plane(t), k);
    const own = score(run.plane(t, codes[k]), k);
    let rival = -Infinity;
    for (let j = 0; j < K; j++) if (j !== codes[k]) rival = Math.max(rival, score(run.plane(t, j), k));
    return own - rival;
  };

  run.wrong = (t) => {
    if (run.grid(t)) return story.grid.wrong;
    const flags = new Uint8Array(n);
    if (frames.wrong) {
      const each = frames.wrong.length / T;
      for (let k = 0; k < n; k++) flags[k] = (frames.wrong[t * each + (k >> 3)] >> (k & 7)) & 1;
    } else for (let k = 0; k < n; k++) flags[k] = run.lead(t, k) <= 0 ? 1 : 0;
    return flags;
  };

  // The score at the edge of the margin: ±1, or of the nearest row where all are right.
  run.level = (t) => {
    if (!run.binary || run.grid(t)) return null;
    if (story.level !== null) return story.level;
    let least = Infinity;
    if (frames.least) least = frames.least[t];
    else for (let k = 0; k < n; k++) least = Math.min(least, run.lead(t, k));
    return least > 0 ? least : null;
  };

  // The class of a place, as regions show it.
  run.classAt = (t, x, y) => {
    if (run.binary) return run.value(run.plane(t), x, y) >= 0 ? 1 : 0;
    let best = 0, most = -Infinity;
    for (let k = 0; k < K; k++) {
      const value = run.value(run.plane(t, k), x, y);
      if (value > most) { most = value; best = k; }
    }
    return best;
  };

  run.isModel = (t) => Boolean(story.returned) && t === T - 1;
  run.count = (t) => (run.grid(t) ? story.model.wrong : frames.count[t]);
  return run;
}
