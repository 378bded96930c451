/** The few icons of the page, drawn with lines. They are decoration: the words stand beside them or in a label. */

const PATHS = {
  plus: "M8 3v10M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  play: "M5 3.5v9l7-4.5z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  stop: "M4.5 4.5h7v7h-7z",
  step: "M4 3.5v9l6-4.5zM12 3.5v9",
  back: "M12 3.5v9l-6-4.5zM4 3.5v9",
  restart: "M3.5 8a4.5 4.5 0 1 0 1.6-3.4M3 2.5v3h3",
  share: "M8 10V2.5M5 5l3-2.5L11 5M3 9v4h10V9",
  down: "M4 6l4 4 4-4",
  right: "M6 4l4 4-4 4",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  folder: "M2 4h4l1.5 2H14v7H2z",
  list: "M5 4h9M5 8h9M5 12h9M2 4h.5M2 8h.5M2 12h.5",
  sun: "M8 5a3 3 0 1 0 0 6a3 3 0 0 0 0-6M8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.4 1.4M11.6 11.6L13 13M13 3l-1.4 1.4M4.4 11.6L3 13",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z",
  help: "M6 6a2 2 0 1 1 2.7 1.9c-.5.2-.7.5-.7 1.1M8 11.5v.1",
  check: "M3 8.5l3.2 3L13 4.5",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  gear: "M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M9 2.8v3.4M4.5 9.8v3.4",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9M10.5 10.5L14 14",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
