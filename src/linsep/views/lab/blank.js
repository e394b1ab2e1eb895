// Points without a model: fewer than two classes, or a fit that was refused.
export function blankStory(points, status, verdict) {
  const n = points.length, most = Math.max(1, ...points.map((one) => one[2]));
  const classes = Array.from({ length: most + 1 }, (_, k) => "ABCDEF"[k]), K = classes.length === 2 ? 1 : classes.length;
  const zero = () => new Float32Array(1), none = () => Int32Array.of(-1);
  return {
    title: "No model yet", learner: "", parameters: "", classes, status, notes: [], rows: n, features: 2, lift: "", intercept: true,
    points: Float64Array.from(points.flatMap(([x, y]) => [x, y])), codes: Uint16Array.from(points.map((one) => one[2])),
    numbers: Uint32Array.from(points.keys()), every: 1, corrections: 0, returned: "", axes: ["x₁", "x₂"], level: null,
    lossName: "perceptron loss", towards: "", passes: [], images: null, geometry: null, model: { wrong: n, rows: n },
    frames: {
      n: new Uint32Array(1), epoch: new Uint32Array(1), row: none(), at: none(), planes: new Float64Array(3 * K),
      mistake: new Uint8Array(1), plane: none(), score: new Float64Array(0), step: new Float64Array(0), count: Uint32Array.of(n),
      loss: zero(), norm: zero(), margin: zero(), angle: zero(), wrong: new Uint8Array(Math.ceil(n / 8)),
    },
    weights: { names: ["w₁", "w₂"], note: "nothing is known yet.", exact: true, lines: new Uint32Array(0) },
    facts: { verdict, separable: null, rows: [], multipliers: [], bound: null, boundText: "", margin: null, radius: null, gamma: null, meet: null },
  };
}
