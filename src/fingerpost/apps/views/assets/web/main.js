/** The web page: a question, its answer in the same views that hosts of MCP Apps show, and what can be done with it. */

import { BOARD } from "../board.js";
import { element } from "../dom.js";
import { Frame } from "../frame.js";
import { TRIP } from "../trip.js";
import { Words, chooseLanguage } from "../words.js";
import { calendarOf } from "./calendar.js";
import { callTool, readResource } from "./mcp.js";
import { PageBridge } from "./page_bridge.js";
import { PlaceField } from "./place_field.js";
import { findPlaces } from "./places.js";
import { argumentsOf, readPosition, readQuestion, writeQuestion } from "./question.js";
import { QuestionForm } from "./question_form.js";
import { SavedPlaces } from "./saved_places.js";
import { PAGE_STRINGS } from "./strings.js";

const LIVE_MS = 30000;
const EXAMPLE = { kind: "trip", from: { token: "60.1699,24.9384" }, to: { token: "60.2055,24.6559" }, when: "now", time: "", isStepFree: false };
const EXAMPLE_NETWORK = "DEMO-HELSINKI";

class Page {
  constructor() {
    this.language = chooseLanguage(navigator.language);
    this.words = new Words(this.language, PAGE_STRINGS);
    this.question = null;
    this.asked = 0;
    this.live = element("p", { class: "unseen", role: "status", "aria-live": "polite" });
    this.told = element("div", { class: "told" });
    this.saved = new SavedPlaces(this.words, this.live, (place) => this.form.fill(place));
    this.form = new QuestionForm(this.words, (options) => this.newField(options), (question) => this.ask(question));
    this.frames = { trip: this.newFrame(TRIP), board: this.newFrame(BOARD) };
    this.actions = element("div", { class: "actions", hidden: true });
    this.intro = element("section", { class: "intro" });
  }

  get frame() {
    return this.frames[this.question.kind];
  }

  newField(options) {
    const suggest = async (text) => {
      const { places } = await findPlaces(text, this.language);
      return [...this.saved.match(text), ...places];
    };
    return new PlaceField({ ...options, words: this.words, suggest, onSave: (field) => this.saved.ask(field) });
  }

  newFrame(view) {
    const main = element("div", { class: "view", hidden: true });
    // A board is asked for again by itself: what is being written in the form meanwhile stays.
    const onCalled = (_args, result) => view === TRIP && this.note(view, result);
    const frame = new Frame(view, new PageBridge(this.language, onCalled), main, this.live);
    frame.heading = "h2";
    return frame;
  }

  async start() {
    document.documentElement.lang = this.language;
    document.body.append(
      element("header", { class: "bar" }, element("h1", {}, "fingerpost"), element("p", { class: "dim" }, this.words.say("tagline"))),
      element("main", {}, [
        element("section", { class: "ask", "aria-label": this.words.say("question") }, this.form.node, this.saved.node),
        element("section", { class: "answer", "aria-label": this.words.say("answer") }, this.told, this.intro, ...Object.values(this.frames).map(({ main }) => main), this.actions),
      ]),
      this.live,
    );
    for (const frame of Object.values(this.frames)) frame.start();
    window.addEventListener("popstate", () => this.follow());
    setInterval(() => this.keepLive(), LIVE_MS);
    document.addEventListener("visibilitychange", () => this.keepLive());
    await this.saved.load().catch((error) => this.complain(error.message));
    this.form.letSave(this.saved.isPossible);
    await this.follow();
  }

  /** Ask what the address asks. */
  async follow() {
    const question = readQuestion(location.search);
    for (const frame of Object.values(this.frames)) frame.main.hidden = true;
    this.actions.hidden = true;
    this.question = null;
    this.intro.hidden = question !== null;
    if (!question) {
      await this.introduce();
      return;
    }
    this.form.put(question);
    await this.answer(question);
  }

  async introduce() {
    const { words } = this;
    this.told.replaceChildren();
    const { networks } = await readResource("fingerpost://networks").catch(() => ({ networks: [] }));
    const answering = networks.filter(({ answers }) => answers);
    const hasExample = answering.some(({ name }) => name === EXAMPLE_NETWORK);
    this.intro.replaceChildren(
      element("h2", {}, words.say("covered")),
      element("ul", {}, answering.map(({ name, demo, modes }) => element("li", {}, element("strong", {}, name), ` ${modes.join(", ").toLowerCase()}`, demo && element("span", { class: "chip caution" }, words.say("demo"))))),
      hasExample ? element("p", {}, element("button", { type: "button", onclick: () => this.tryExample() }, words.say("example"))) : "",
    );
  }

  tryExample() {
    const { from, to } = EXAMPLE;
    this.form.put({ ...EXAMPLE, from: { ...from, text: from.token }, to: { ...to, text: to.token } });
    this.form.submit();
  }

  /** Ask a question of the form: make sure of its places, put it into the address, and answer it. */
  async ask(question) {
    this.told.replaceChildren();
    const asked = ++this.asked;
    try {
      for (const field of this.form.fields) {
        if (!(await this.makeSure(field))) return;
      }
    } catch (error) {
      this.complain(error.message);
      return;
    }
    if (asked !== this.asked) return;
    const sure = this.form.read();
    history.pushState(null, "", writeQuestion(sure));
    await this.answer(sure);
    this.lookAtAnswer();
  }

  /** On a phone the answer begins below what is seen. */
  lookAtAnswer() {
    const { main } = this.frame;
    if (main.getBoundingClientRect().top > window.innerHeight / 2) main.scrollIntoView({ block: "start" });
  }

  /** Find out what a field means; where that is not certain, offer what it could be, and return false. */
  async makeSure(field) {
    if (field.chosen || readPosition(field.text)) return true;
    const saved = this.saved.find(field.text);
    if (saved) {
      field.put(saved);
      return true;
    }
    const { isCertain, places } = await findPlaces(field.text, this.language);
    if (isCertain) field.put(places[0]);
    if (isCertain || places.length === 0) return true;
    const choose = (place) => {
      field.put(place);
      this.form.submit();
    };
    const title = this.words.say("which_one", { field: field.label, text: field.text });
    this.told.replaceChildren(element("div", { class: "banner", role: "group", "aria-label": title }, [
      element("p", {}, title),
      element("ul", { class: "candidates" }, places.map((place) => element("li", {}, element("button", { type: "button", onclick: () => choose(place) }, place.name, place.detail && element("span", { class: "dim small" }, ` ${place.detail}`))))),
    ]));
    this.told.querySelector("button").focus();
    this.announce(title);
    return false;
  }

  async answer(question) {
    const asked = ++this.asked;
    this.question = question;
    this.told.replaceChildren();
    this.intro.hidden = true;
    for (const [kind, { main }] of Object.entries(this.frames)) main.hidden = kind !== question.kind;
    const { frame } = this;
    const args = argumentsOf(question, this.language);
    this.actions.hidden = true;
    frame.onInputOfAnother(args);
    this.announce(this.words.say("asking"));
    try {
      const result = await callTool(frame.tool, args, frame.wants);
      if (asked !== this.asked) return;
      frame.onResult(result);
      if (result.isError) this.announce(frame.main.textContent);
      else this.note({ name: question.kind }, result);
    } catch (error) {
      if (asked !== this.asked) return;
      frame.main.hidden = true;
      this.complain(error.message);
    }
  }

  /** Take what an answer says about its question into the form, the address and the title. */
  note({ name }, { structuredContent: body }) {
    if (this.question?.kind !== name) return;
    const title = name === "trip" ? this.noteTrip(body) : this.noteBoard(body);
    document.title = `${title} – fingerpost`;
    this.announce(title);
    this.drawActions();
  }

  noteTrip(body) {
    const [from, to] = [body.origin, body.destination].map((end) => end.name || end.address || end.label || `${end.coordinate.lat}, ${end.coordinate.lon}`);
    const { type, time } = body.requested;
    if (this.question.when !== "now" || Math.abs(Date.parse(time) - Date.parse(body.dataFreshness)) > 60000) {
      Object.assign(this.question, { when: type === "arrive" ? "arrive" : "leave", time: time.slice(0, 16) });
      history.replaceState(null, "", writeQuestion(this.question));
    }
    const known = (place, field, text, { coordinate }) => ({ token: place.token, text, coordinate, id: field.chosen?.id });
    const { form, question } = this;
    form.put({ ...question, from: known(question.from, form.from, from, body.origin), to: known(question.to, form.to, to, body.destination) });
    return this.words.say("trip_title", { from, to });
  }

  noteBoard(body) {
    const text = body.stopName || body.stopId;
    this.form.put({ ...this.question, stop: { ...this.form.stop.chosen, token: this.question.stop.token, text, id: body.stopId } });
    return text;
  }

  drawActions() {
    const { words } = this;
    const button = (key, onclick) => element("button", { type: "button", "data-key": key, onclick }, words.say(key));
    const isTrip = this.question.kind === "trip";
    this.actions.replaceChildren(
      ...(isTrip && this.frame.body.itineraries.length > 0 ? [button("calendar", () => this.saveCalendar())] : []),
      button("copy_link", () => this.copyLink()),
      button("print", () => window.print()),
      ...(isTrip ? [] : [element("span", { class: "dim small" }, words.say("follows", { n: LIVE_MS / 1000 }))]),
    );
    this.actions.hidden = false;
  }

  saveCalendar() {
    const { frame } = this;
    const { itineraries } = frame.body;
    const chosen = itineraries.find(({ fingerprint }) => fingerprint === frame.choices.itinerary) || itineraries[0];
    const title = document.title.replace(/ – fingerpost$/, "");
    const text = calendarOf(chosen, { title, url: location.href, stamp: frame.body.dataFreshness, words: frame.words });
    const url = URL.createObjectURL(new Blob([text], { type: "text/calendar" }));
    const link = element("a", { href: url, download: "trip.ics" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  async copyLink() {
    try {
      await navigator.clipboard.writeText(location.href);
      this.announce(this.words.say("copied"));
      this.told.replaceChildren(element("p", { class: "banner small" }, this.words.say("copied")));
    } catch {
      this.told.replaceChildren(element("p", { class: "banner small" }, `${this.words.say("link")} ${location.href}`));
    }
  }

  /** Ask for the board anew, unless nobody looks. */
  keepLive() {
    if (document.visibilityState === "visible" && this.question?.kind === "board" && this.frame.body) this.frame.refresh({}, true);
  }

  announce(text) {
    this.live.textContent = text;
  }

  complain(reason) {
    this.told.replaceChildren(element("p", { class: "banner danger", role: "alert" }, this.words.say("unreachable", { reason })));
  }
}

new Page().start();
