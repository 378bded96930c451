/** The table of states. Only the rows in sight are there; they come from the server by pages. */

import { signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { connection, troubleOf } from "../connection";
import { formatCount, formatNumber } from "../format";
import type { Copied, StateRow } from "../protocol";
import { asked, given } from "../state";
import { builtKey, chosen, choose, colouring, search, statesOf, where } from "../states/model";

const ROW = 27;
/** Browsers cannot scroll further than some ten million pixels; longer tables are scrolled in proportion. */
const TALLEST = 6_000_000;
const PAGE = 100;

/** The ask of the last page: an export has all rows of its table. */
export const lastPage = signal<{ id: number; copied: Copied } | null>(null);
const order = signal<"number" | "value" | "-value">("number");

export function StateTable() {
  const frame = useRef<HTMLDivElement>(null);
  const pages = useRef(new Map<number, StateRow[]>());
  const total = useSignal(0);
  const first = useSignal(0);
  const rows = useSignal(12);
  const arrived = useSignal(0);
  const variables = useSignal<string[]>([]);
  const problem = useSignal<string | null>(null);
  const generation = useRef(0);
  const key = colouring.value.startsWith("value:") ? colouring.value.slice(6) : null;
  const property = asked.value.find((one) => one.key === key)?.property;
  // The expression counts when somebody searched, not while it is typed.
  const expression = search.result.value ? where.peek().trim() : "";
  const settled = JSON.stringify([builtKey.value, property, expression, order.value]);

  const fetchPage = async (page: number) => {
    const of = statesOf.peek();
    if (!of || pages.current.has(page)) return;
    pages.current.set(page, []);
    const now = generation.current;
    try {
      const size = Math.min(PAGE, connection.hello.value?.limits.page_states ?? PAGE);
      const asking = connection.ask("states", {
        ...of,
        from: page * size,
        count: size,
        ...(expression ? { where: expression } : {}),
        ...(property ? { constants: given.peek(), property, order: order.value } : {}),
      });
      const result = await asking.done;
      if (now !== generation.current) return;
      lastPage.value = { id: asking.id, copied: result.copied };
      pages.current.set(page, result.rows);
      total.value = result.total;
      variables.value = result.variables;
      problem.value = null;
      arrived.value += 1;
      if (wanted.current) chooseRow();
    } catch (error) {
      if (now !== generation.current) return;
      pages.current.delete(page);
      problem.value = troubleOf(error)?.message ?? null;
    }
  };

  useEffect(() => {
    generation.current += 1;
    pages.current = new Map();
    first.value = 0;
    if (frame.current) frame.current.scrollTop = 0;
    void fetchPage(0);
  }, [settled]);

  useSignalEffect(() => {
    const size = Math.min(PAGE, connection.hello.value?.limits.page_states ?? PAGE);
    const [from, to] = [Math.floor(first.value / size), Math.floor((first.value + rows.value) / size)];
    if (total.value === 0) return;
    for (let page = from; page <= to; page += 1) if (page * size < total.value) void fetchPage(page);
  });

  const height = Math.min(total.value * ROW, TALLEST);
  const scroll = () => {
    const box = frame.current;
    if (!box) return;
    rows.value = Math.max(1, Math.floor((box.clientHeight - ROW) / ROW));
    const room = height + ROW - box.clientHeight;
    const most = Math.max(0, total.value - rows.value);
    const exact = total.value * ROW <= TALLEST;
    first.value = Math.min(
      most,
      Math.ceil((exact ? box.scrollTop / ROW : (box.scrollTop / Math.max(1, room)) * most) - 0.01),
    );
  };
  useEffect(scroll, [height]);

  const goTo = (row: number) => {
    const box = frame.current;
    if (!box || total.value === 0) return;
    const target = Math.min(total.value - 1, Math.max(0, row));
    if (target < first.value || target >= first.value + rows.value) {
      const top = Math.min(
        Math.max(0, total.value - rows.value),
        Math.max(0, target - (target < first.value ? 0 : rows.value - 1)),
      );
      first.value = top;
      const exact = total.value * ROW <= TALLEST;
      box.scrollTop = exact
        ? top * ROW
        : (top / Math.max(1, total.value - rows.value)) * (height + ROW - box.clientHeight);
    }
    cursor.value = target;
    chooseRow();
  };
  const cursor = useSignal(0);
  /** Whether the row of the cursor is to be chosen once it is there. */
  const wanted = useRef(false);
  const chooseRow = () => {
    const entry = rowAt(cursor.value);
    wanted.current = !entry;
    if (entry) void choose(entry.state);
  };
  const rowAt = (row: number): StateRow | undefined => {
    const size = Math.min(PAGE, connection.hello.value?.limits.page_states ?? PAGE);
    return pages.current.get(Math.floor(row / size))?.[row % size];
  };
  const press = (event: KeyboardEvent) => {
    const step = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: rows.value,
      PageUp: -rows.value,
      Home: -total.value,
      End: total.value,
    }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    goTo(cursor.value + step);
  };

  void arrived.value;
  const columns = `80px repeat(${variables.value.length}, minmax(64px, 1fr)) ${property ? "120px" : ""} minmax(90px, 1.4fr)`;
  const shown = Array.from({ length: Math.min(rows.value, total.value) }, (_, i) => first.value + i);
  return (
    <div class="table-states">
      {problem.value && (
        <p class="bad" role="alert">
          {problem.value}
        </p>
      )}
      <div class="row small">
        <span class="muted">
          {formatCount(total.value)} {expression ? "states found" : "states"}
        </span>
        {property && (
          <label class="labelled">
            Order
            <select
              class="field"
              value={order.value}
              onChange={(event) => (order.value = event.currentTarget.value as typeof order.value)}
            >
              <option value="number">by number</option>
              <option value="value">least value first</option>
              <option value="-value">greatest value first</option>
            </select>
          </label>
        )}
      </div>
      <div
        ref={frame}
        class="grid-frame"
        role="grid"
        aria-label="States"
        aria-rowcount={total.value + 1}
        aria-colcount={variables.value.length + (property ? 3 : 2)}
        aria-activedescendant={shown.includes(cursor.value) ? `state-row-${cursor.value}` : undefined}
        tabIndex={0}
        onScroll={scroll}
        onKeyDown={press}
      >
        <div class="grid-spacer" style={{ height: `${height + ROW}px` }} role="presentation">
          <div class="grid-window" role="presentation">
            <div role="row" class="grid-row head" style={{ gridTemplateColumns: columns }} aria-rowindex={1}>
              <span role="columnheader">state</span>
              {variables.value.map((name) => (
                <span key={name} role="columnheader" title={name}>
                  {name}
                </span>
              ))}
              {property && <span role="columnheader">value</span>}
              <span role="columnheader">labels</span>
            </div>
            {shown.map((row) => {
              const entry = rowAt(row);
              return (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys
                <div
                  key={row}
                  id={`state-row-${row}`}
                  role="row"
                  class={`grid-row ${entry && chosen.value === entry.state ? "chosen" : ""}`}
                  style={{ gridTemplateColumns: columns }}
                  aria-rowindex={row + 2}
                  aria-selected={!!entry && chosen.value === entry.state}
                  onClick={() => {
                    cursor.value = row;
                    if (entry) void choose(entry.state);
                  }}
                >
                  <span role="gridcell">{entry ? entry.state : "…"}</span>
                  {variables.value.map((name, i) => (
                    <span key={name} role="gridcell">
                      {entry ? formatNumber(entry.values[i] ?? null) : ""}
                    </span>
                  ))}
                  {property && <span role="gridcell">{entry ? formatNumber(entry.value, 8) : ""}</span>}
                  <span role="gridcell">
                    {entry?.initial && <span class="badge">initial</span>}
                    {entry?.labels.map((label) => (
                      <span key={label} class="badge">
                        {label}
                      </span>
                    ))}
                  </span>
                </div>
              );
            })}
          </div>
        </div>
      </div>
    </div>
  );
}
