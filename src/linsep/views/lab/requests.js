import { unpack } from "./run.js";

const PAGE = crypto.getRandomValues(new Uint32Array(2)).join("-");

// Questions to the lab's server. While a point is dragged only the latest question matters.
export function requests(key, say) {
  let flying = false, next = null, run = null, reviving = null;

  function ask(path, body, signal) {
    return fetch(path, {
      method: "POST", priority: "high", signal, body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", "X-Lab-Key": key, "X-Lab-Page": PAGE },
    });
  }

  // A server that ended, or was started anew and does not know this page yet, is waited for.
  async function post(path, body, signal) {
    for (;;) {
      let answer = null;
      try {
        answer = await ask(path, body, signal);
      } catch (problem) {
        if (problem.name === "AbortError") throw problem;
      }
      if (answer && answer.ok) return answer;
      if (answer && answer.status !== 401 && answer.status !== 403) throw await refusalOf(answer);
      reviving = reviving || revive().finally(() => { reviving = null; });
      await reviving;
      if (signal && signal.aborted) throw new DOMException("asked anew", "AbortError");
    }
  }

  async function refusalOf(answer) {
    const told = await answer.json().catch(() => ({}));
    const refusal = new Error(told.error || `The lab answered ${answer.status}.`);
    refusal.superseded = answer.status === 409;
    refusal.data = answer.status === 400;
    return refusal;
  }

  // Once the new server knows this browser it gives the page, and in it the new key.
  async function revive() {
    for (let wait = 100; ; wait = Math.min(2000, 2 * wait)) {
      const answer = await fetch("/").catch(() => null), found = answer && /"key":"([0-9a-f]+)"/.exec(await answer.text());
      if (found) {
        key = found[1];
        say("");
        return;
      }
      say(answer ? "The lab was started anew. Open the address that it printed in this browser, and this page goes on too." : "The lab's server does not answer. Start `linsep lab` again, and this page goes on.");
      await new Promise((done) => { setTimeout(done, wait); });
    }
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
