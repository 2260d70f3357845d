// Dates are stored as whole seconds in UTC and shown in the reader's time zone.

export const zoneName = Intl.DateTimeFormat().resolvedOptions().timeZone;

const two = (number) => String(number).padStart(2, "0");

/** 2010-03-04 06:06:07 in the reader's time zone. A date that the browser cannot read is shown as it is stored. */
export function localText(stored) {
  const date = new Date(stored);
  if (Number.isNaN(date.getTime())) return stored;
  const day = [String(date.getFullYear()).padStart(4, "0"), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** The offset of the reader's time zone from UTC at a date: +01:00. */
export function offsetText(stored) {
  const minutes = -new Date(stored).getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

const form = /^(\d{4})-(\d\d?)-(\d\d?)(?:[ T](\d\d?):(\d\d)(?::(\d\d))?)? ?(Z|UTC|[+-]\d\d:?\d\d)?$/i;

/**
 * The stored form of a typed date: a day, or a day and a time. It is in the reader's time zone, unless Z or an offset
 * follows. Throws an Error that says what is wrong.
 */
export function storedDate(text) {
  const match = form.exec(text.trim());
  if (!match) throw new Error("Write a date as 2026-11-30, or with a time as 2026-11-30 18:45:00.");
  const [, year, month, day, hour = "0", minute = "0", second = "0", zone] = match;
  const parts = [year, month - 1, day, hour, minute, second].map(Number);
  const asWritten = new Date(0);
  asWritten.setUTCFullYear(...parts.slice(0, 3));
  asWritten.setUTCHours(...parts.slice(3));
  if (asWritten.getUTCDate() !== parts[2] || asWritten.getUTCMinutes() !== parts[4] || parts[3] > 23) {
    throw new Error("The calendar has no such date.");
  }
  const date = zone ? new Date(asWritten.getTime() - zoneMinutes(zone) * 60_000) : inReadersZone(parts);
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}

function inReadersZone(parts) {
  const date = new Date(2000, 0, 1);
  date.setFullYear(...parts.slice(0, 3));
  date.setHours(...parts.slice(3), 0);
  return date;
}

function zoneMinutes(zone) {
  const match = /([+-])(\d\d):?(\d\d)/.exec(zone);
  if (!match) return 0;
  return (match[1] === "-" ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3]));
}
