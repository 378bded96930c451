/** A picture by Plotly, which is loaded when the first one is drawn. */

import type { Data, Layout } from "plotly.js-gl3d-dist-min";
import { useEffect, useRef } from "preact/hooks";
import { colour, look } from "../layout";
import { downloadUrl } from "./share";
import { say } from "./toast";

const load = () => import("plotly.js-gl3d-dist-min").then((module) => module.default);

/** Colours that stay apart for most eyes (after Okabe and Ito), readable on both backgrounds. */
export const SERIES = ["#3d7ff0", "#e07b00", "#1f9e77", "#c8549b", "#8a63d2", "#b8960c", "#d1495b", "#2a9fb5"];

interface Props {
  data: Data[];
  x?: string;
  y?: string;
  z?: string;
  /** What the picture shows, for those who do not see it. */
  label: string;
  layout?: Layout;
  id: string;
  onClick?: (x: number, y: number) => void;
}

export function Plot({ data, x, y, z, label, layout, id, onClick }: Props) {
  const ref = useRef<HTMLDivElement>(null);
  const shade = look.value;
  useEffect(() => {
    let gone = false;
    void load().then((plotly) => {
      if (gone || !ref.current) return;
      void shade;
      void plotly.react(
        ref.current,
        data,
        { ...style(x, y, z), ...layout },
        { displayModeBar: false, responsive: true },
      );
    });
    return () => {
      gone = true;
    };
  }, [data, x, y, z, layout, shade]);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      const drawn = () => element.classList.contains("js-plotly-plot") && element.offsetParent !== null;
      void load().then((plotly) => drawn() && plotly.Plots.resize(element));
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      void load().then((plotly) => plotly.purge(element));
    };
  }, []);
  useEffect(() => {
    const element = ref.current as
      | (HTMLDivElement & { on?: (name: string, run: (event: unknown) => void) => void })
      | null;
    if (!element || !onClick) return;
    const run = (event: { points?: { x: number; y: number }[] }) => {
      const point = event.points?.[0];
      if (point) onClick(point.x, point.y);
    };
    element.on?.("plotly_click", run as (event: unknown) => void);
  }, [onClick]);
  return <div ref={ref} id={id} class="plot" role="img" aria-label={label} />;
}

function style(x?: string, y?: string, z?: string): Layout {
  const [text, line, back] = [colour("--text"), colour("--line"), "rgba(0,0,0,0)"];
  const axis = (title?: string) => ({
    title: { text: title ?? "", standoff: 8 },
    gridcolor: line,
    linecolor: line,
    zerolinecolor: line,
    automargin: true,
    color: text,
    backgroundcolor: back,
  });
  return {
    xaxis: axis(x),
    yaxis: axis(y),
    scene: { xaxis: axis(x), yaxis: axis(y), zaxis: axis(z), camera: { eye: { x: 1.6, y: 1.6, z: 1.1 } } },
    paper_bgcolor: back,
    plot_bgcolor: back,
    font: { color: text, family: "system-ui, sans-serif", size: 12 },
    margin: z === undefined ? { l: 48, r: 12, t: 12, b: 40 } : { l: 0, r: 0, t: 0, b: 0 },
    legend: { orientation: "h", y: -0.22 },
    hoverlabel: { bgcolor: colour("--raised"), font: { color: text } },
    colorway: SERIES,
    transition: { duration: 0 },
  };
}

/** Save a plot that is on the page as a file. */
export async function savePlot(id: string, name: string, format: "png" | "svg"): Promise<void> {
  const element = document.getElementById(id);
  if (!element) return say("There is no picture yet.");
  const plotly = await load();
  downloadUrl(`${name}.${format}`, await plotly.toImage(element, { format, width: 1000, height: 640 }));
}

export function plotItems(id: string, name: string) {
  return (["png", "svg"] as const).map((format) => ({
    label: `Save the picture as ${format.toUpperCase()}`,
    run: () => void savePlot(id, name, format).catch((error: unknown) => say(String(error), "error")),
  }));
}
