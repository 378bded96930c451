/** What one does with the name under the cursor, and with the text as a whole. */

import { ask } from "../connection";
import type { Doc } from "../documents";
import { fail, find, goTo, openFile } from "../project";
import { activeModel, activeProperties } from "../state";
import { prompt } from "../ui/dialog";
import { say } from "../ui/toast";
import { at } from "./extensions";

/** The file whose editor has the focus; otherwise the model. */
export function focusedDoc(): Doc | null {
  const properties = activeProperties.value;
  return properties?.view?.hasFocus ? properties : (activeModel.value ?? properties);
}

function place(doc: Doc) {
  return at(doc, doc.state.selection.main.head);
}

export async function renameSymbol(): Promise<void> {
  const doc = focusedDoc();
  if (!doc) return;
  const word = doc.state.wordAt(doc.state.selection.main.head);
  if (!word) return say("Put the cursor on a name first.");
  const before = doc.state.sliceDoc(word.from, word.to);
  const where = place(doc);
  const to = await prompt(`Rename ${before}`, "The new name", before, "Rename");
  if (!to || to === before) return;
  try {
    await doc.tell();
    const { edits } = await ask("rename", { ...where, to });
    const places = Map.groupBy(edits, (edit) => edit.file);
    const shown = { model: activeModel.value, properties: activeProperties.value };
    for (const [file, list] of places) {
      const target = find(file) ?? (await openFile(file, true));
      target?.edit(list.map((edit) => ({ from: edit.range.from, to: edit.range.to, insert: edit.text })));
    }
    if (shown.model) activeModel.value = shown.model;
    if (shown.properties) activeProperties.value = shown.properties;
    say(`${before} is ${to} now, in ${edits.length} ${edits.length === 1 ? "place" : "places"}.`);
    doc.view?.focus();
  } catch (error) {
    fail(error);
  }
}

export async function goToDefinition(): Promise<void> {
  const doc = focusedDoc();
  if (!doc) return;
  try {
    await doc.tell();
    const found = await ask("definition", place(doc));
    if (found) await goTo(found.file, found.range);
    else say("Nothing is declared under the cursor.");
  } catch (error) {
    fail(error);
  }
}

export async function formatText(): Promise<void> {
  const doc = focusedDoc();
  if (!doc) return;
  try {
    await doc.tell();
    const { text } = await ask("format", { file: doc.file });
    doc.replace(text);
    say(`${doc.file} is formatted.`);
  } catch (error) {
    fail(error);
  }
}
