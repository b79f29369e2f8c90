// Shows the document of the server that this page comes from, and sends requests to it. The key is kept in the field
// only: it is gone when the page is left. Whatever comes from the document becomes text, never markup.
"use strict";

const BASE = location.pathname.replace(/\/docs$/, "");
const LONGEST = 200000; // characters of an answer that are shown
const key = document.getElementById("key");
let api = null;

function make(tag, fields, ...children) {
  const node = Object.assign(document.createElement(tag), fields);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// Text in which `this` is code.
function told(text, tag = "p") {
  const parts = String(text || "").split("`");
  return make(tag, {}, ...parts.map((part, index) => (index % 2 ? make("code", {}, part) : part)));
}

function paragraphs(text) {
  return String(text || "").split("\n\n").filter(Boolean).map((part) => told(part));
}

function resolved(value) {
  if (!value || !value.$ref) return value || {};
  return value.$ref.slice(2).split("/").reduce((found, step) => found[step], api);
}

// A schema as a few lines that a person reads.
function outline(schema, depth = 0) {
  const name = schema.$ref ? schema.$ref.split("/").pop() : "";
  const found = resolved(schema);
  if (name && depth > 2) return name;
  if (found.allOf) return outline(found.allOf[0], depth);
  if (found.anyOf) return [...new Set(found.anyOf.map((one) => outline(one, depth)))].join(" | ");
  if (found.enum) return found.enum.map((one) => JSON.stringify(one)).join(" | ");
  if ("const" in found) return JSON.stringify(found.const);
  if (found.type === "array") return `[${outline(found.items || {}, depth + 1)}]`;
  if (found.properties) {
    const margin = "  ".repeat(depth + 1);
    const required = found.required || [];
    const lines = Object.entries(found.properties).map(
      ([field, one]) => `${margin}${field}${required.includes(field) ? "" : "?"}: ${outline(one, depth + 1)}`,
    );
    return lines.length ? `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}` : "{}";
  }
  if (found.type === "object") return "{ … }";
  return [found.type || "any JSON", found.format ? `(${found.format})` : ""].join(" ").trim();
}

// What somebody might write in a field, or what holds if it is left empty.
function hint({ example, schema }) {
  if (schema.type === "array") return ((schema.items || {}).examples || ["one in each line"]).join("\n");
  return String(example ?? schema.default ?? (schema.examples || [""])[0]);
}

function quoted(text) {
  return `'${String(text).replaceAll("'", "'\\''")}'`;
}

// One request as it is filled in.
class Form {
  constructor(method, path, operation) {
    this.method = method.toUpperCase();
    this.path = path;
    this.operation = operation;
    this.parameters = operation.parameters.map(resolved).map((one) => ({ ...one, field: this.fieldOf(one) }));
    const body = operation.requestBody;
    this.media = body ? Object.keys(body.content) : [];
    this.mediaField = make("select", {}, ...this.media.map((one) => make("option", {}, one)));
    this.body = make("textarea", { spellcheck: false });
    this.curl = make("pre", {});
    this.status = make("p", { className: "status" });
    this.heads = make("pre", {});
    this.text = make("pre", { tabIndex: 0 });
    this.text.setAttribute("aria-label", "answer");
    this.answer = make("div", { hidden: true }, this.status,
      make("details", { className: "heads" }, make("summary", {}, "Headers"), this.heads), this.text);
    this.answer.setAttribute("aria-live", "polite");
    if (body) this.showExample();
    this.mediaField.addEventListener("change", () => this.showExample());
  }

  fieldOf(parameter) {
    const choices = parameter.schema.enum;
    const field = choices
      ? make("select", {}, make("option", { value: "" }, ""), ...choices.map((one) => make("option", {}, String(one))))
      : make(parameter.schema.type === "array" ? "textarea" : "input", { placeholder: hint(parameter), spellcheck: false });
    if (field.rows) field.rows = 2;
    field.setAttribute("aria-label", parameter.name);
    return field;
  }

  examples() {
    const content = this.operation.requestBody.content[this.mediaField.value || this.media[0]];
    return Object.entries(content.examples || {});
  }

  showExample(name) {
    const found = this.examples().find(([one]) => !name || one === name);
    const value = found ? found[1].value : {};
    this.body.value = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    this.body.rows = Math.min(this.body.value.split("\n").length + 1, 24);
    this.write();
  }

  address() {
    const filled = (one) => one.field.value || String(one.example ?? "");
    const path = this.path.replace(/\{(\w+)\}/g, (_, name) =>
      encodeURIComponent(filled(this.parameters.find((one) => one.in === "path" && one.name === name))),
    );
    const query = new URLSearchParams();
    for (const one of this.parameters) {
      if (one.in !== "query" || one.field.value === "") continue;
      const values = one.schema.type === "array" ? one.field.value.split("\n").filter(Boolean) : [one.field.value];
      for (const value of values) query.append(one.name, value);
    }
    return `${location.origin}${BASE}${path}${query.size ? `?${query}` : ""}`;
  }

  headers() {
    const headers = {};
    for (const one of this.parameters) if (one.in === "header" && one.field.value) headers[one.name] = one.field.value;
    if (this.media.length && this.body.value) headers["Content-Type"] = this.mediaField.value || this.media[0];
    return headers;
  }

  write() {
    const words = ["curl", ...(this.method === "GET" ? [] : ["-X", this.method]), quoted(this.address())];
    if (this.operation.security.length) words.push("-H", '"Authorization: Bearer $LAYOVER_KEY"');
    for (const [name, value] of Object.entries(this.headers())) words.push("-H", quoted(`${name}: ${value}`));
    if (this.media.length && this.body.value) words.push("--data-binary", quoted(this.body.value));
    this.curl.textContent = words.join(" ");
  }

  async send(stop) {
    const headers = this.headers();
    if (key.value) headers.Authorization = `Bearer ${key.value}`;
    const body = this.media.length && this.body.value ? this.body.value : undefined;
    this.answer.hidden = false;
    this.say("…");
    this.heads.textContent = this.text.textContent = "";
    try {
      const response = await fetch(this.address(), { method: this.method, headers, body, signal: stop, cache: "no-store" });
      this.say(`${response.status} ${response.statusText}`, response.ok ? "good" : "bad");
      this.heads.textContent = [...response.headers].map((one) => one.join(": ")).join("\n");
      await this.show(response);
    } catch (error) {
      if (error.name === "AbortError") this.say(`${this.status.textContent} (stopped)`);
      else this.say(`Nothing came back: ${error.message}`, "bad");
    }
  }

  say(text, kind = "") {
    this.status.textContent = text;
    this.status.className = `status ${kind}`;
  }

  // What comes is shown as it comes: a stream has no end.
  async show(response) {
    let text = "";
    const reader = response.body ? response.body.pipeThrough(new TextDecoderStream()).getReader() : null;
    while (reader && text.length < LONGEST) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
      this.text.textContent = text;
    }
    if (reader && text.length >= LONGEST) await reader.cancel();
    try {
      text = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // it is no JSON, or not all of it
    }
    this.text.textContent = text.slice(0, LONGEST);
    this.answer.scrollIntoView({ block: "nearest" });
  }
}

function parameterTable(form) {
  if (!form.parameters.length) return null;
  const rows = form.parameters.map((one) =>
    make("tr", {},
      make("td", {}, make("code", {}, one.name), one.required ? " needed" : "",
        make("div", { className: "soft" }, `${one.in}, ${outline(one.schema)}`)),
      make("td", {}, told(one.description, "span")),
      make("td", {}, one.field),
    ),
  );
  return make("table", { className: "parameters" }, make("tbody", {}, ...rows));
}

function bodyPart(form) {
  if (!form.media.length) return null;
  const content = form.operation.requestBody.content[form.media[0]];
  const names = form.examples().map(([name]) => name);
  const choice = make("select", {}, ...names.map((name) => make("option", {}, name)));
  choice.addEventListener("change", () => form.showExample(choice.value));
  form.body.setAttribute("aria-label", "body");
  form.mediaField.setAttribute("aria-label", "media type");
  return make("div", {},
    make("h3", {}, form.operation.requestBody.required ? "Body" : "Body (may be left out)"),
    make("div", { className: "acts" }, form.media.length > 1 ? form.mediaField : null, names.length > 1 ? make("label", {}, "Example ", choice) : null),
    Object.keys(content.schema).length
      ? make("div", { className: "sides" }, form.body, make("pre", {}, outline(content.schema)))
      : form.body, // it is free
  );
}

function answerTable(operation) {
  const rows = Object.entries(operation.responses).map(([status, given]) => {
    const response = resolved(given);
    const [media, content] = Object.entries(response.content || {})[0] || ["", null];
    const shown = content && media !== "application/problem+json" && content.schema;
    return make("tr", {},
      make("td", {}, make("code", {}, status)),
      make("td", {}, told(response.description, "span"), shown ? make("pre", {}, outline(content.schema)) : null),
    );
  });
  return make("table", {}, make("tbody", {}, ...rows));
}

// Only pages that came safely, or from this machine, may write to the clipboard.
function copyButton(form) {
  if (!navigator.clipboard) return null;
  const copy = make("button", { type: "button" }, "Copy");
  copy.addEventListener("click", () => navigator.clipboard.writeText(form.curl.textContent));
  return copy;
}

function opened(details, method, path, operation) {
  const form = new Form(method, path, operation);
  const send = make("button", { type: "button", className: "main" }, "Send");
  const stop = make("button", { type: "button", disabled: true }, "Stop");
  let stopping = null;
  send.addEventListener("click", async () => {
    if (stopping) stopping.abort();
    const mine = (stopping = new AbortController());
    stop.disabled = false;
    await form.send(mine.signal);
    if (stopping === mine) stop.disabled = true;
  });
  stop.addEventListener("click", () => stopping && stopping.abort());
  const inside = make("div", {}, ...paragraphs(operation.description), parameterTable(form), bodyPart(form),
    make("h3", {}, "Request"), form.curl, make("div", { className: "acts" }, send, stop, copyButton(form)), form.answer,
    make("h3", {}, "Answers"), answerTable(operation));
  inside.addEventListener("input", () => form.write());
  form.write();
  details.append(inside);
}

function routeOf(method, path, operation) {
  const details = make("details", { id: operation.operationId }, make("summary", {},
    make("span", { className: `method ${method}` }, method.toUpperCase()),
    make("span", { className: "path" }, path),
    told(operation.summary, "span")));
  details.querySelector("summary").lastChild.className = "told";
  details.dataset.words = `${method} ${path} ${operation.summary} ${operation.operationId}`.toLowerCase();
  details.addEventListener("toggle", () => {
    if (!details.open) return;
    if (details.children.length === 1) opened(details, method, path, operation);
    history.replaceState(null, "", `#${details.id}`);
  });
  return details;
}

function show() {
  document.getElementById("version").textContent = api.info.version;
  const main = document.getElementById("routes");
  const nav = document.getElementById("families");
  main.replaceChildren(...paragraphs(api.info.description));
  nav.replaceChildren();
  for (const tag of api.tags) {
    const routes = [];
    for (const [path, methods] of Object.entries(api.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        if (operation.tags.includes(tag.name)) routes.push(routeOf(method, path, operation));
      }
    }
    const id = `family-${tag.name.replaceAll(" ", "-")}`;
    main.append(make("section", {}, make("h2", { id }, tag.name), told(tag.description), ...routes));
    nav.append(make("a", { href: `#${id}` }, tag.name));
  }
  find();
  const named = location.hash && document.getElementById(location.hash.slice(1));
  if (named) {
    if (named.tagName === "DETAILS") named.open = true;
    named.scrollIntoView();
  }
}

function find() {
  const words = document.getElementById("find").value.toLowerCase().split(" ").filter(Boolean);
  for (const section of document.querySelectorAll("main section")) {
    const routes = [...section.querySelectorAll("details")];
    for (const route of routes) route.hidden = !words.every((word) => route.dataset.words.includes(word));
    section.hidden = routes.every((route) => route.hidden);
  }
}

async function read() {
  const headers = key.value ? { Authorization: `Bearer ${key.value}` } : {};
  const main = document.getElementById("routes");
  try {
    const response = await fetch(`${BASE}/openapi.json`, { headers, cache: "no-store" });
    if (response.ok) {
      api = await response.json();
      show();
    } else if (response.status === 401) {
      main.replaceChildren(told("From another machine the document is shown to those who have a key: put it in above."));
    } else {
      main.replaceChildren(told(`The document cannot be read: ${response.status} ${response.statusText}`));
    }
  } catch (error) {
    main.replaceChildren(told(`The document cannot be read: ${error}`));
  }
}

// Says whose key it is.
async function introduce() {
  const who = document.getElementById("who");
  who.textContent = "";
  if (!key.value) return;
  try {
    const headers = { Authorization: `Bearer ${key.value}` };
    const response = await fetch(`${BASE}/api/v1/me`, { headers, cache: "no-store" });
    const me = await response.json();
    who.className = response.ok ? "good" : "bad";
    who.textContent = response.ok ? [me.user, me.roles.join(", ")].filter(Boolean).join(": ") : me.detail;
  } catch (error) {
    who.textContent = error.message;
  }
}

key.addEventListener("change", () => {
  introduce();
  if (!api) read();
});
document.getElementById("find").addEventListener("input", find);
read();
