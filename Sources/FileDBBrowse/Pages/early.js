// Asks for what the page shows first while the other modules are still on their way. It imports none, so that it runs
// before them.

/** So many records are read at a time. */
export const pageSize = 200;

const early = new Map();

/** As `fetch`, with the answer that was asked for early where there is one. */
export function fetchSooner(path, options) {
  const answer = early.get(path);
  early.delete(path);
  return answer ?? fetch(path, options);
}

/** What was asked for early and not used is old by now. */
export function forgetEarly() {
  early.clear();
}

/** The table that the address names, or nothing. */
export const tableInAddress = () => decodeURIComponent(location.hash.replace(/^#\/?/, ""));

/** The server's path of a table. */
export const tablePath = (name) => `/api/tables/${encodeURIComponent(name)}`;

function ask(path) {
  const answer = fetch(path);
  early.set(path, answer);
  return answer;
}

async function begin() {
  const store = ask("/api/store").then((answer) => answer.clone().json());
  const name = tableInAddress() || (await store).tables?.[0]?.name;
  if (name === undefined) return;
  await Promise.all([store, ask(tablePath(name)), ask(`${tablePath(name)}/records?from=0&count=${pageSize}`)]);
}

// An early request that fails fails again for the module that takes its answer, which shows the error. The tests'
// gallery has no server to ask.
if (location.pathname === "/") begin().catch(() => {});
