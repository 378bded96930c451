/** The constants that the text leaves open: a field and a slider each. */

import { useSignal } from "@preact/signals";
import { formatNumber, sliderRange, sliderText } from "../format";
import { setConstant } from "../project";
import type { ConstantInfo } from "../protocol";
import { constants, diagnosis } from "../state";

export function ConstantsBar() {
  const open = (diagnosis.value?.constants ?? []).filter((one) => !one.defined);
  if (open.length === 0) return null;
  return (
    <section class="constants" aria-label="Constants">
      {open.map((one) => (
        <Constant key={`${one.file}:${one.name}`} info={one} />
      ))}
    </section>
  );
}

function Constant({ info }: { info: ConstantInfo }) {
  const text = constants.value[info.name] ?? "";
  const id = `constant-${info.name}`;
  return (
    <div class={text.trim() ? "constant" : "constant wanted"}>
      <label for={id} title={`${info.type}, declared in ${info.file}`}>
        <code>{info.name}</code>
      </label>
      {info.type === "bool" ? (
        <select
          id={id}
          class="field"
          value={text}
          onChange={(event) => setConstant(info.name, event.currentTarget.value)}
        >
          <option value="">choose</option>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      ) : (
        <NumberConstant info={info} text={text} id={id} type={info.type} />
      )}
    </div>
  );
}

function NumberConstant({
  info,
  text,
  id,
  type,
}: {
  info: ConstantInfo;
  text: string;
  id: string;
  type: "int" | "double";
}) {
  const number = toValue(text);
  // The ends of the slider stay while it is dragged; they move when a value is typed that lies beyond.
  const range = useSignal(sliderRange(type, number ?? (type === "int" ? 5 : 0.5)));
  if (number !== null && (number < range.value.low || number > range.value.high))
    range.value = sliderRange(type, number);
  const { low, high, step } = range.value;
  return (
    <>
      <input
        id={id}
        class="field mono"
        inputMode="decimal"
        spellcheck={false}
        autocomplete="off"
        placeholder={type === "int" ? "a number" : "e.g. 0.5"}
        value={text}
        aria-invalid={text.trim() !== "" && number === null ? "true" : undefined}
        onInput={(event) => setConstant(info.name, event.currentTarget.value)}
      />
      <input
        type="range"
        aria-label={`${info.name}, slider from ${formatNumber(low)} to ${formatNumber(high)}`}
        min={low}
        max={high}
        step={step}
        value={number ?? low}
        onInput={(event) => setConstant(info.name, sliderText(type, event.currentTarget.valueAsNumber))}
      />
    </>
  );
}

function toValue(text: string): number | null {
  const fraction = /^\s*(-?[\d.]+)\s*\/\s*([\d.]+)\s*$/.exec(text);
  const value = fraction ? Number(fraction[1]) / Number(fraction[2]) : Number(text);
  return text.trim() === "" || !Number.isFinite(value) ? null : value;
}
