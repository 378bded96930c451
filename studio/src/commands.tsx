/** Everything that has a shortcut, in one table: the keys, the list in the help dialog and what is done. */

import { signal, useSignal } from "@preact/signals";
import { checkNow } from "./checking";
import { focusedDoc, formatText, goToDefinition, renameSymbol } from "./editor/actions";
import { BENCH_TABS, benchTab, focusPane, narrowPane, nextPane, sidebarShown, theme } from "./layout";
import { newFile } from "./panes/files";
import { galleryShown } from "./panes/gallery";
import { fail, save, saveAll } from "./project";
import { stopAll } from "./question";
import { Dialog } from "./ui/dialog";

export interface Command {
  words: string;
  /** Of `KeyboardEvent.key`, with Ctrl, Alt and Shift in this order. Ctrl is also the command key of a Mac. */
  keys: string | null;
  run: () => void;
}

export const helpShown = signal(false);

export function chooseTab(tab: (typeof BENCH_TABS)[number]["id"]): void {
  benchTab.value = tab;
  narrowPane.value = "work";
  requestAnimationFrame(() => document.getElementById(`tab-work-${tab}`)?.focus());
}

const run = (promise: Promise<unknown>) => void promise.catch(fail);

export const COMMANDS: readonly Command[] = [
  { words: "Show all commands and shortcuts", keys: "F1", run: () => (helpShown.value = !helpShown.value) },
  { words: "Go to the next pane", keys: "F6", run: () => nextPane(false) },
  { words: "Go to the pane before", keys: "Shift+F6", run: () => nextPane(true) },
  { words: "Save the file", keys: "Ctrl+S", run: () => run(saveFocused()) },
  { words: "Save all files", keys: "Ctrl+Shift+S", run: () => run(saveAll()) },
  { words: "New file", keys: "Alt+N", run: () => run(newFile()) },
  { words: "Open the gallery", keys: "Alt+G", run: () => (galleryShown.value = true) },
  { words: "Ask all questions now", keys: "Ctrl+Enter", run: () => run(checkNow()) },
  { words: "Stop everything that runs", keys: "Ctrl+.", run: stopAll },
  ...BENCH_TABS.map(({ id, title }, i) => ({ words: `Show ${title}`, keys: `Alt+${i + 1}`, run: () => chooseTab(id) })),
  { words: "Go to the files", keys: "Alt+0", run: showFiles },
  { words: "Rename the name under the cursor", keys: "F2", run: () => run(renameSymbol()) },
  { words: "Go to where the name is declared", keys: "F12", run: () => run(goToDefinition()) },
  { words: "Format the text", keys: "Alt+Shift+F", run: () => run(formatText()) },
  { words: "Complete the name (in an editor)", keys: "Ctrl+Space", run: () => {} },
  { words: "Next problem (in an editor)", keys: "F8", run: () => {} },
  { words: "Find in the text (in an editor)", keys: "Ctrl+F", run: () => {} },
  { words: "Light colours", keys: null, run: () => (theme.value = "light") },
  { words: "Dark colours", keys: null, run: () => (theme.value = "dark") },
  { words: "Colours of the system", keys: null, run: () => (theme.value = "system") },
];

/** These belong to CodeMirror, and are listed only. */
const OF_EDITOR = new Set(["Ctrl+Space", "F8", "Ctrl+F"]);

function showFiles(): void {
  sidebarShown.value = true;
  narrowPane.value = "files";
  requestAnimationFrame(() => focusPane(document.getElementById("pane-files")));
}

async function saveFocused(): Promise<void> {
  const doc = focusedDoc();
  if (doc) await save(doc);
}

export function keysOf(event: KeyboardEvent): string {
  // With Alt, some keyboards write other letters; the place of the key says which was meant.
  const letter = event.altKey ? /^(?:Key|Digit)(\w)$/.exec(event.code)?.[1] : undefined;
  const key = letter ?? (event.key.length === 1 ? event.key.toUpperCase() : event.key);
  const parts = [
    event.ctrlKey || event.metaKey ? "Ctrl" : "",
    event.altKey ? "Alt" : "",
    event.shiftKey ? "Shift" : "",
  ];
  return [...parts.filter(Boolean), key === " " ? "Space" : key].join("+");
}

export function bindShortcuts(): void {
  const table = new Map(COMMANDS.filter((one) => one.keys && !OF_EDITOR.has(one.keys)).map((one) => [one.keys, one]));
  window.addEventListener(
    "keydown",
    (event) => {
      const command = table.get(keysOf(event));
      if (!command || event.isComposing) return;
      // Dialogs have the keyboard for themselves, but for the one that closes the help again.
      if (document.querySelector("dialog[open]") && command.keys !== "F1") return;
      event.preventDefault();
      event.stopPropagation();
      command.run();
    },
    { capture: true },
  );
}

export function HelpDialog() {
  const filter = useSignal("");
  if (!helpShown.value) return null;
  const shown = COMMANDS.filter((one) => one.words.toLowerCase().includes(filter.value.toLowerCase()));
  return (
    <Dialog title="Commands and shortcuts" onClose={() => (helpShown.value = false)}>
      <input
        class="field"
        autofocus
        placeholder="Find a command"
        aria-label="Find a command"
        onInput={(event) => (filter.value = event.currentTarget.value)}
      />
      <ul class="commands">
        {shown.map((one) => (
          <li key={one.words}>
            <button
              type="button"
              class="command"
              onClick={() => {
                helpShown.value = false;
                requestAnimationFrame(one.run);
              }}
            >
              <span class="grow">{one.words}</span>
              {one.keys && <kbd>{one.keys}</kbd>}
            </button>
          </li>
        ))}
        {shown.length === 0 && <li class="muted">No command has these words.</li>}
      </ul>
      <p class="muted small">Tab leaves an editor. In lists, tabs and tables, arrow keys move.</p>
    </Dialog>
  );
}
