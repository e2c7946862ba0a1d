/** Places that are kept by name: the user variables of type location, which agents and the command line share. */

import { element } from "../dom.js";
import { callTool } from "./mcp.js";

export class SavedPlaces {
  /** `onPick(place)` is called with the place that is pressed. */
  constructor(words, live, onPick) {
    this.words = words;
    this.live = live;
    this.onPick = onPick;
    this.places = [];
    this.isPossible = false;
    this.list = element("ul", { class: "saved" });
    this.form = element("div", {});
    this.node = element("section", { class: "saved-places", "aria-label": words.say("saved"), hidden: true }, [
      element("h2", {}, words.say("saved")),
      this.list,
      this.form,
    ]);
  }

  /** Read what is kept; a server that others reach too keeps nothing, because nobody says who calls. */
  async load() {
    const { structuredContent: body, isError } = await callTool("get_user_variables", {});
    this.isPossible = !isError;
    const kept = isError ? [] : body.variables.filter(({ type, value }) => type === "location" && value);
    this.places = kept.map(({ key, value }) => ({
      token: key,
      text: key,
      name: key,
      detail: value.name || value.address || `${value.lat}, ${value.lon}`,
      coordinate: { lat: value.lat, lon: value.lon },
      id: value.stopId,
    }));
    this.draw();
  }

  /** Return the saved places whose name begins with a text. */
  match(text) {
    const begun = text.toLowerCase();
    return this.places.filter(({ name }) => name.toLowerCase().startsWith(begun));
  }

  find(text) {
    return this.places.find(({ name }) => name === text);
  }

  draw() {
    this.node.hidden = this.places.length === 0 && this.form.childElementCount === 0;
    this.list.replaceChildren(...this.places.map((place) => element("li", {}, [
      element("button", { type: "button", onclick: () => this.onPick(place) }, place.name, element("span", { class: "dim small" }, ` ${place.detail}`)),
      element("button", { type: "button", "aria-label": this.words.say("delete_place", { name: place.name }), onclick: () => this.remove(place) }, "×"),
    ])));
  }

  /** Ask by which name to keep the place of a field. */
  ask(field) {
    const { words } = this;
    if (!field.coordinate) {
      this.say(words.say("save_unclear"));
      field.input.focus();
      return;
    }
    const name = element("input", { id: "save-as", type: "text", maxlength: 50, required: true, autocomplete: "off" });
    const submit = (event) => {
      event.preventDefault();
      this.save(name.value.trim(), field);
    };
    this.form.replaceChildren(element("form", { class: "save-form", onsubmit: submit }, [
      element("label", { for: "save-as" }, words.say("save_as", { place: field.text })),
      element("div", { class: "entry" }, name, element("button", { type: "submit" }, words.say("save")), element("button", { type: "button", onclick: () => this.endAsking() }, words.say("cancel"))),
    ]));
    this.draw();
    name.focus();
  }

  async save(key, field) {
    const { coordinate, chosen } = field;
    const value = { lat: coordinate.lat, lon: coordinate.lon, name: field.text, ...(chosen?.id && { stopId: chosen.id }) };
    const { structuredContent: body, isError } = await callTool("save_user_variable", { key, type: "location", value });
    if (isError) {
      this.say(this.words.sentence(body.error.message));
      return;
    }
    this.endAsking();
    await this.load();
    this.say(this.words.say("saved_as", { name: key }));
  }

  async remove({ token }) {
    const { structuredContent: body, isError } = await callTool("delete_user_variable", { key: token });
    await this.load();
    this.say(isError ? this.words.sentence(body.error.message) : this.words.say("deleted", { name: token }));
  }

  endAsking() {
    this.form.replaceChildren();
    this.draw();
  }

  say(text) {
    this.live.textContent = text;
  }
}
