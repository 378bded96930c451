/**
 * What the page and the server say to each other. This file is the one definition of it: the server's tests compare
 * what it sends with the names here, and the page is compiled against it.
 *
 * One WebSocket, `/ws`, per page; every message is one JSON object. The page asks, with an id that it counts up; the
 * server answers with events of that id. An ask ends with exactly one `result`, `error` or `stopped`; before it there
 * may be any number of `progress` and `part`. An ask with a `slot` stops the one that is running in the same slot (its
 * end is `stopped`), which is what one wants while somebody types or drags.
 *
 * Files are named by their path inside the project folder, with `/` between folders: "die.prism", "old/die.props".
 * Models and properties are always given by such a name, or by a text where the type says so. What stands in an
 * editor and is not saved yet is made known with `buffer`; from then on the name means the buffer, until it is closed.
 *
 * Values of constants are texts, as a person would type them after `--const`: "3", "0.5", "1/3", "true"; ranges
 * ("1:10", "0:0.1:1") only in `experiment`.
 *
 * Numbers that JSON cannot hold are texts: "Infinity", "-Infinity", "NaN" (the type `Num`).
 *
 * No text that the server sends is HTML. Put all of them into the page as text.
 */

export type Num = number | "Infinity" | "-Infinity" | "NaN";
export type Value = Num | boolean | string; // strings: fractions ("1/3") of exact answers
export type Constants = Record<string, string>;

// ---------------------------------------------------------------------------------------------------- the envelope

export type AskName = keyof Asks;

/** What the page sends: `{id, ask, slot?, …}` with the fields of the ask beside them. */
export type Ask<A extends AskName = AskName> = { id: number; ask: A; slot?: string } & Asks[A]["ask"];

/** What the page sends to stop an ask; there is no answer of its own, the stopped ask ends with `stopped`. */
export interface Stop {
  ask: "stop";
  stop: number;
}

export type Reply<A extends AskName = AskName> =
  | { id: number; event: "progress"; progress: Progress }
  | { id: number; event: "part"; part: Asks[A]["part"] }
  | { id: number; event: "result"; result: Asks[A]["result"] }
  | { id: number; event: "error"; error: Trouble }
  | { id: number; event: "stopped"; reason: StopReason };

/** by: somebody stopped it; slot: a newer ask took its place; closed: the server ends. */
export type StopReason = "by" | "slot" | "closed";

/** Sent by the server alone, with id 0: once at the start, and when something happens without an ask. */
export type News =
  | { id: 0; event: "hello"; hello: Hello }
  /** Files of the project changed on disk, by somebody else. */
  | { id: 0; event: "files"; files: FileEntry[] }
  /** The page will be closed: it was idle for too long, or the server ends. Reconnect when the user comes back. */
  | { id: 0; event: "goodbye"; reason: string };

export interface Hello {
  version: string; // of Galton
  protocol: 1;
  project: { name: string }; // the last part of the folder's path; the path itself is nobody's business
  open: string | null; // the file given on the command line
  devices: { name: string; words: string }[]; // what --device may be: "auto", "cpu", "cuda", …
  methods: string[]; // for the option `method`
  limits: Limits;
}

export interface Limits {
  message_bytes: number; // the longest message the server reads; longer ones close the socket
  text_bytes: number; // the longest file or buffer
  seconds: number | null; // per question
  memory_bytes: number | null; // per question
  questions: number; // in flight per page; more wait
  waiting: number; // that may wait; more are refused with kind "busy"
  graph_states: number; // `graph` refuses larger models
  page_states: number; // the most rows of one `states` page
}

/** How far it is. Not every step knows a total. */
export interface Progress {
  what: string; // "exploring", "solving", "rows", "boxes", in words
  done: number | null;
  total: number | null;
  words: string; // one line for people, e.g. "1,204,233 states"
  seconds: number; // since the ask began
}

/** What went wrong, worded as the command line words it. */
export interface Trouble {
  /**
   * language: in a text of the user, with a place; refused: Galton cannot or will not do this; limit: seconds or memory
   * are used up; busy: too many questions; request: the page asked nonsense; internal: a bug, with a number that
   * stands in the server's log too.
   */
  kind: "language" | "refused" | "limit" | "busy" | "request" | "internal";
  message: string; // one line
  text: string; // all of it: the place, the line with a mark, and what to do
  hint: string | null;
  file: string | null;
  range: Range | null;
}

/** A range of a text: lines and columns from 0 (columns in UTF-16 code units, as JavaScript counts), and offsets. */
export interface Range {
  from: number; // offset in UTF-16 code units
  to: number;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
}

/** Which properties: a text of its own (it may declare constants, labels, formulas), or one of a file by number. */
export type Property = { text: string } | { file: string; number: number }; // numbers count from 1

/** Choices as for `galton check`; what is left out has its default. Unknown names are refused. */
export interface Options {
  device?: string; // "auto"
  method?: string;
  eps?: number; // 1e-6
  relative?: boolean; // true
  exact?: boolean;
  fair?: boolean;
  sim?: boolean; // random paths: an estimate with a confidence
  confidence?: number;
  width?: number;
  paths?: number;
  seed?: number;
  slice?: boolean;
  symmetry?: boolean;
  lump?: boolean | null;
  fix_deadlocks?: boolean; // true; this and the next only for asks about states
  max_states?: number;
  threads?: number;
}

/** A table as `export` writes it and the page shows it. */
export interface Table {
  columns: string[];
  rows: (Value | null)[][];
}

/** How to ask the same elsewhere. Empty where there is no such command. */
export interface Copied {
  command: string; // for a shell, in the project folder
  python: string; // a whole script, in the project folder
}

// -------------------------------------------------------------------------------------------------------- the asks

export interface Asks {
  // ---- project: plain folders with the user's own files
  files: { ask: Record<never, never>; part: never; result: { files: FileEntry[] } };
  read: { ask: { file: string }; part: never; result: { file: string; text: string; stamp: string } };
  /** Writes a text. `stamp` is that of the last read or write: if the file changed on disk since, it is refused. */
  write: {
    ask: { file: string; text?: string; stamp?: string; create?: boolean };
    part: never;
    result: { file: string; stamp: string };
  }; // text left out: that of the buffer. create: refuse if there is such a file already
  create_folder: { ask: { folder: string }; part: never; result: { files: FileEntry[] } };
  rename_file: { ask: { file: string; to: string }; part: never; result: { files: FileEntry[] } };
  delete_file: { ask: { file: string }; part: never; result: { files: FileEntry[] } };
  gallery: { ask: Record<never, never>; part: never; result: { models: GalleryEntry[] } };
  /** The texts of a model of the gallery. Nothing is written: `buffer` and `write` do that when the user saves. */
  gallery_open: {
    ask: { name: string };
    part: never;
    result: { entry: GalleryEntry; model: { file: string; text: string }; properties: { file: string; text: string } | null };
  };

  // ---- editing: light, in a process of their own, so that they answer while a question runs
  /** What stands in an editor. Either the whole text, or changes to the version before (offsets in UTF-16 units of the
   * text before all of them, in order, not overlapping, as CodeMirror's ChangeSet.iterChanges gives them). */
  buffer: {
    ask: { file: string; version: number; text?: string; base?: number; changes?: { from: number; to: number; insert: string }[] };
    part: never;
    result: { version: number };
  };
  buffer_close: { ask: { file: string }; part: never; result: Record<never, never> };
  diagnose: { ask: { model: string | null; properties?: string | null; constants?: Constants }; part: never; result: Diagnosis };
  hover: { ask: At; part: never; result: { range: Range; text: string; code: string | null } | null };
  complete: { ask: At; part: never; result: { from: number; to: number; items: Completion[] } };
  definition: { ask: At; part: never; result: { file: string; range: Range } | null };
  references: { ask: At; part: never; result: { file: string; range: Range }[] };
  /** All places to change; the page applies them to its buffers. */
  rename: { ask: At & { to: string }; part: never; result: { edits: { file: string; range: Range; text: string }[] } };
  format: { ask: { file: string }; part: never; result: { text: string } };

  // ---- checking
  check: {
    ask: { model: string; properties: Property[]; constants?: Constants; options?: Options };
    part: { number: number; answer: Answer }; // number: the place in `properties`, from 0
    result: { answers: Answer[]; model: ModelInfo | null; seconds: number; copied: Copied };
  };
  /** Constants may have ranges, "1:10" or "0:0.1:1"; the first changes last. */
  experiment: {
    ask: { model: string; properties: Property[]; constants: Constants; options?: Options };
    part: { plan: { constants: { name: string; values: Value[] }[]; properties: string[]; rows: number } } | { row: number; point: Point };
    result: { points: number; errors: number; table: Table; seconds: number; copied: Copied };
  };

  // ---- states
  build: {
    ask: { model: string; constants?: Constants; options?: Options };
    part: never;
    result: { model: ModelInfo; copied: Copied };
  };
  /** The whole graph, of models up to limits.graph_states states. */
  graph: {
    ask: StatesOf;
    part: never;
    result: {
      model: ModelInfo;
      variables: string[];
      states: GraphState[];
      edges: GraphEdge[];
      copied: Copied;
    };
  };
  /** A property's value in every state of a small model, or in the states listed. */
  values: {
    ask: StatesOf & { property: Property; states?: number[] };
    part: never;
    result: { property: string; kind: "number" | "truth"; states: number[] | null; values: Value[]; least: Num | null; greatest: Num | null; copied: Copied };
  };
  /** Sets of states; `number` of a state is its component or its distance, -1 for none. Only for small models are
   * `numbers` sent whole; otherwise ask for pages of `states` with `columns`. */
  sets: {
    ask: StatesOf & { kind: SetKind; property?: Property }; // property: for prob0 and prob1
    part: never;
    result: {
      kind: SetKind;
      count: number; // components, or the greatest distance + 1, or the states of the set
      sizes: number[]; // of the first 1,000 components; states at each distance; [inside, outside]
      numbers: number[] | null; // by state; 0 or 1 for prob0 and prob1
      words: string;
      copied: Copied;
    };
  };
  /** A page of the table of states; `where` is an expression over variables and labels, as in properties. */
  states: {
    ask: StatesOf & { from: number; count: number; where?: string; property?: Property; order?: "number" | "value" | "-value" };
    part: never;
    result: { total: number; variables: string[]; rows: StateRow[]; copied: Copied };
  };
  /** The way out of one state. */
  state: {
    ask: StatesOf & { state: number };
    part: never;
    result: { state: StateRow; choices: Choice[]; incoming: { from: number; number: Num; action: string | null }[] };
  };
  /** Where the entries of the matrix are: `size` × `size` cells, counts row by row. */
  matrix: {
    ask: StatesOf & { size: number };
    part: never;
    result: { size: number; states: number; counts: number[]; words: string; copied: Copied };
  };

  // ---- simulation: a path that belongs to the page, named by the page
  sim_start: {
    ask: { model: string; constants?: Constants; path: string; seed?: number; state?: Record<string, Value>; strategy?: Property; number?: number };
    part: never;
    result: SimView;
  }; // strategy: play the best strategy of this property of an MDP; of several, that with the number, or one by chance
  sim_step: { ask: { path: string; choice: number; successor: number }; part: never; result: SimView };
  sim_back: { ask: { path: string; steps: number }; part: never; result: SimView };
  /** Steps at random: choices under the strategy if there is one, otherwise each as likely as the others. */
  sim_play: { ask: { path: string; steps: number; time?: number }; part: never; result: SimView };
  sim_end: { ask: { path: string }; part: never; result: Record<never, never> };

  // ---- synthesis
  synth: {
    ask: {
      model: string;
      property: Property;
      parameters: Record<string, [number, number]>;
      constants?: Constants;
      goal: "threshold" | "maximise" | "minimise" | "values";
      tolerance?: number; // 0.01; for "values" the accuracy
      device?: string;
    };
    part: Boxes; // all boxes as they are now, at most a few times a second
    result: Boxes & { complete: boolean; seconds: number; words: string; copied: Copied };
  };
  /** The value at one point of the space; the model is checked with these constants. */
  synth_at: {
    ask: { model: string; property: Property; point: Record<string, number>; constants?: Constants };
    part: never;
    result: { answer: Answer; copied: Copied };
  };
  /** The Pareto set of multi(…, …) with two objectives or more. */
  pareto: {
    ask: { model: string; property: Property; constants?: Constants; options?: Options };
    part: never;
    result: ParetoSet & { seconds: number; copied: Copied };
  };

  // ---- export: of what an earlier ask of this page answered
  /** `of`: the id of a finished ask. The file is in base64; the page offers it as a download, or with `save` it is
   * written into the project folder. */
  export: {
    ask: { of: number; format: ExportFormat; save?: string };
    part: never;
    result: { name: string; type: string; base64: string } | { saved: string };
  };
  /** The command and the script for an ask, without running it. */
  copy: { ask: { what: AskName; asked: Record<string, unknown> }; part: never; result: Copied };
}

export type ExportFormat = "csv" | "json" | "png" | "svg" | "pdf" | "html" | "dot";

// ------------------------------------------------------------------------------------------------------- the parts

export interface FileEntry {
  file: string;
  kind: "model" | "properties" | "folder" | "other";
  bytes: number;
  stamp: string; // changes when the file does
}

export interface GalleryEntry {
  name: string; // "die"
  title: string;
  about: string;
  type: string; // "dtmc", …
  constants: Constants; // values to start with
  properties: boolean;
}

export interface At {
  file: string;
  offset: number; // UTF-16 code units
  model?: string | null; // for a file of properties: the model that it is about
  properties?: string | null; // for a model: the properties beside it, in which names are found and renamed too
  constants?: Constants;
}

export interface Completion {
  label: string;
  kind: "keyword" | "function" | "variable" | "constant" | "formula" | "label" | "reward" | "module" | "action" | "property" | "type";
  detail: string | null; // "int, 0..6", in few words
  insert: string;
  documentation: string | null; // Markdown; show it as text
}

export interface Diagnostic {
  file: string;
  range: Range;
  severity: "error" | "warning" | "information";
  message: string;
  hint: string | null;
}

export interface Diagnosis {
  versions: Record<string, number>; // of the buffers that were read
  diagnostics: Diagnostic[];
  outline: OutlineEntry[];
  type: string | null; // "dtmc", …; null if the model has errors
  constants: ConstantInfo[];
  labels: string[];
  rewards: string[]; // names; "" for one without a name
  variables: VariableInfo[];
  properties: PropertyInfo[];
}

export interface OutlineEntry {
  name: string;
  kind: "module" | "variable" | "constant" | "formula" | "label" | "rewards" | "property" | "init" | "system";
  detail: string | null;
  file: string;
  range: Range; // of the whole
  name_range: Range;
  children: OutlineEntry[];
}

export interface ConstantInfo {
  name: string;
  type: "int" | "double" | "bool";
  file: string; // where it is declared
  value: Value | null; // now, with what was given
  defined: boolean; // by the text; undefined ones need a value, and have sliders
  default: string | null; // the text of its definition
}

export interface VariableInfo {
  name: string;
  type: "int" | "bool";
  module: string | null;
  low: Value | null;
  high: Value | null;
  initial: Value | null;
}

export interface PropertyInfo {
  number: number; // from 1, for { file, number }
  name: string | null;
  text: string;
  kind: "number" | "truth" | "pareto" | "other";
  multi: boolean; // two objectives or more: ask for `pareto`
  range: Range;
  constants: string[]; // undefined constants of the file that it needs
}

/** One answer. A wrong property has `error`, and the others are answered all the same. */
export interface Answer {
  property: string; // its text in one line
  name: string | null;
  value: Value | null;
  text: string; // the value as the command line prints it: "0.1666666667", "true", "between 0.1 and 0.2"
  lower: Num | null; // proved bounds
  upper: Num | null;
  kind: "number" | "truth" | "pareto" | "interval" | "other";
  proved: boolean;
  confidence: number | null; // of an estimate
  seconds: number;
  method: string;
  placement: string; // where it ran and why
  explain: string[]; // line by line, as --explain
  warnings: string[];
  states: number | null;
  error: Trouble | null;
  listing: string[]; // lines of filter(print, …) and its like
  about: string; // the states that the value is about, in words: "the initial state 0"
  behind: { about: string; text: string } | null; // of a threshold: the number that was compared with it
}

export interface Point {
  constants: Record<string, Value>;
  answers: { value: Value | null; lower: Num | null; upper: Num | null; error: string | null }[]; // one per property
}

export interface ModelInfo {
  type: string;
  states: number;
  choices: number;
  transitions: number;
  initial: number;
  bytes: number;
  seconds: number;
  placement: string;
  labels: { name: string; states: number }[];
  rewards: string[];
  variables: string[];
  warnings: string[];
}

/** A model whose states are looked at; it is built once and kept while the asks are about the same. */
export interface StatesOf {
  model: string;
  constants?: Constants;
  options?: Options;
}

export interface GraphState {
  values: Value[]; // by variable
  initial: boolean;
  labels: string[];
  distance: number; // steps from an initial state
}

export interface GraphEdge {
  from: number;
  to: number;
  choice: number; // counted from 0 in its state; 0 in chains
  action: string | null;
  number: Num; // a probability, or a rate
}

export type SetKind = "scc" | "bscc" | "mec" | "distance" | "prob0" | "prob1";

export interface StateRow {
  state: number;
  values: Value[];
  initial: boolean;
  labels: string[];
  value: Value | null; // of the property, where one was given
}

export interface Choice {
  choice: number;
  action: string | null;
  chosen: Num | null; // how likely the strategy takes it; null without one
  successors: { to: number | null; number: Num; values: Value[]; changes: Record<string, Value> }[];
}

export interface SimView {
  path: string;
  variables: string[];
  rewards: string[];
  timed: boolean; // CTMC: `time` counts
  /** Rows of the trace from `from` on; what the page has before is still right. Row 0 is the start. */
  from: number;
  rows: SimRow[];
  length: number; // rows in all
  choices: Choice[]; // at the last state; empty where it is a deadlock
  deadlock: boolean;
  strategy: Followed | null;
  copied: Copied;
}

/** The strategy that a path follows. Where it says nothing, `chosen` is null in all choices. */
export interface Followed {
  number: number; // of those that there are, from 1
  all: { words: string; share: Num | null }[]; // what each comes to, and how likely it is chosen before the first step
  memory: number | null; // what it remembers here
}

export interface SimRow {
  step: number;
  action: string | null; // that led here
  choice: number | null;
  number: Num | null; // how likely that was, or its rate
  time: number | null; // when the state was entered
  values: Value[];
  labels: string[];
  rewards: Num[]; // collected so far, by structure
}

export interface Boxes {
  parameters: string[];
  low: number[]; // the space
  high: number[];
  boxes: Box[];
  decided: number; // the part of the space, 0 to 1 (threshold)
  best: { point: number[]; lower: Num; upper: Num } | null;
  optimum: [Num, Num] | null;
}

export interface Box {
  low: number[];
  high: number[];
  lower: Num; // proved bounds of the number over the box
  upper: Num;
  verdict: "true" | "false" | "undecided" | "optimal" | "not" | "value";
}

export interface ParetoSet {
  objectives: string[];
  points: Num[][]; // corners of what can be attained, by objective
  outside: { normal: Num[]; bound: Num }[]; // half-spaces that hold everything attainable: normal · x <= bound
  maximise: boolean[]; // by objective: whether more is better
  bounds: [Num, Num][][]; // for each point and objective, what holds it for certain
  words: string;
  proved: boolean;
}
