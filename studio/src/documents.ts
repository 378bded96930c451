/** The open files: what stands in the editors, and how the server comes to know it. */

import { type ChangeSet, EditorState, type Extension, type Text } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { signal } from "@preact/signals";
import { ask } from "./connection";
import { difference } from "./difference";
import type { Range } from "./protocol";

export type Kind = "model" | "properties";

/** How long to wait for the next key before the server hears of a change, in milliseconds. */
const PAUSE = 120;

export class Doc {
  /** Whether the text differs from that of the file. */
  readonly dirty = signal(false);
  readonly edits = signal(0);
  readonly errors = signal(0);
  state: EditorState;
  view: EditorView | null = null;
  private version = 0;
  private known = false;
  private saved: Text | null;
  private readonly first: Text;
  private pending: ChangeSet | null = null;
  private timer = 0;

  constructor(
    public file: string,
    readonly kind: Kind,
    text: string,
    /** Of the file as it was read or written last; null if it is only here. */
    public stamp: string | null,
    extensions: (doc: Doc) => Extension,
  ) {
    this.state = EditorState.create({ doc: text, extensions: extensions(this) });
    this.first = this.state.doc;
    this.saved = stamp === null ? null : this.first;
    this.dirty.value = stamp === null;
  }

  /** Whether somebody's work would be lost with the page; a model of the gallery is there again. */
  get touched(): boolean {
    return !(this.saved ?? this.first).eq(this.state.doc);
  }

  get text(): string {
    return this.state.doc.toString();
  }

  /** Called by the editor for every transaction. */
  changed(state: EditorState, changes: ChangeSet | null): void {
    this.state = state;
    if (!changes || changes.empty) return;
    this.pending = this.pending ? this.pending.compose(changes) : changes;
    this.dirty.value = true;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.tell(), PAUSE);
  }

  /** Change the text from outside of the editor: what a new name or a new format needs. */
  edit(changes: { from: number; to: number; insert: string }[]): void {
    const sorted = [...changes].sort((a, b) => a.from - b.from);
    if (this.view) this.view.dispatch({ changes: sorted });
    else {
      const transaction = this.state.update({ changes: sorted });
      this.changed(transaction.state, transaction.changes);
    }
  }

  /** Replace the whole text, leaving alone what is the same at both ends, so that the cursor stays. */
  replace(text: string): void {
    const change = difference(this.text, text);
    if (change) this.edit([change]);
  }

  /** Make the server know the text as it is now. Resolves when it does. */
  async tell(): Promise<void> {
    window.clearTimeout(this.timer);
    if (this.known && !this.pending) return;
    const changes = this.pending;
    const base = this.version;
    this.pending = null;
    this.version += 1;
    this.dirty.value = this.saved === null || !this.saved.eq(this.state.doc);
    this.edits.value += 1;
    if (this.known && changes) {
      const list: { from: number; to: number; insert: string }[] = [];
      changes.iterChanges((from, to, _a, _b, inserted) => list.push({ from, to, insert: inserted.toString() }));
      try {
        await ask("buffer", { file: this.file, version: this.version, base, changes: list });
        return;
      } catch {
        this.version += 1; // The server lost track, after a new start for instance: it gets the whole text.
      }
    }
    this.known = true;
    await ask("buffer", { file: this.file, version: this.version, text: this.text });
  }

  /** The version that the server has been told. */
  get told(): number {
    return this.pending ? -1 : this.version;
  }

  forget(): void {
    this.known = false;
  }

  /** Write the text to its file. */
  async save(): Promise<void> {
    await this.tell();
    const doc = this.state.doc;
    const how = this.stamp === null ? { create: true } : { stamp: this.stamp };
    const { stamp } = await ask("write", { file: this.file, text: this.text, ...how });
    this.stamp = stamp;
    this.saved = doc;
    this.dirty.value = !doc.eq(this.state.doc);
  }

  /** Take the text of the file again, as somebody else wrote it. */
  async reload(): Promise<void> {
    const { text, stamp } = await ask("read", { file: this.file });
    this.replace(text);
    this.stamp = stamp;
    this.saved = this.state.doc;
    await this.tell();
    this.dirty.value = false;
  }

  /** Put the cursor on a place of the text. */
  show(range: Pick<Range, "from">): void {
    // Nothing is selected, so that a key typed too early replaces nothing.
    const selection = { anchor: Math.min(range.from, this.state.doc.length) };
    if (this.view) {
      this.view.dispatch({ selection, scrollIntoView: true });
      this.view.focus();
    } else this.state = this.state.update({ selection }).state;
  }
}
