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
