/** Values as colours. The scale is viridis in five steps, which stays ordered for every eye and in print. */

const SCALE: readonly (readonly [number, number, number])[] = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
];

/** Of a number from 0 to 1. */
export function scaleColour(part: number): string {
  const [red, green, blue] = scaleRgb(part);
  return `rgb(${red}, ${green}, ${blue})`;
}

export function scaleRgb(part: number): [number, number, number] {
  const at = Math.min(1, Math.max(0, Number.isNaN(part) ? 0 : part)) * (SCALE.length - 1);
  const low = Math.min(Math.floor(at), SCALE.length - 2);
  const [a, b] = [SCALE[low]!, SCALE[low + 1]!];
  const mix = (i: 0 | 1 | 2) => Math.round(a[i] + (b[i] - a[i]) * (at - low));
  return [mix(0), mix(1), mix(2)];
}

/** Black or white, whichever is read more easily on a colour of the scale (WCAG's relative luminance). */
export function inkOn([red, green, blue]: readonly [number, number, number]): string {
  const linear = (channel: number) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  const luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  return luminance > 0.179 ? "#111111" : "#ffffff";
}

/** Colours for things without an order, such as components. */
export function classColour(index: number): string {
  const hue = (index * 137.508) % 360; // the golden angle: neighbours in number are far apart in colour
  return `hsl(${hue.toFixed(0)}, 55%, 62%)`;
}
