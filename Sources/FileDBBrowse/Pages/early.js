// Requests what the page shows first while most modules are still loading.

import { fetchWithToken, token } from "./access.js";

/** The number of records that are read at a time. */
export const pageSize = 200;

const early = new Map();

/** Like `fetchWithToken`. If the answer was requested early, returns that. */
export function fetchSooner(path, options) {
  const answer = early.get(path);
  early.delete(path);
  return answer ?? fetchWithToken(path, options);
}

/** What was requested early and not used is now outdated. */
export function forgetEarly() {
  early.clear();
}

/** The table that the address names, if any. */
export const tableInAddress = () => decodeURIComponent(location.hash.replace(/^#\/?/, ""));

/** The path of a table on the server. */
export const tablePath = (name) => `/api/tables/${encodeURIComponent(name)}`;

function ask(path) {
  const answer = fetchWithToken(path);
  early.set(path, answer);
  return answer;
}

async function begin() {
  if ((await token) === null) return;
  const store = ask("/api/store").then((answer) => answer.clone().json());
  const name = tableInAddress() || (await store).tables?.[0]?.name;
  if (name === undefined) return;
  await Promise.all([store, ask(tablePath(name)), ask(`${tablePath(name)}/records?from=0&count=${pageSize}`)]);
}

// If an early request fails, the module that takes its answer gets the error and shows it. The gallery of the tests has
// no server to ask.
if (location.pathname === "/") begin().catch(() => {});
