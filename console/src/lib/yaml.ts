/** A definition as YAML for people. Whatever YAML could read as something else is quoted as in JSON, which is YAML. */

import { shorthand } from "./shorthand";

/** What a reader looks for first. */
const FIRST = ["name", "id", "type", "label", "description", "title"];
const WORDS = /^(true|false|null|yes|no|on|off|y|n|~)$/i;
const PLAIN = /^[\p{L}_$/][^\n\r\t\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u;
const BLOCK = /^[^\s\p{Cc}\p{Cf}\p{Cs}][^\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u;

/** A definition as text. */
export function definitionText(definition: unknown): string {
  return yaml(shorthand(definition));
}

export function yaml(value: unknown): string {
  return isCollection(value) ? `${block(value, "").join("\n")}\n` : `${scalar(value)}\n`;
}

function isCollection(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

function block(value: object, margin: string): string[] {
  if (Array.isArray(value))
    return value.flatMap((one) => {
      if (!isCollection(one)) return text(`${margin}-`, one, `${margin}  `);
      const [first, ...rest] = block(one, `${margin}  `);
      return [`${margin}- ${first!.slice(margin.length + 2)}`, ...rest];
    });
  const names = Object.keys(value);
  const ordered = [...FIRST.filter((name) => names.includes(name)), ...names.filter((name) => !FIRST.includes(name))];
  return ordered.flatMap((name) => {
    const one = (value as Record<string, unknown>)[name];
    const label = `${margin}${string(name)}:`;
    return isCollection(one) ? [label, ...block(one, `${margin}  `)] : text(label, one, `${margin}  `);
  });
}

/** A scalar behind its label; several lines stand below it as they are. */
function text(label: string, value: unknown, margin: string): string[] {
  if (typeof value === "string" && value.includes("\n")) {
    const body = value.replace(/\n$/, "");
    const lines = body.split("\n");
    const isPlain = BLOCK.test(body.replaceAll("\n", "")) && !/[\t\r]|\n$/.test(body) && !lines[0]!.startsWith(" ");
    if (isPlain && lines.every((line) => line === line.trimEnd()))
      return [`${label} |${value.endsWith("\n") ? "" : "-"}`, ...lines.map((line) => (line ? margin + line : ""))];
  }
  return [`${label} ${scalar(value)}`];
}

function scalar(value: unknown): string {
  if (typeof value === "string") return string(value);
  if (typeof value === "number" && !/^-?\d+(\.\d+)?$/.test(String(value)))
    // YAML reads an exponent only behind a point, and with a sign.
    return value.toExponential().replace(/^(-?\d+)e/, "$1.0e");
  return JSON.stringify(value) ?? "null";
}

function string(value: string): string {
  const isPlain = PLAIN.test(value) && !WORDS.test(value) && !/: |:$| #|\s$/.test(value) && value.length <= 200;
  if (isPlain) return value;
  return JSON.stringify(value).replace(/[\u007f-\u009f\u2028\u2029\ufeff\p{Cf}]/gu, (one) =>
    [...Array(one.length).keys()].map((i) => `\\u${one.charCodeAt(i).toString(16).padStart(4, "0")}`).join(""),
  );
}
