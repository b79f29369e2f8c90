import { expect, test } from "vitest";
import { Cutter } from "../src/api/stream";

const TEXT =
  'retry: 2000\n\n: alive\n\nid: 1\nevent: a\ndata: {"x":1}\n\nid: 2\r\ndata: one\r\ndata: two\r\n\r\nevent: end\ndata: {}\n\n';

test("a stream that is cut at any byte gives the same messages", () => {
  const whole = new Cutter().add(TEXT);
  expect(whole).toEqual([
    { id: "1", event: "a", data: '{"x":1}' },
    { id: "2", event: "message", data: "one\ntwo" },
    { id: "", event: "end", data: "{}" },
  ]);
  for (let at = 0; at <= TEXT.length; at++) {
    const cutter = new Cutter();
    expect([...cutter.add(TEXT.slice(0, at)), ...cutter.add(TEXT.slice(at))]).toEqual(whole);
  }
});
