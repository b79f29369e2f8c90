/** The part of JSON Schema that has fields; everything else is a field for JSON. The server judges what is sent. */
export interface Field {
  name: string;
  title: string;
  description: string;
  required: boolean;
  kind:
    | "text"
    | "long"
    | "choice"
    | "number"
    | "integer"
    | "boolean"
    | "date"
    | "date-time"
    | "email"
    | "list"
    | "json";
  choices: string[];
  maxLength: number | undefined;
  initial: string | boolean;
}

type Schema = Record<string, unknown>;
const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The fields of an object; null if the schema is something else, and all of it is one field for JSON. */
export function fieldsOf(schema: unknown): Field[] | null {
  if (!isObject(schema) || !isObject(schema.properties)) return null;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(schema.properties).map(([name, one]) =>
    fieldOf(name, isObject(one) ? one : {}, required.has(name)),
  );
}

function fieldOf(name: string, schema: Schema, required: boolean): Field {
  const kind = kindOf(schema);
  const usual = schema.default;
  return {
    name,
    title: typeof schema.title === "string" ? schema.title : name,
    description: typeof schema.description === "string" ? schema.description : "",
    required,
    kind,
    choices: Array.isArray(schema.enum) ? schema.enum.map(String) : [],
    maxLength: typeof schema.maxLength === "number" ? schema.maxLength : undefined,
    initial: kind === "boolean" ? usual === true : usual === undefined ? "" : write(kind, usual),
  };
}

function kindOf(schema: Schema): Field["kind"] {
  if (Array.isArray(schema.enum)) return schema.enum.every((one) => typeof one === "string") ? "choice" : "json";
  switch (schema.type) {
    case "string":
      if (schema.format === "date" || schema.format === "date-time" || schema.format === "email") return schema.format;
      return typeof schema.maxLength === "number" && schema.maxLength > 200 ? "long" : "text";
    case "number":
    case "integer":
    case "boolean":
      return schema.type;
    case "array": {
      const items = isObject(schema.items) ? schema.items.type : undefined;
      return items === "string" ? "list" : "json";
    }
    default:
      return "json";
  }
}

function write(kind: Field["kind"], value: unknown): string {
  if (kind === "list" && Array.isArray(value)) return value.join("\n");
  if (kind === "json") return JSON.stringify(value);
  return String(value);
}

export type Typed = Record<string, string | boolean>;

/** What was typed as data; a number or JSON that cannot be read is an error of its field, an empty field is left out. */
export function dataOf(
  fields: readonly Field[],
  typed: Typed,
): { data: Record<string, unknown>; wrong: Record<string, string> } {
  const data: Record<string, unknown> = {};
  const wrong: Record<string, string> = {};
  for (const field of fields) {
    const value = typed[field.name] ?? field.initial;
    if (field.kind === "boolean") data[field.name] = value === true;
    else if (value === "" || value === false) {
      if (field.required) wrong[field.name] = "required";
    } else {
      const text = String(value);
      if (field.kind === "number" || field.kind === "integer") {
        const number = Number(text);
        if (!Number.isFinite(number) || (field.kind === "integer" && !Number.isInteger(number)))
          wrong[field.name] = "number";
        else data[field.name] = number;
      } else if (field.kind === "list") data[field.name] = text.split("\n").filter((line) => line !== "");
      else if (field.kind === "date-time") data[field.name] = new Date(text).toISOString();
      else if (field.kind === "json") {
        try {
          data[field.name] = JSON.parse(text);
        } catch {
          wrong[field.name] = "json";
        }
      } else data[field.name] = text;
    }
  }
  return { data, wrong };
}

/** Data as it would have been typed: what `dataOf` reads the same data from. */
export function typedOf(fields: readonly Field[], data: unknown): Typed {
  const given = isObject(data) ? data : {};
  return Object.fromEntries(
    fields.map(({ name, kind }) => {
      const value = Object.hasOwn(given, name) ? given[name] : undefined;
      if (kind === "boolean") return [name, value === true];
      if (value === undefined || value === null) return [name, ""];
      return [name, kind === "date-time" ? localTime(String(value)) : write(kind, value)];
    }),
  );
}

/** A moment as the field of a browser has it: the time that it is here. */
function localTime(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
