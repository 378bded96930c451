/** The line between two panes: drag it, or move it with the arrow keys. */

import type { Signal } from "@preact/signals";
import { useRef } from "preact/hooks";

interface Props {
  label: string;
  /** The part of the pane behind the line, in percent. */
  share: Signal<number>;
  axis: "x" | "y";
}

const LEAST = 15;

export function Splitter({ label, share, axis }: Props) {
  const ref = useRef<HTMLDivElement>(null);
  const set = (value: number) => {
    share.value = Math.round(Math.min(100 - LEAST, Math.max(LEAST, value)) * 10) / 10;
  };
  const drag = (event: PointerEvent) => {
    const box = ref.current?.parentElement?.getBoundingClientRect();
    if (!box || !ref.current?.hasPointerCapture(event.pointerId)) return;
    set(
      axis === "x"
        ? ((box.right - event.clientX) / box.width) * 100
        : ((box.bottom - event.clientY) / box.height) * 100,
    );
  };
  const press = (event: KeyboardEvent) => {
    const grow = axis === "x" ? "ArrowLeft" : "ArrowUp";
    const shrink = axis === "x" ? "ArrowRight" : "ArrowDown";
    if (event.key !== grow && event.key !== shrink) return;
    event.preventDefault();
    set(share.value + (event.key === grow ? 4 : -4));
  };
  return (
    <div
      ref={ref}
      class={`splitter ${axis}`}
      role="separator"
      aria-label={label}
      aria-orientation={axis === "x" ? "vertical" : "horizontal"}
      aria-valuenow={Math.round(share.value)}
      aria-valuemin={LEAST}
      aria-valuemax={100 - LEAST}
      tabIndex={0}
      onKeyDown={press}
      onPointerDown={(event) => ref.current?.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
    />
  );
}
