/** What the palette finds: every word that was typed is in the name; what begins with the text comes first. */
export interface Entry {
  id: string;
  name: string;
  kind: string; // what it is, in words
  act: () => unknown;
}

const MOST = 12;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isId(text: string): boolean {
  return UUID.test(text.trim());
}

export function findEntries(entries: readonly Entry[], text: string): Entry[] {
  const sought = text.trim().toLowerCase();
  const words = sought.split(/\s+/).filter(Boolean);
  const fits = entries.filter((one) => words.every((word) => one.name.toLowerCase().includes(word)));
  const begins = (one: Entry) => one.name.toLowerCase().startsWith(sought);
  return [...fits.filter(begins), ...fits.filter((one) => !begins(one))].slice(0, MOST);
}
