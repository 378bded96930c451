/** As much of Plotly as the studio uses; its own types are larger than the studio. */
declare module "plotly.js-gl3d-dist-min" {
  export type Data = Record<string, unknown>;
  export type Layout = Record<string, unknown>;
  interface Plotly {
    react(element: HTMLElement, data: Data[], layout: Layout, config: Record<string, unknown>): Promise<void>;
    purge(element: HTMLElement): void;
    toImage(element: HTMLElement, how: { format: "png" | "svg"; width: number; height: number }): Promise<string>;
    Plots: { resize(element: HTMLElement): void };
  }
  const plotly: Plotly;
  export default plotly;
}
