// Boundaries that are no lines, and ellipses: paths on the screen.

const CELL = 7; // pixels

// Where a function of the plane is zero, by marching squares.
export function contour(scale, box, value) {
  const [left, right, low, high] = box;
  const across = Math.ceil((scale.across * (right - left)) / CELL), down = Math.ceil((scale.up * (high - low)) / CELL);
  const x = (i) => left + ((right - left) * i) / across, y = (j) => low + ((high - low) * j) / down;
  let below = Array.from({ length: across + 1 }, (_, i) => value(x(i), y(0))), d = "";
  for (let j = 0; j < down; j++) {
    const above = Array.from({ length: across + 1 }, (_, i) => value(x(i), y(j + 1)));
    for (let i = 0; i < across; i++) {
      const corners = [[x(i), y(j), below[i]], [x(i + 1), y(j), below[i + 1]], [x(i + 1), y(j + 1), above[i + 1]], [x(i), y(j + 1), above[i]]];
      const ends = [];
      corners.forEach((there, k) => {
        const here = corners[(k + 3) % 4];
        if (here[2] > 0 === there[2] > 0) return;
        const share = here[2] / (here[2] - there[2]);
        ends.push([0, 1].map((c) => here[c] + share * (there[c] - here[c])));
      });
      for (let k = 0; k + 1 < ends.length; k += 2) {
        const [[a, b], [p, q]] = [ends[k], ends[k + 1]];
        d += `M${scale.x(a).toFixed(1)} ${scale.y(b).toFixed(1)}L${scale.x(p).toFixed(1)} ${scale.y(q).toFixed(1)}`;
      }
    }
    below = above;
  }
  return d;
}

// For each class the cells where it is said, as one path each.
export function covering(scale, box, count, classAt) {
  const [left, right, low, high] = box, paths = Array.from({ length: count }, () => "");
  const x0 = scale.x(left), x1 = scale.x(right), y0 = scale.y(high), y1 = scale.y(low);
  for (let y = y0; y < y1; y += CELL) {
    let from = x0, code = classAt(scale.fromX(x0 + CELL / 2), scale.fromY(y + CELL / 2));
    for (let x = x0 + CELL; x < x1 + CELL; x += CELL) {
      const next = x < x1 ? classAt(scale.fromX(x + CELL / 2), scale.fromY(y + CELL / 2)) : -1;
      if (next === code) continue;
      paths[code] += `M${from.toFixed(1)} ${y.toFixed(1)}H${Math.min(x, x1).toFixed(1)}V${(y + CELL).toFixed(1)}H${from.toFixed(1)}z`;
      from = x;
      code = next;
    }
  }
  return paths;
}

// The points one standard deviation from a mean.
export function ellipse(scale, mean, [[a, b], [, c]]) {
  const root = Math.sqrt(Math.max(0, a)) || 1e-9, l21 = b / root, l22 = Math.sqrt(Math.max(0, c - l21 * l21));
  const at = (k) => {
    const u = Math.cos((2 * Math.PI * k) / 48), v = Math.sin((2 * Math.PI * k) / 48);
    return `${scale.x(mean[0] + root * u).toFixed(1)} ${scale.y(mean[1] + l21 * u + l22 * v).toFixed(1)}`;
  };
  return `M${Array.from({ length: 48 }, (_, k) => at(k)).join("L")}z`;
}
