/** What an editor of a model or of properties can do. The server has the words; this file asks for them. */

import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  hoverTooltip,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { ask } from "../connection";
import type { Doc } from "../documents";
import type { At, Completion } from "../protocol";
import { activeModel, activeProperties, constants } from "../state";
import { prismHighlighting, prismLanguage } from "./prism";
import { editorTheme } from "./theme";

const ICONS: Record<Completion["kind"], string> = {
  keyword: "keyword",
  function: "function",
  variable: "variable",
  constant: "constant",
  formula: "function",
  label: "text",
  reward: "property",
  module: "namespace",
  action: "method",
  property: "property",
  type: "type",
};

export function at(doc: Doc, offset: number): At {
  const [model, properties] = [activeModel.value?.file ?? null, activeProperties.value?.file ?? null];
  const beside = doc.kind === "model" ? { properties } : { model };
  return { file: doc.file, offset, ...beside, constants: constants.value };
}

async function complete(doc: Doc, context: CompletionContext): Promise<CompletionResult | null> {
  if (!context.explicit && !context.matchBefore(/[A-Za-z_"]\w*$/)) return null;
  try {
    await doc.tell();
    const { from, to, items } = await ask("complete", at(doc, context.pos), { slot: "complete" });
    if (context.aborted || items.length === 0) return null;
    return {
      from,
      to,
      options: items.map((item) => ({
        label: item.label,
        type: ICONS[item.kind],
        detail: item.detail ?? item.kind,
        apply: item.insert,
        ...(item.documentation ? { info: plain(item.documentation) } : {}),
      })),
      validFor: /^"?\w*$/,
    };
  } catch {
    return null; // A completion that does not come is no message worth.
  }
}

function hover(doc: Doc): Extension {
  return hoverTooltip(
    async (_view, pos) => {
      try {
        await doc.tell();
        const found = await ask("hover", at(doc, pos), { slot: "hover" });
        if (!found) return null;
        return {
          pos: found.range.from,
          end: found.range.to,
          above: true,
          create: () => {
            const dom = document.createElement("div");
            dom.className = "cm-galton-hover";
            if (found.code) dom.append(part("code", found.code));
            dom.append(part("div", plain(found.text)));
            return { dom };
          },
        };
      } catch {
        return null;
      }
    },
    { hoverTime: 250 },
  );
}

/** Markdown without its marks. */
function plain(text: string): string {
  return text.replace(/^```.*\n?/gm, "").replaceAll("`", "");
}

function part(tag: string, text: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

export function docExtensions(doc: Doc): Extension {
  const about = doc.kind === "model" ? "Model" : "Properties";
  return [
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightActiveLine(),
    history(),
    drawSelection(),
    indentUnit.of("  "),
    EditorState.tabSize.of(2),
    bracketMatching(),
    closeBrackets(),
    prismLanguage,
    prismHighlighting,
    editorTheme,
    search({ top: true }),
    highlightSelectionMatches({ maxMatches: 200 }),
    lintGutter(),
    autocompletion({ override: [(context) => complete(doc, context)], icons: true }),
    hover(doc),
    EditorView.contentAttributes.of({ "aria-label": `${about}: ${doc.file}`, tabindex: "0" }),
    EditorView.updateListener.of((update) => doc.changed(update.state, update.docChanged ? update.changes : null)),
    // Tab leaves the editor, so that nobody is caught in it.
    keymap.of([
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...lintKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...defaultKeymap,
    ]),
  ];
}
