import { Icon } from "./icons";
import { dismiss, messages } from "./toast";

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {messages.value.map((one) => (
        <div key={one.id} class={`toast ${one.tone}`}>
          <span class="grow">{one.text}</span>
          <button type="button" class="button quiet icon" aria-label="Dismiss" onClick={() => dismiss(one.id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
