/** A button with a list of actions under it. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icons";

export interface Item {
  label: string;
  run: () => void;
  disabled?: boolean;
}

interface Props {
  label: ComponentChildren;
  /** What a screen reader calls the button, where its text does not say enough. */
  name?: string;
  items: readonly Item[];
  disabled?: boolean;
  quiet?: boolean;
}

export function Menu({ label, name, items, disabled, quiet }: Props) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  // At once, so that a key that follows quickly finds the list.
  useLayoutEffect(() => {
    if (!open) return;
    list.current?.querySelector("button")?.focus();
    const outside = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const shut = () => {
    setOpen(false);
    root.current?.querySelector("button")?.focus();
  };
  const move = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      return shut();
    }
    if (event.key === "Tab") return setOpen(false);
    const buttons = [...(list.current?.querySelectorAll("button") ?? [])];
    const now = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const next = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    buttons[(next + buttons.length) % buttons.length]?.focus();
  };
  return (
    <div class="menu" ref={root}>
      <button
        type="button"
        class={quiet ? "button quiet" : "button"}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={name}
        disabled={disabled}
        onClick={() => setOpen(!open)}
      >
        {label}
        <Icon name="down" />
      </button>
      {open && (
        <div role="menu" class="menu-list" ref={list} onKeyDown={move} tabIndex={-1}>
          {items.map((item) => (
            <button
              type="button"
              role="menuitem"
              key={item.label}
              tabIndex={-1}
              disabled={item.disabled}
              onClick={() => {
                shut();
                item.run();
              }}
            >
              {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
