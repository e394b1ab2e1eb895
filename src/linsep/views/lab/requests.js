import { unpack } from "./run.js";

const PAGE = crypto.getRandomValues(new Uint32Array(2)).join("-");

// Questions to the lab's server. While a point is dragged only the latest question matters.
export function requests(key) {
  let flying = false, next = null, run = null;

  async function post(path, body, signal) {
    let answer;
    try {
      answer = await fetch(path, {
        method: "POST", priority: "high", signal, body: JSON.stringify(body),
        headers: { "Content-Type": "application/json", "X-Lab-Key": key, "X-Lab-Page": PAGE },
      });
    } catch (problem) {
      if (problem.name === "AbortError") throw problem;
      throw new Error("The lab's server does not answer; is `linsep lab` still running?");
    }
    if (answer.ok) return answer;
    const refused = await answer.json().catch(() => ({}));
    const refusal = new Error(refused.error || `The lab answered ${answer.status}.`);
    refusal.superseded = answer.status === 409;
    refusal.data = answer.status === 400;
    throw refusal;
  }

  // The answer goes to `use`; of questions that come while one is under way only the last is asked.
  async function quick(body, use, fail) {
    if (flying) { next = [body, use, fail]; return; }
    flying = true;
    try {
      use(unpack(await (await post("/fit", body)).arrayBuffer()));
    } catch (problem) {
      fail(problem);
    }
    flying = false;
    if (next) { const [later, ...rest] = next; next = null; quick(later, ...rest); }
  }

  function cancel() {
    next = null;
    if (run) run.abort();
    run = null;
  }

  async function traced(body) {
    if (run) run.abort();
    const mine = (run = new AbortController());
    try {
      return unpack(await (await post("/run", body, mine.signal)).arrayBuffer());
    } finally {
      if (run === mine) run = null; // also where it failed: nothing is under way any more
    }
  }

  return { post, quick, traced, cancel, running: () => run !== null };
}
