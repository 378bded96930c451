/** Where the entries of the matrix are, as a picture. */

import { useEffect, useRef } from "preact/hooks";
import { formatCount } from "../format";
import { colour, look } from "../layout";
import { Outcome } from "../question";
import { builtKey, matrix, statesOf } from "../states/model";

const SIZE = 400;

export function MatrixView() {
  const ref = useRef<HTMLCanvasElement>(null);
  const key = builtKey.value;
  const result = matrix.result.value;
  const shade = look.value;
  useEffect(() => {
    const of = statesOf.peek();
    if (of && key && !matrix.result.peek()) void matrix.ask({ ...of, size: SIZE });
  }, [key]);
  useEffect(() => {
    const canvas = ref.current;
    const context = canvas?.getContext("2d");
    if (!canvas || !context || !result) return;
    void shade;
    canvas.width = result.size;
    canvas.height = result.size;
    const [red, green, blue] = (/(\d+), (\d+), (\d+)/.exec(colour("--accent")) ?? [0, 60, 80, 180])
      .slice(1)
      .map(Number);
    const image = context.createImageData(result.size, result.size);
    const most = result.counts.reduce((a, b) => Math.max(a, b), 1);
    result.counts.forEach((count, i) => {
      if (count === 0) return;
      // A cell with one entry among millions must still be seen.
      const strength = 110 + 145 * (Math.log1p(count) / Math.log1p(most));
      image.data.set([red!, green!, blue!, strength], 4 * i);
    });
    context.putImageData(image, 0, 0);
  }, [result, shade]);
  return (
    <figure class="matrix">
      <Outcome question={matrix} />
      {result && (
        <>
          <canvas ref={ref} role="img" aria-label={`Matrix of ${formatCount(result.states)} states: ${result.words}`} />
          <figcaption class="muted small">{result.words}</figcaption>
        </>
      )}
    </figure>
  );
}
