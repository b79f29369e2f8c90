/** Texts of the workflow screen and the editor. */
const count = (n: number, one: string, many: string) => (n === 1 ? `1 ${one}` : `${n.toLocaleString()} ${many}`);

export const workflowWords = {
  views: { graph: "Graph", yaml: "YAML" },
  tabs: { now: "Now", versions: "Versions", triggers: "Triggers" } as Record<string, string>,
  sections: "Sections",
  yaml: "Definition in YAML",
  edit: "Edit",
  asWritten: (at: string) => `As it was written, ${at}.`,
  fromProgram: "It was not given as text, such as by a program: this is its definition, written as YAML.",
  toNewest: "Show the newest",
  read: "Text",
  readVersion: (n: number) => `Text of version ${n}`,
  moveHere: "Move executions …",
  plan: {
    none: "Nothing is under way.",
    can: (n: number) => `${count(n, "execution", "executions")} can go on by it`,
    cannot: (n: number) => `${count(n, "execution", "executions")} cannot`,
    there: (n: number) => `${count(n, "execution runs", "executions run")} this version already.`,
    kinds: {
      same: (n) => (n === 1 ? "waits as before" : "wait as before"),
      changed: (n) => (n === 1 ? "waits at what has changed" : "wait at what has changed"),
      moved: (n) => (n === 1 ? "waits at what has another place" : "wait at what has another place"),
      gone: (n) => (n === 1 ? "waits at what is gone" : "wait at what is gone"),
    } as Record<string, (n: number) => string>,
    at: (nodes: string) => `at ${nodes}`,
    asked_again: (nodes: string) => `People are asked again: ${nodes}.`,
    runs: (nodes: string) => `Runs at once: ${nodes}.`,
    passed: (nodes: string) => `Passed by, since it comes before: ${nodes}.`,
    sample: "one of them",
  },
  move: {
    title: (name: string) => `Move executions of ${name}`,
    about: "They go on by another version from where they are. What is done stays done, and nothing is repeated.",
    to: "To",
    map: "Nodes that have another name now",
    mapHint: "Executions wait at nodes that this version does not have. Name what each has become, or leave them.",
    becomes: (old: string) => `${old} is now`,
    nothing: "gone: those executions stay with their version",
    do: (n: number) => (n === 0 ? "Move" : `Move ${n.toLocaleString()}`),
  },
  draft: "You have unsaved changes of this workflow in this tab.",
  draftGo: "Go on editing",
  newOne: "New workflow",
  newDraft: "You have begun a new workflow in this tab that is not saved.",
  find: "Find by name",
  noneFits: "No workflow has this in its name.",
  restTitle: "Where executions rest now",
  rests: (n: number, more: boolean) => (more ? `${n.toLocaleString()} or more` : n.toLocaleString()),
  nothingRests: "Nothing waits at a node.",
  waits: {
    approval: "waits for a person",
    form: "waits for a person",
    timer: "waits for a time",
    signal: "waits for a signal",
    callback: "waits for a callback",
    child: "waits for another execution",
  } as Record<string, string>,
  oldest: (age: string) => `the oldest ${age}`,
  open: (n: number) => count(n, "execution has not ended", "executions have not ended"),
  someCounted: "There are many: not all were counted.",
  here: (n: number) => `${n.toLocaleString()} here`,
  version: (n: number) => `Version ${n}`,
  newest: "newest",
  compare: "Compare",
  compareWith: (a: number, b: number) => `What changed from version ${a} to version ${b}`,
  before: "From",
  after: "To",
  same: "The two run alike: nothing is different.",
  kinds: { added: "added", removed: "removed", changed: "changed" } as Record<string, string>,
  nodesChanged: (added: number, removed: number, changed: number) =>
    [
      added && count(added, "node added", "nodes added"),
      removed && count(removed, "node removed", "nodes removed"),
      changed && count(changed, "node changed", "nodes changed"),
    ]
      .filter(Boolean)
      .join(", ") || "No node is different.",
  was: "was",
  is: "is",
  noTriggers: "Nothing starts it by itself.",
  states: {
    initialized: "not started yet",
    active: "active",
    paused: "paused",
    stopped: "stopped",
    error: "failing",
  } as Record<string, string>,
  next: "Next",
  noNext: "No occurrence is due.",
  inputs: "Last inputs",
  noInputs: "It has received nothing yet.",
  inputStates: {
    pending: "waiting to start",
    started: "started",
    delivered: "delivered",
    skipped: "skipped",
    rejected: "rejected",
    discarded: "discarded",
  } as Record<string, string>,
  pauseTrigger: "Pause trigger",
  resumeTrigger: "Resume trigger",
  pauseTitle: (name: string) => `Pause ${name}?`,
  pauseNew:
    "Nothing new starts: what people and programs start waits until the workflow is resumed, and its triggers start nothing.",
  pauseUnderWay: (n: number, more: boolean) =>
    n === 0 && !more ? "Nothing is under way now." : `${more ? "At least " : ""}${underWay(n)}`,
  goOn: (n: number) => (n === 1 ? "It goes on to its end." : "They go on to their ends."),
  stop: (n: number) =>
    n === 1 ? "It stops before its next step." : "They stop before their next step; what runs now is finished first.",
  runningToo: "Pause those as well",
  questionsStay: "Open questions stay open and can be answered.",
  reason: "Reason",
  pauseDo: "Pause workflow",
  resumeText: "What waited to start begins, and what was paused with the workflow goes on.",
  off: "Switch off …",
  offTitle: (name: string) => `Switch ${name} off?`,
  offText: "It can no longer be started: whoever tries is refused, and its triggers start nothing.",
  offUnderWay: (n: number, more: boolean) =>
    n === 0 && !more
      ? "Nothing is under way now."
      : `${more ? "At least " : ""}${underWay(n)} ${n === 1 ? "It goes" : "They go"} on.`,
  offDo: "Switch off",
  on: "Switch on",
  parent: "began this",
  children: "What it began, as a graph",
  began: (n: number) => `began ${count(n, "execution", "executions")}`,
  moreLeft: "There were many. Press it again to go on with the others.",
};

function underWay(n: number): string {
  return `${count(n, "execution is", "executions are")} under way.`;
}

export const editorWords = {
  title: (name: string) => `Edit ${name}`,
  newTitle: "New workflow",
  text: "Definition in YAML",
  problems: "Problems",
  checking: "Checking …",
  fine: "No problems.",
  found: (errors: number, warnings: number) =>
    [errors && count(errors, "error", "errors"), warnings && count(warnings, "warning", "warnings")]
      .filter(Boolean)
      .join(", "),
  severity: { error: "Error", warning: "Warning" } as Record<string, string>,
  at: (line: number, column: number | null | undefined) => `line ${line}${column ? `:${column}` : ""}`,
  preview: "Preview",
  stalePreview: "The graph is of the last text without errors.",
  noPreview: "The graph appears when the text can be read.",
  tabs: { graph: "Graph", run: "Dry run" } as Record<string, string>,
  kept: "Your changes are kept in this tab until you save or discard them.",
  unchanged: "Nothing is changed yet.",
  fromProgram:
    "Nothing is changed yet. It was not given as text, such as by a program: this is its definition as YAML.",
  discard: "Discard …",
  discardTitle: "Discard your changes?",
  discardText: "What you typed here is lost. The newest version is loaded again.",
  discardDo: "Discard",
  save: "Save …",
  saveTitle: "Save as a new version",
  saveText: "Save the text",
  becomes: (n: number) => `It becomes version ${n}.`,
  becomesFirst: (name: string) => `It becomes the first version of ${name}.`,
  taken: (name: string) => `There is a workflow ${name} already. Choose another name, or`,
  takenGo: "open that one",
  runsAlike: (n: number) =>
    `It runs as version ${n} does, and makes no new one. The text is kept in place of the one that is there.`,
  rewritten: "Another person has written the text of this version anew since you began. Yours takes its place.",
  underWay: (can: number, cannot: number) =>
    `Of those under way, ${can.toLocaleString()} could be moved to it, ${cannot.toLocaleString()} could not`,
  runningOnes:
    "Executions that are under way stay with their version; new ones start with this. You can move them afterwards.",
  movedOn: (began: number, now: number) =>
    `Version ${now} was saved since you began with version ${began}. What it changed is undone by yours where they differ.`,
  saveDo: "Save",
  hasErrors: "Mend the errors before you save.",
  otherName: (name: string, own: string) =>
    `The text names ${own}, but this is ${name}. Keep the name, or make a new workflow.`,
  run: "Run",
  runHint: "Nothing is called, stored or waited for. Answers and outputs are those that you give here.",
  input: "Input",
  answers: "Answers of people and systems, by node",
  outputs: "Outputs of called functions, by node",
  stands: (nodes: string) => `It would wait at ${nodes}.`,
  played: "What it would do",
  result: "Output",
};
