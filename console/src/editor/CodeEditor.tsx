/** The text of a definition: YAML with problems in the gutter. Tab leaves it, so that the keyboard is never caught. */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useImperativeHandle, useRef } from "react";
import type { Schemas } from "../api/client";

type Problem = Schemas["DefinitionProblem"];

const nonce = document.querySelector<HTMLMetaElement>('meta[name="layover-nonce"]')?.content ?? "";

const LOOK = EditorView.theme({
  "&": { height: "100%", backgroundColor: "transparent", color: "var(--ink)" },
  "&.cm-focused": { outline: "none" }, // its sheet has one
  ".cm-scroller": { fontFamily: "var(--mono)", fontSize: "13px", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--soft)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--raised) 60%, transparent)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 24%, transparent) !important",
  },
  ".cm-tooltip": { backgroundColor: "var(--sheet)", color: "var(--ink)", border: "1px solid var(--strong)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--wait)" },
});
/** Over a selection, a browser would type in the look of what was there: as an inline style, which the policy refuses. */
const TYPED_OVER = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== "insertText" || event.data === null || view.state.selection.main.empty || view.composing)
      return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});
const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string), tags.content], color: "var(--ink)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.typeName, tags.labelName, tags.bool, tags.null, tags.number], color: "var(--hold)" },
  { tag: [tags.punctuation, tags.separator, tags.meta], color: "var(--soft)" },
]);

/** A place in a text, which may have become shorter since it was told. */
function placeOf(state: EditorState, number: number, column: number): number {
  const line = state.doc.line(Math.min(Math.max(number, 1), state.doc.lines));
  return Math.min(line.from + Math.max(column - 1, 0), line.to);
}

/** Where a problem is in a text; one without a line is at its beginning. */
export function diagnosticOf(state: EditorState, one: Problem): Diagnostic {
  const from = placeOf(state, one.line ?? 1, one.column ?? 1);
  const line = state.doc.lineAt(from);
  const word = /^[\w$.-]+/.exec(state.doc.sliceString(from, line.to))?.[0].length ?? 0;
  const end = one.end_line != null ? placeOf(state, one.end_line, one.end_column ?? 1) : Math.min(from + word, line.to);
  const to = Math.max(end, Math.min(from + 1, state.doc.length));
  return { from: Math.min(from, to), to, severity: one.severity ?? "error", message: one.message, source: one.code };
}

export interface EditorHandle {
  goTo(problem: Problem): void;
}

export function CodeEditor(props: {
  text: string;
  change: (text: string) => void;
  problems: readonly Problem[];
  label: string;
  handle: React.Ref<EditorHandle>;
}) {
  const at = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const current = useRef(props);
  current.current = props;
  useEffect(() => {
    const made = new EditorView({
      parent: at.current!,
      state: EditorState.create({
        doc: current.current.text,
        extensions: [
          ...(nonce ? [EditorView.cspNonce.of(nonce)] : []),
          lineNumbers(),
          lintGutter(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          indentUnit.of("  "),
          EditorState.tabSize.of(2),
          yaml(),
          syntaxHighlighting(COLOURS),
          keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
          // It takes the focus as what can be edited does, too; tools that look at pages know only this.
          EditorView.contentAttributes.of({ "aria-label": current.current.label, tabindex: "0" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) current.current.change(update.state.doc.toString());
          }),
          TYPED_OVER,
          LOOK,
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const made = view.current!;
    if (made.state.doc.toString() !== props.text)
      made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert: props.text } });
  }, [props.text]);
  useEffect(() => {
    const made = view.current!;
    made.dispatch(
      setDiagnostics(
        made.state,
        props.problems.map((one) => diagnosticOf(made.state, one)),
      ),
    );
  }, [props.problems]);
  useImperativeHandle(props.handle, () => ({
    goTo(problem) {
      const made = view.current!;
      const { from } = diagnosticOf(made.state, problem);
      made.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      made.focus();
    },
  }));
  return <div className="code-editor" ref={at} />;
}
