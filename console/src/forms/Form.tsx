import { useId } from "react";
import { en } from "../words/en";
import type { Field, Typed } from "./subset";

const INPUTS: Partial<Record<Field["kind"], string>> = { date: "date", "date-time": "datetime-local", email: "email" };
const WRONG: Record<string, string> = {
  required: "This is required.",
  number: "This is not a number.",
  json: en.form.notJson,
};

interface Props {
  fields: readonly Field[];
  typed: Typed;
  wrong: Record<string, string>;
  change: (typed: Typed) => void;
}

export function FormFields({ fields, typed, wrong, change }: Props) {
  return (
    <>
      {fields.map((field) => (
        <FormField
          key={field.name}
          field={field}
          value={typed[field.name] ?? field.initial}
          wrong={wrong[field.name]}
          change={(value) => change({ ...typed, [field.name]: value })}
        />
      ))}
    </>
  );
}

function FormField(props: {
  field: Field;
  value: string | boolean;
  wrong: string | undefined;
  change: (value: string | boolean) => void;
}) {
  const { field, value, wrong } = props;
  const id = useId();
  const shared = {
    id,
    required: field.required,
    "aria-invalid": wrong !== undefined,
    "aria-describedby": wrong || field.description ? `${id}-about` : undefined,
  };
  const text = String(value);
  if (field.kind === "boolean")
    return (
      <div className="field check">
        <input
          {...shared}
          required={false}
          type="checkbox"
          checked={value === true}
          onChange={(e) => props.change(e.target.checked)}
        />
        <label htmlFor={id}>{field.title}</label>
        <About id={`${id}-about`} field={field} wrong={wrong} />
      </div>
    );
  return (
    <div className="field">
      <label htmlFor={id}>
        {field.title} {field.required && <span className="soft">{en.form.required}</span>}
      </label>
      {field.kind === "choice" ? (
        <select {...shared} value={text} onChange={(e) => props.change(e.target.value)}>
          <option value="">{en.form.none}</option>
          {field.choices.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      ) : field.kind === "long" || field.kind === "list" || field.kind === "json" ? (
        <textarea
          {...shared}
          rows={field.kind === "json" ? 5 : 3}
          className={field.kind === "json" ? "mono" : ""}
          value={text}
          placeholder={field.kind === "list" ? en.form.items : field.kind === "json" ? en.form.json : ""}
          onChange={(e) => props.change(e.target.value)}
        />
      ) : (
        <input
          {...shared}
          type={INPUTS[field.kind] ?? "text"}
          inputMode={field.kind === "number" || field.kind === "integer" ? "decimal" : undefined}
          maxLength={field.maxLength}
          value={text}
          onChange={(e) => props.change(e.target.value)}
        />
      )}
      <About id={`${id}-about`} field={field} wrong={wrong} />
    </div>
  );
}

function About({ id, field, wrong }: { id: string; field: Field; wrong: string | undefined }) {
  if (!wrong && !field.description) return null;
  return (
    <p id={id} className={wrong ? "wrong" : "soft"}>
      {wrong ? (WRONG[wrong] ?? wrong) : field.description}
    </p>
  );
}
