import { expect, test } from "vitest";
import { type Entry, findEntries, isId } from "../src/lib/find";

const entries = ["Inbox", "Workflows", "workflow-import", "Start workflow-import", "refund"].map(
  (name): Entry => ({ id: name, name, kind: "", act: () => undefined }),
);
const names = (text: string) => findEntries(entries, text).map((one) => one.name);

test("what begins with the text comes first, and every word has to be there", () => {
  expect(names("workflow")).toEqual(["Workflows", "workflow-import", "Start workflow-import"]);
  expect(names(" import START ")).toEqual(["Start workflow-import"]);
  expect(names("")).toHaveLength(5);
  expect(names("import x")).toEqual([]);
});

test("an id is one only as a whole", () => {
  expect(isId(" 01A1F1E1-7398-7000-9eb0-c0ab1d22c87b ")).toBe(true);
  expect(isId("01a1f1e1-7398")).toBe(false);
});
