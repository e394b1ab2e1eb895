// The state of the lab as the end of an address, and back; anything unexpected is refused whole.

const VERSION = "2";

export function writeAddress(state) {
  const parts = [`v=${VERSION}`, `data=${state.data}`];
  if (state.data === "points") parts.push(`points=${state.points.map((one) => one.join(",")).join(";")}`);
  parts.push(`learner=${state.learners.join("+")}`);
  if (state.lift) parts.push(`lift=${state.lift}`);
  if (state.scale) parts.push("scale=true");
  for (const [name, value] of Object.entries(state.parameters)) parts.push(`${name}=${value}`);
  if (state.t !== null) parts.push(`t=${state.t}`);
  return `#${parts.join("&")}`;
}

// The state, null where there is no end, or an Error that says what is wrong with it.
export function readAddress(hash, menu) {
  if (hash === "" || hash === "#") return null;
  if (hash.length > 40000) throw new Error("The address is too long.");
  const fields = new Map();
  for (const part of hash.slice(1).split("&")) {
    const match = /^(\w+)=([\w.,;+-]*)$/.exec(part);
    if (!match) throw new Error("The address has a part that is not name=value.");
    if (fields.has(match[1])) throw new Error(`The address has ${match[1]} twice.`);
    fields.set(match[1], match[2]);
  }
  const take = (name) => {
    const value = fields.get(name);
    fields.delete(name);
    return value;
  };
  take("token"); // it was for the door
  if (!fields.size) return null;
  if (take("v") !== VERSION) throw new Error("The address is of another version of the lab.");
  const data = take("data");
  const known = data === "points" || (data === "opened" && menu.opened) || Object.hasOwn(menu.toys, data);
  if (!known) throw new Error("The address names data that the lab does not have.");
  const points = data === "points" ? readPoints(take("points"), menu) : [];
  const learners = (take("learner") || "").split("+");
  if (learners.length > 2 || !learners.every((name) => Object.hasOwn(menu.learners, name))) {
    throw new Error("The address names a learner that the lab does not have.");
  }
  const lift = take("lift") || "", scale = take("scale") || "false", t = take("t");
  if (!Object.hasOwn(menu.lifts, lift)) throw new Error("The address names a lift that the lab does not have.");
  if (scale !== "true" && scale !== "false") throw new Error("The address has a scale that is neither true nor false.");
  if (t !== undefined && !/^\d{1,6}$/.test(t)) throw new Error("The address has a frame that is not a number.");
  const parameters = {};
  for (const [name, text] of fields) {
    if (!Object.hasOwn(menu.parameters, name)) throw new Error(`The address has ${name}, which the lab does not know.`);
    parameters[name] = readParameter(name, text, menu.parameters[name]);
  }
  return { data, points, learners, lift, scale: scale === "true", parameters, t: t === undefined ? null : Number(t) };
}

function readParameter(name, text, kind) {
  if (kind.options) {
    if (!kind.options.includes(text)) throw new Error(`The address has ${name}=${text}; ${kind.options.join(" or ")} was wanted.`);
    return text;
  }
  if (typeof kind.usual === "boolean") {
    if (text !== "true" && text !== "false") throw new Error(`The address has ${name}=${text}; true or false was wanted.`);
    return text === "true";
  }
  const value = readNumber(text);
  if (!(value >= kind.least && value <= kind.most) || (kind.whole && !Number.isInteger(value))) {
    throw new Error(`The address has ${name}=${text}; a number from ${kind.least} to ${kind.most} was wanted.`);
  }
  return value;
}

function readPoints(text, menu) {
  if (!text) return [];
  const points = text.split(";").map((one) => {
    const parts = one.split(","), [x, y] = parts.map(readNumber), code = Number(parts[2]);
    const fine = parts.length === 3 && Math.abs(x) <= menu.reach && Math.abs(y) <= menu.reach;
    if (!fine || !/^\d$/.test(parts[2]) || code >= menu.classes) throw new Error("The address has a point that is not x1,x2,class.");
    return [x, y, code];
  });
  if (points.length > menu.most) throw new Error(`The address has more than ${menu.most} points.`);
  return points;
}

function readNumber(text) {
  return /^-?\d{1,20}(\.\d{1,20})?(e[+-]?\d{1,3})?$/.test(text) ? Number(text) : NaN;
}
