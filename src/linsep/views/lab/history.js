// What was there before, and after: snapshots that are never changed.
export function pastAndFuture(most = 200) {
  let past = [], future = [];
  return {
    keep(state) {
      past.push(state);
      if (past.length > most) past.shift();
      future = [];
    },
    undo(now) {
      if (!past.length) return null;
      future.push(now);
      return past.pop();
    },
    redo(now) {
      if (!future.length) return null;
      past.push(now);
      return future.pop();
    },
    ways: () => [past.length > 0, future.length > 0],
  };
}
