// Lets this tab in. The address that was opened has an invitation, for which the server gives out its token once. The
// tab keeps the token until it is closed, and sends it with every request.

const place = "filedb-token";
const invitation = /^#token=([0-9a-f]+)/;

/** The token of this tab; null if it has none. */
export const token = enter();

/** Like `fetch`, with the token of this tab. */
export async function fetchWithToken(path, options = {}) {
  return fetch(path, { ...options, headers: { ...options.headers, ...bearing(await token) } });
}

function bearing(text) {
  return { Authorization: `Bearer ${text}` };
}

async function enter() {
  const [start, text] = location.hash.match(invitation) ?? [];
  if (text) {
    // Nobody shall see it in the address, or in a history.
    history.replaceState(null, "", `#${location.hash.slice(start.length)}`);
    const answer = await fetch("/api/token", { method: "POST", headers: bearing(text) }).catch(() => null);
    if (answer?.ok) sessionStorage.setItem(place, (await answer.json()).token);
  }
  return sessionStorage.getItem(place);
}

// Somebody opens the address of a new start in a tab that shows this page already.
addEventListener("hashchange", () => {
  if (invitation.test(location.hash)) location.reload();
});

// Requests what the page shows first while most modules are still loading.

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
