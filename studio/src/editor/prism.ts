/** How PRISM models and properties are coloured: a tokenizer that looks at one line at a time. */

import { HighlightStyle, StreamLanguage, type StreamParser, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";

const KEYWORDS = new Set(
  `ctmc dtmc mdp probabilistic nondeterministic stochastic module endmodule init endinit rewards endrewards system
  endsystem global formula label const filter multi prob rate`.split(/\s+/),
);
const TYPES = new Set(["bool", "int", "double", "clock"]);
const FUNCTIONS = new Set(["min", "max", "floor", "ceil", "round", "mod", "pow", "log", "func"]);
const OPERATORS = /^(?:P|R|S|T|A|E|LRA|Pmin|Pmax|Rmin|Rmax|Smin|Smax|Tmin|Tmax|LRAmin|LRAmax)$/;
const TEMPORAL = new Set(["F", "G", "X", "U", "W", "C", "I"]);

export const prismParser: StreamParser<{ update: boolean }> = {
  name: "prism",
  startState: () => ({ update: false }),
  token(stream, state) {
    if (stream.eatSpace()) return null;
    if (stream.match("//")) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match(/^"[^"]*"?/)) return "string";
    if (stream.match(/^\[[A-Za-z_][\w]*\](?!\s*(?:&|\|))/)) return "labelName";
    if (stream.match(/^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/)) {
      // "0..7" is a range: its dots belong to neither number.
      if (stream.current().endsWith(".") && stream.peek() === ".") stream.backUp(1);
      return "number";
    }
    const word = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null;
    if (word) {
      const name = word[0];
      if (stream.eat("'")) return "definition";
      if (KEYWORDS.has(name)) return "keyword";
      if (TYPES.has(name)) return "typeName";
      if (name === "true" || name === "false") return "bool";
      if (FUNCTIONS.has(name) && stream.match(/^\s*\(/, false)) return "function";
      if (OPERATORS.test(name) && stream.match(/^\s*(?:[=<>{]|\[|min|max)/, false)) return "operatorKeyword";
      if (TEMPORAL.has(name)) return "operatorKeyword";
      return "variableName";
    }
    state.update = false;
    if (stream.match(/^(?:->|<=>|=>|<=|>=|!=|\.\.|[=<>+\-*/&|!?:^])/)) return "operator";
    stream.next();
    return "punctuation";
  },
  languageData: { commentTokens: { line: "//" }, closeBrackets: { brackets: ["(", "[", '"'] } },
  tokenTable: {
    definition: tags.definition(tags.variableName),
    function: tags.function(tags.variableName),
  },
};

export const prismLanguage = StreamLanguage.define(prismParser);

const style = HighlightStyle.define([
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: tags.operatorKeyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: tags.typeName, color: "var(--code-type)" },
  { tag: [tags.number, tags.bool], color: "var(--code-number)" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: tags.labelName, color: "var(--code-action)" },
  { tag: tags.definition(tags.variableName), color: "var(--code-update)" },
  { tag: tags.function(tags.variableName), color: "var(--code-function)" },
  { tag: [tags.operator, tags.punctuation], color: "var(--code-operator)" },
]);

export const prismHighlighting = syntaxHighlighting(style);
