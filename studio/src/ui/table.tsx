/** A table of values as it came from the server. */

import { formatNumber } from "../format";
import type { Table } from "../protocol";

const MOST = 500;

export function TableView({ table, label }: { table: Table; label: string }) {
  return (
    <div class="table-frame" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.slice(0, MOST).map((row, i) => (
            <tr key={i}>
              {row.map((cell, k) => (
                <td key={k}>{formatNumber(cell, 10)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {table.rows.length > MOST && <p class="muted small">The first {MOST} rows; an export has all.</p>}
    </div>
  );
}
