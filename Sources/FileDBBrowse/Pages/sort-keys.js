// The keys of a sorted list, `{name, isDescending}`. The first key counts most.

/** The keys in the form for the server. */
export const sortText = (keys) =>
  keys.map(({ name, isDescending }) => (isDescending ? "-" : "") + name.replace(/[\\,]/g, "\\$&")).join(",");

/** The keys in words. */
export const sortWords = (keys) =>
  keys.map(({ name, isDescending }) => name + (isDescending ? ", descending" : "")).join("; then ");

/**
 * The keys after a person chose a name: first ascending, then descending, then not at all. `mode` is `only`, or `add`,
 * which keeps the others.
 */
export function turned(keys, name, mode) {
  const current = keys.find((key) => key.name === name);
  const others = mode === "add" ? keys.filter((key) => key.name !== name) : [];
  return current?.isDescending ? others : [...others, { name, isDescending: current !== undefined }];
}
