import { StringStream } from "@codemirror/language";
import { expect, test } from "vitest";
import { difference } from "../src/difference";
import { prismParser } from "../src/editor/prism";

function tokens(line: string): [string, string][] {
  const stream = new StringStream(line, 2, 2);
  const state = prismParser.startState!(2);
  const found: [string, string][] = [];
  while (!stream.eol()) {
    stream.start = stream.pos;
    const kind = prismParser.token(stream, state);
    if (kind) found.push([stream.current(), kind]);
  }
  return found;
}

test("a command is taken apart", () => {
  expect(tokens("[toss] node=0 -> 1/2 : (node'=1) + 0.5 : true; // half")).toEqual([
    ["[toss]", "labelName"],
    ["node", "variableName"],
    ["=", "operator"],
    ["0", "number"],
    ["->", "operator"],
    ["1", "number"],
    ["/", "operator"],
    ["2", "number"],
    [":", "operator"],
    ["(", "punctuation"],
    ["node'", "definition"],
    ["=", "operator"],
    ["1", "number"],
    [")", "punctuation"],
    ["+", "operator"],
    ["0.5", "number"],
    [":", "operator"],
    ["true", "bool"],
    [";", "punctuation"],
    ["// half", "comment"],
  ]);
});

test("the dots of a range belong to no number", () => {
  expect(tokens("x : [0..7]")).toEqual([
    ["x", "variableName"],
    [":", "operator"],
    ["[", "punctuation"],
    ["0", "number"],
    ["..", "operator"],
    ["7", "number"],
    ["]", "punctuation"],
  ]);
});

test("operators of properties are keywords, and their names as variables are not", () => {
  expect(tokens('Pmax=? [ F "done" ]')[0]).toEqual(["Pmax", "operatorKeyword"]);
  expect(tokens('R{"steps"}=? [ C ]')[0]).toEqual(["R", "operatorKeyword"]);
  expect(tokens("P_total + 1")[0]).toEqual(["P_total", "variableName"]);
  expect(tokens("min(a, b)")[0]).toEqual(["min", "function"]);
});

test("the difference of two texts is one small change", () => {
  expect(difference("abc", "abc")).toBeNull();
  expect(difference("x=1;\ny=2;\n", "x=1;\ny = 2;\n")).toEqual({ from: 6, to: 7, insert: " = " });
  expect(difference("aa", "aaa")).toEqual({ from: 2, to: 2, insert: "a" });
});
