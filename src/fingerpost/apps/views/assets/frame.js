/** What all views share: the answer that is shown, its refresh, its pages, and how high it may be. */

import { element } from "./dom.js";
import { Words, chooseLanguage } from "./words.js";

const HIGHEST_PX = 500;
const LOWEST_PX = 200;
const MOST_SQUEEZED_PX = 120;
const TICK_MS = 15000;

/**
 * One view: `draw(frame)` returns the nodes that show `frame.body`, the tool's answer. Where the view draws the answers of
 * several tools, `read(body, input)` returns {tool, body, wants, isEmpty}: whose answer a body is, and the body in one shape for
 * all.
 * `wants` is the `_meta` of calls that the view makes itself. `main` holds the nodes, `live` is what a screen reader
 * is told, and `bridge` is the way to whoever shows the view: a host of MCP Apps, or the web page.
 */
export class Frame {
  constructor({ name, tool, draw, read = (body, _input) => ({ tool, body }), wants = {} }, bridge, main, live) {
    this.read = read;
    this.name = name;
    this.tool = tool;
    this.wants = wants;
    this.draw = draw;
    this.words = new Words("en");
    this.context = {};
    this.input = {};
    this.body = null;
    this.meta = {};
    this.failure = null;
    this.told = "";
    this.busy = false;
    this.choices = {};
    this.first = 0;
    this.room = Infinity;
    this.paged = null;
    this.squeezed = 0;
    this.minutes = 0;
    this.heading = "h1";
    this.main = main;
    this.live = live;
    this.bridge = bridge;
  }

  start() {
    this.render();
    const observer = new ResizeObserver(() => this.tellSize());
    observer.observe(this.main);
    let width = window.innerWidth;
    window.addEventListener("resize", () => {
      if (window.innerWidth !== width) {
        width = window.innerWidth;
        this.render();
      }
    });
    setInterval(() => this.growOld(), TICK_MS);
    return this.bridge.connect(this);
  }

  /** Draw again where the answer's age, in minutes, has changed. */
  growOld() {
    const minutes = this.body?.dataFreshness && !this.busy ? Math.floor(this.age / 60) : this.minutes;
    if (minutes === this.minutes) return;
    this.minutes = minutes;
    this.render();
  }

  tellSize() {
    this.bridge.notify("ui/notifications/size-changed", { width: window.innerWidth, height: this.height });
  }

  // ------------------------------------------------------------------------------------ the host speaks

  onContext(context) {
    this.context = context;
    if (context.theme === "light" || context.theme === "dark") document.documentElement.dataset.theme = context.theme;
    else delete document.documentElement.dataset.theme;
    this.render();
  }

  onInput(args) {
    this.input = args;
  }

  /** Forget the answer, and wait for that of another question. */
  onInputOfAnother(args) {
    Object.assign(this, { input: args, body: null, failure: null, told: "", meta: {} });
    this.render();
  }

  onCancelled(reason) {
    this.failure = { message: [this.words.say("cancelled_call"), reason].join(" ") };
    this.render();
  }

  onResult(result) {
    this.take(result);
    this.render();
  }

  // ------------------------------------------------------------------------------------ the answer

  take(result, input = this.input) {
    const failure = readFailure(result);
    if (failure && this.body) return failure;
    this.failure = failure;
    if (failure) return failure;
    const answer = this.read(result.structuredContent, input);
    // Earlier than the first there may be nothing: what is shown then stays, with the way back.
    if (this.body && answer.isEmpty && input !== this.input) return { message: answer.body.whyEmpty || this.words.say("no_itineraries") };
    Object.assign(this, answer);
    this.meta = result._meta || {};
    this.choices = {};
    this.first = 0;
    return null;
  }

  get canCall() {
    return Boolean(this.bridge.abilities.serverTools);
  }

  /**
   * Call the tool again, with other arguments where they are given; a failure leaves the old answer, and is told.
   * With `isQuiet`, success is not announced, and what was chosen and which page is shown stay.
   */
  async refresh(changed = {}, isQuiet = false) {
    if (this.busy) return;
    this.busy = true;
    this.told = "";
    const { choices, first } = this;
    if (!isQuiet) {
      this.render();
      this.announce(this.words.say("refreshing"));
    }
    const isSame = Object.keys(changed).length === 0;
    const input = isSame ? this.input : Object.fromEntries(Object.entries({ ...this.input, ...changed }).filter(([, value]) => value !== undefined));
    let reason = "";
    try {
      const failure = this.take(await this.bridge.callTool(this.tool, input, this.wants), input);
      if (failure) reason = [this.words.sentence(failure.message), this.words.remedy(failure.remedy)].filter(Boolean).join(" ");
      else this.input = input;
      if (!failure && isQuiet) Object.assign(this, { choices, first });
    } catch (error) {
      reason = this.words.sentence(error.message);
    }
    this.busy = false;
    const time = this.body?.dataFreshness ? this.words.clock(this.body.dataFreshness, this.today) : "";
    if (reason) this.told = this.words.say("refresh_failed", { reason, time });
    this.render();
    if (!isQuiet || reason) this.announce(reason ? this.told : this.words.say("refreshed"));
  }

  announce(text) {
    this.live.textContent = text;
  }

  openLink(url) {
    return this.bridge.request("ui/open-link", { url }).catch((error) => this.announce(error.message));
  }

  /** The day on which the answer was given, in the network's zone; times on other days are told with theirs. */
  get today() {
    return (this.body?.dataFreshness || this.body?.today || "").slice(0, 10);
  }

  /** How old the answer is, in seconds of this machine's clock. */
  get age() {
    return Math.max(0, (Date.now() - Date.parse(this.body.dataFreshness)) / 1000);
  }

  // ------------------------------------------------------------------------------------ drawing

  get height() {
    return Math.ceil(this.main.getBoundingClientRect().height);
  }

  get limit() {
    if (this.context.displayMode === "fullscreen") return Infinity;
    const given = this.context.containerDimensions || {};
    return Math.max(LOWEST_PX, Math.min(HIGHEST_PX, given.height || given.maxHeight || HIGHEST_PX));
  }

  /** Draw, and again with a lower map and fewer rows on a page until the view is low enough. */
  render() {
    const language = chooseLanguage(this.context.locale, this.body?.meta?.language);
    if (language !== this.words.language) this.words = new Words(language);
    document.documentElement.lang = language;
    const focused = document.activeElement;
    const key = focused instanceof HTMLElement && this.main.contains(focused) ? focused.dataset.key : undefined;
    this.room = Infinity;
    this.squeezed = 0;
    this.bound(null);
    for (let attempt = 0; attempt < 60; attempt++) {
      this.paged = null;
      this.main.replaceChildren(...this.nodes());
      const overflow = this.height - this.limit;
      if (overflow <= 0) break;
      if (this.squeezeMap()) continue;
      if (!this.paged || this.paged.count <= 1) break;
      this.room = attempt === 0 ? Math.max(1, Math.ceil(this.paged.count * 0.9)) : this.paged.count - 1;
    }
    if (this.height > this.limit) this.bound(this.limit);
    if (key) [...this.main.querySelectorAll("[data-key]")].find((each) => each.dataset.key === key)?.focus();
  }

  /** Let what cannot be made any lower scroll within a height; null for none. */
  bound(height) {
    this.main.classList.toggle("scrolls", height !== null);
    this.main.style.maxHeight = height === null ? "" : `${height}px`;
  }

  /** Take from the map what it is too high; return whether there was anything to take. */
  squeezeMap() {
    const map = this.main.querySelector(".map");
    if (!map || this.squeezed >= MOST_SQUEEZED_PX) return false;
    const panel = this.main.querySelector("[role=tabpanel]").getBoundingClientRect().bottom;
    const below = this.height - panel;
    const excess = Math.ceil(map.closest(".map-frame").parentNode.lastChild.getBoundingClientRect().bottom + below - this.limit);
    if (excess <= 0) return false;
    this.squeezed = Math.min(MOST_SQUEEZED_PX, this.squeezed + excess);
    return true;
  }

  nodes() {
    if (this.failure) return drawFailure(this);
    if (!this.body) return [element("p", { class: "dim" }, this.words.say("waiting"))];
    return [...this.draw(this), this.told && element("p", { class: "banner danger small" }, this.told)].filter(Boolean);
  }

  /** Return the part of a list that is on this page, with the index of each entry in the list. */
  page(list) {
    const entries = list.map((entry, index) => [entry, index]);
    if (this.first >= entries.length) this.first = 0;
    const shown = entries.slice(this.first, this.first + this.room);
    this.paged = { count: shown.length, total: entries.length };
    return shown;
  }

  /** Return the buttons that turn pages; nothing where all is on one. */
  pager() {
    const { count, total } = this.paged || { count: 0, total: 0 };
    if (count >= total) return null;
    const range = { first: this.first + 1, last: this.first + count, total };
    // A button that were truly disabled would lose the focus with which it was pressed.
    const turn = (key, first, isLast) =>
      element("button", { type: "button", "data-key": `page-${key}`, "aria-disabled": isLast && "true", onclick: () => isLast || this.turnTo(first) }, this.words.say(key));
    return element("nav", { class: "pager" }, [
      element("span", { class: "dim small" }, this.words.say("pages", range)),
      turn("previous", Math.max(0, this.first - this.room), this.first === 0),
      turn("next", this.first + count, this.first + count >= total),
    ]);
  }

  turnTo(first) {
    this.first = first;
    this.render();
    this.announce(this.words.say("pages", { first: first + 1, last: first + this.paged.count, total: this.paged.total }));
  }

  choose(name, value) {
    this.choices[name] = value;
    this.first = 0;
    this.render();
  }
}

/** Return what a failed call says, whichever contract's envelope it wears; null for an answer. */
function readFailure(result) {
  const body = result.structuredContent;
  if (body && !result.isError && body.success !== false && !body.error) return null;
  const error = body?.error;
  const text = (result.content || []).map((each) => each.text || "").join(" ");
  const message = (typeof error === "string" ? error : error?.message) || body?.warning || text;
  return { message, remedy: result._meta?.["fingerpost/remedy"], candidates: body?.candidates || error?.candidates || [] };
}

function drawFailure(frame) {
  const { message, remedy, candidates } = frame.failure;
  const advice = frame.words.remedy(remedy);
  const names = (Array.isArray(candidates) ? candidates : []).map((each) => each?.name || each?.label).filter(Boolean);
  return [
    element("p", { class: "banner danger", role: "alert" }, message ? frame.words.sentence(message) : frame.words.say("failed")),
    advice && element("p", {}, frame.words.say("hint", { text: advice })),
    names.length > 0 && element("p", {}, frame.words.say("candidates", { names: names.join(", ") })),
  ].filter(Boolean);
}
