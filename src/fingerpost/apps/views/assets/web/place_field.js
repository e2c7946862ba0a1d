/** A field for a place, with suggestions: a combobox as WAI-ARIA describes it. */

import { element } from "../dom.js";
import { readPosition } from "./question.js";

const LEAST_LETTERS = 2;
const PAUSE_MS = 150;

export class PlaceField {
  /**
   * `suggest(text)` returns suggestions {token, name, detail, coordinate, id} for what is typed; `onSave(field)` is
   * called when its place is to be kept.
   */
  constructor({ name, label, words, suggest, onSave }) {
    this.name = name;
    this.label = label;
    this.words = words;
    this.suggest = suggest;
    this.chosen = null;
    this.options = [];
    this.active = -1;
    this.asked = 0;
    this.timer = 0;
    this.input = element("input", {
      id: name,
      name,
      type: "text",
      role: "combobox",
      autocomplete: "off",
      spellcheck: "false",
      maxlength: 200,
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": `${name}-options`,
      placeholder: words.say("place_short"),
      title: words.say("place_hint"),
      oninput: () => this.onTyped(),
      onkeydown: (event) => this.onKey(event),
      onblur: () => this.close(),
    });
    this.list = element("ul", { id: `${name}-options`, role: "listbox", "aria-label": label, hidden: true });
    this.keep = element("button", { type: "button", class: "keep", "aria-label": words.say("save_place", { field: label }), title: words.say("save_place", { field: label }), onclick: () => onSave(this) }, "☆");
    this.node = element("div", { class: "field" }, [
      element("label", { for: name }, label),
      element("div", { class: "entry" }, this.input, this.keep),
      this.list,
    ]);
  }

  get text() {
    return this.input.value.trim();
  }

  /** The place as a question has it: what was chosen, else what is written. */
  get place() {
    return { token: this.chosen?.token ?? this.text, text: this.text };
  }

  /** Where the place lies: that of the suggestion that was chosen, or a position that is written out; null if unknown. */
  get coordinate() {
    return this.chosen?.coordinate ?? readPosition(this.text);
  }

  /** Show a place that was not typed: from the address, a saved one, a candidate. */
  put({ token, text, name, coordinate, id }) {
    this.input.value = text ?? name;
    this.chosen = { token, name: name ?? text, coordinate, id };
    this.close();
  }

  onTyped() {
    this.chosen = null;
    this.asked += 1;
    clearTimeout(this.timer);
    const { text, asked } = this;
    if (text.length < LEAST_LETTERS || readPosition(text)) this.show([]);
    else this.timer = setTimeout(() => this.ask(text, asked), PAUSE_MS);
  }

  /** Ask for suggestions; those that come after more was typed are thrown away. */
  async ask(text, asked) {
    const options = await this.suggest(text).catch(() => []);
    if (asked === this.asked && document.activeElement === this.input) this.show(options);
  }

  show(options) {
    this.options = options;
    this.active = -1;
    this.draw();
  }

  close() {
    this.asked += 1;
    clearTimeout(this.timer);
    this.show([]);
  }

  draw() {
    const isOpen = this.options.length > 0;
    this.list.hidden = !isOpen;
    this.input.setAttribute("aria-expanded", String(isOpen));
    if (this.active < 0) this.input.removeAttribute("aria-activedescendant");
    else this.input.setAttribute("aria-activedescendant", `${this.name}-option-${this.active}`);
    this.list.replaceChildren(...this.options.map((option, index) => element("li", {
      role: "option",
      id: `${this.name}-option-${index}`,
      "aria-selected": String(index === this.active),
      // Before the field loses the focus, which would close the list.
      onmousedown: (event) => event.preventDefault(),
      onclick: () => this.choose(option),
    }, element("span", {}, option.name), option.detail && element("span", { class: "dim small" }, option.detail))));
    if (this.active >= 0) this.list.children[this.active].scrollIntoView({ block: "nearest" });
  }

  choose(option) {
    this.put(option);
    this.input.focus();
  }

  onKey(event) {
    const count = this.options.length;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (count === 0) return;
    if (step) {
      event.preventDefault();
      this.active = this.active < 0 && step < 0 ? count - 1 : (this.active + step + count) % count;
      this.draw();
    } else if (event.key === "Enter" && this.active >= 0) {
      event.preventDefault();
      this.choose(this.options[this.active]);
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.close();
    }
  }
}
