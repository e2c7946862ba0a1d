/** The form: a trip or a board, and what is asked of it. */

import { element } from "../dom.js";

export class QuestionForm {
  /** `newField({name, label})` returns a field for a place; `onAsk(question)` hears a complete question. */
  constructor(words, newField, onAsk) {
    this.words = words;
    this.onAsk = onAsk;
    this.kind = "trip";
    this.from = newField({ name: "from", label: words.say("from") });
    this.to = newField({ name: "to", label: words.say("to") });
    this.stop = newField({ name: "stop", label: words.say("stop") });
    this.when = element("select", { id: "when", "aria-label": words.say("when"), onchange: () => this.onWhen() }, ["now", "leave", "arrive"].map((key) => element("option", { value: key }, words.say(key))));
    this.time = element("input", { type: "datetime-local", "aria-label": words.say("time"), hidden: true });
    this.stepFree = element("input", { type: "checkbox", id: "step-free" });
    this.kinds = ["trip", "board"].map((key) => element("button", { type: "button", "data-kind": key, onclick: () => this.turnTo(key) }, words.say(`kind_${key}`)));
    this.parts = {
      trip: element("div", {}, [
        element("div", { class: "ends" }, [
          this.from.node,
          this.to.node,
          element("button", { type: "button", class: "swap", "aria-label": words.say("swap"), title: words.say("swap"), onclick: () => this.swap() }, "⇅"),
        ]),
        element("div", { class: "row" }, this.when, this.time),
        element("div", { class: "row check" }, this.stepFree, element("label", { for: "step-free" }, words.say("step_free"))),
      ]),
      board: element("div", {}, this.stop.node),
    };
    this.form = element("form", { onsubmit: (event) => this.onSubmit(event) }, [
      ...Object.values(this.parts),
      element("button", { type: "submit", class: "main" }, words.say("search")),
    ]);
    this.node = element("div", {}, element("nav", { class: "kinds", "aria-label": words.say("question") }, this.kinds), this.form);
    this.turnTo("trip");
  }

  get fields() {
    return this.kind === "trip" ? [this.from, this.to] : [this.stop];
  }

  /** Show or hide the buttons that save places. */
  letSave(isPossible) {
    for (const field of [this.from, this.to, this.stop]) field.keep.hidden = !isPossible;
  }

  turnTo(kind) {
    this.kind = kind;
    for (const [key, part] of Object.entries(this.parts)) part.hidden = key !== kind;
    for (const button of this.kinds) {
      if (button.dataset.kind === kind) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  onWhen() {
    this.time.hidden = this.when.value === "now";
    if (!this.time.hidden && !this.time.value) this.time.value = localMinute(new Date());
  }

  /** Put a place into the first field that is empty, else into the last. */
  fill(place) {
    const { fields } = this;
    const field = fields.find(({ text }) => !text) || fields[fields.length - 1];
    field.put(place);
    field.input.focus();
  }

  swap() {
    const [from, to] = [this.from, this.to].map(({ input, chosen }) => ({ value: input.value, chosen }));
    for (const [field, { value, chosen }] of [[this.from, to], [this.to, from]]) {
      field.input.value = value;
      field.chosen = chosen;
    }
  }

  put(question) {
    this.turnTo(question.kind);
    if (question.kind === "board") {
      this.stop.put(question.stop);
      return;
    }
    this.from.put(question.from);
    this.to.put(question.to);
    this.when.value = question.when;
    this.time.value = question.when === "now" ? "" : question.time;
    this.stepFree.checked = question.isStepFree;
    this.onWhen();
  }

  read() {
    if (this.kind === "board") return { kind: "board", stop: this.stop.place };
    const when = this.time.value ? this.when.value : "now";
    return { kind: "trip", from: this.from.place, to: this.to.place, when, time: when === "now" ? "" : this.time.value, isStepFree: this.stepFree.checked };
  }

  submit() {
    this.form.requestSubmit();
  }

  onSubmit(event) {
    event.preventDefault();
    const empty = this.fields.find(({ text }) => !text);
    if (empty) empty.input.focus();
    else this.onAsk(this.read());
  }
}

/** Return this machine's time of day as a field for it has it. */
function localMinute(instant) {
  const shifted = new Date(instant.getTime() - instant.getTimezoneOffset() * 60000);
  return shifted.toISOString().slice(0, 16);
}
