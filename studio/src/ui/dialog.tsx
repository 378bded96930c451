/** Dialogs: the browser's own element keeps the focus inside, and closes on Escape. */

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "./icons";

interface Props {
  title: string;
  onClose: () => void;
  wide?: boolean;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, wide, children }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = ref.current;
    dialog?.showModal();
    return () => {
      // Somebody may have gone elsewhere since.
      const now = document.activeElement;
      const lost = now === null || now === document.body || dialog?.contains(now);
      if (lost && before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes; the click is on what lies around the dialog
    <dialog
      ref={ref}
      class={wide ? "dialog wide" : "dialog"}
      aria-labelledby="dialog-title"
      onClose={onClose}
      onClick={(event) => event.target === ref.current && ref.current?.close()}
    >
      <div class="dialog-inside">
        <header class="dialog-head">
          <h2 id="dialog-title">{title}</h2>
          <button type="button" class="button quiet icon" aria-label="Close" onClick={() => ref.current?.close()}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface Question {
  title: string;
  label: string | null;
  value: string;
  button: string;
  resolve: (answer: string | null) => void;
}

const question = signal<Question | null>(null);

/** Ask for a line of text, or with `label` null for a yes; null if nobody gave one. */
export function prompt(title: string, label: string | null, value: string, button: string): Promise<string | null> {
  return new Promise((resolve) => {
    question.value = { title, label, value, button, resolve };
  });
}

export function PromptDialog() {
  const now = question.value;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!now) return;
    field.current?.focus();
    field.current?.setSelectionRange(0, now.value.replace(/\.[^.]*$/, "").length);
  }, [now]);
  if (!now) return null;
  const finish = (answer: string | null) => {
    question.value = null;
    now.resolve(answer);
  };
  return (
    <Dialog title={now.title} onClose={() => finish(null)}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          finish(field.current?.value.trim() ?? "");
        }}
      >
        {now.label && (
          <label class="stack">
            <span class="muted small">{now.label}</span>
            <input ref={field} class="field mono" defaultValue={now.value} spellcheck={false} />
          </label>
        )}
        <div class="row end">
          <button type="button" class="button" onClick={() => finish(null)}>
            Cancel
          </button>
          <button type="submit" class="button primary">
            {now.button}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
