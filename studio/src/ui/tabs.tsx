/** Tabs as the ARIA guide wants them: one of them in the order of focus, arrows move and choose. */

import type { ComponentChildren } from "preact";

export interface Tab {
  id: string;
  title: ComponentChildren;
  label?: string;
}

interface Props {
  label: string;
  /** Names the elements: tab-NAME-ID and panel-NAME. */
  name: string;
  tabs: readonly Tab[];
  chosen: string | null;
  onChoose: (id: string) => void;
  onClose?: (id: string) => void;
  className?: string;
}

export function Tabs({ label, name, tabs, chosen, onChoose, onClose, className }: Props) {
  const move = (event: KeyboardEvent) => {
    const now = tabs.findIndex((tab) => tab.id === chosen);
    const last = tabs.length - 1;
    const next = { ArrowRight: now === last ? 0 : now + 1, ArrowLeft: now <= 0 ? last : now - 1, Home: 0, End: last }[
      event.key
    ];
    if (event.key === "Delete" && onClose && chosen !== null) {
      event.preventDefault();
      onClose(chosen);
    }
    const tab = next === undefined ? undefined : tabs[next];
    if (!tab) return;
    event.preventDefault();
    onChoose(tab.id);
    requestAnimationFrame(() => document.getElementById(`tab-${name}-${tab.id}`)?.focus());
  };
  return (
    <div role="tablist" aria-label={label} class={`tabs ${className ?? ""}`} onKeyDown={move}>
      {tabs.map((tab) => (
        <button
          type="button"
          role="tab"
          key={tab.id}
          id={`tab-${name}-${tab.id}`}
          aria-selected={tab.id === chosen}
          aria-controls={`panel-${name}`}
          aria-label={tab.label}
          tabIndex={tab.id === chosen ? 0 : -1}
          class="tab"
          onClick={() => onChoose(tab.id)}
          onAuxClick={(event) => event.button === 1 && onClose?.(tab.id)}
        >
          {tab.title}
        </button>
      ))}
    </div>
  );
}
