/** The beginning of a text that is too long to be shown as a whole: a browser takes seconds to lay out a megabyte. */
export function brief(text: string, most = 2_000): string {
  if (text.length <= most) return text;
  // Half of a pair of surrogates is no character.
  const end = /[\ud800-\udbff]/.test(text[most - 1] ?? "") ? most - 1 : most;
  return `${text.slice(0, end)} …`;
}

/** Have a browser save a text as a file. */
export function download(text: string, name: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(address), 60_000); // a browser may still ask where to put it
}
