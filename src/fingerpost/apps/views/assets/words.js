/** Language, numbers, distances and times of day. */

import { STRINGS } from "./strings.js";

/** Return the language to speak: the host's, else the answer's, else English. */
export function chooseLanguage(locale, ofAnswer) {
  const wanted = [locale, ofAnswer].map((each) => String(each || "").slice(0, 2).toLowerCase());
  return wanted.find((each) => Object.hasOwn(STRINGS, each)) || "en";
}

// Kinds of remedies (errors.py) that a person at a page can follow, by the string that words them.
const REMEDIES = {
  "loosen-limits": "try_another_time",
  "look-up-place": "check_spelling",
  "look-up-stop": "check_spelling",
  "search-nearby": "check_spelling",
  "set-key": "operator_key",
  "add-key": "operator_key",
};

/** The words of one language. */
export class Words {
  /**
   * @param {string} language
   * @param {Record<string, Record<string, string>>} strings
   */
  constructor(language, strings = STRINGS) {
    this.language = language;
    this.strings = strings[language];
    this.plural = new Intl.PluralRules(language);
    this.integer = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
    this.short = new Intl.NumberFormat(language, { notation: "compact", maximumSignificantDigits: 4 });
    this.exact = new Intl.NumberFormat(language, { maximumFractionDigits: 6 });
  }

  /** Return a string with its {places} filled in. */
  say(key, values = {}) {
    return this.strings[key].replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? ""));
  }

  /** Return the form of a string that fits a number. */
  count(key, n) {
    return this.say(`${key}_${this.plural.select(n) === "one" ? "one" : "other"}`, { n: this.integer.format(n) });
  }

  /** Return a message or a hint with the full stop that it lacks, as errors.py does. */
  sentence(text) {
    return /[.!?…]$/.test(text) ? text : `${text}.`;
  }

  /** Return what a person can do about a failure, as a sentence; empty where there are no words for it. */
  remedy(remedy) {
    if (!remedy) return "";
    if (remedy.kind === "advice") return this.sentence(remedy.values.text);
    const key = REMEDIES[remedy.kind];
    return key ? this.say(key, remedy.values) : "";
  }

  distance(metres) {
    if (metres < 1000) return `${this.integer.format(metres)} m`;
    return `${new Intl.NumberFormat(this.language, { maximumFractionDigits: 1 }).format(metres / 1000)} km`;
  }

  /** Return the minutes between two times as they are shown, without their seconds. */
  minutes(start, end) {
    const [first, last] = [start, end].map((time) => Math.floor(Date.parse(time) / 60000));
    return this.integer.format(last - first);
  }

  /** Return an age in seconds, minutes, hours or days, whichever is the largest that fits. */
  age(seconds) {
    /** @type {[string, number][]} */
    const units = [["day", 86400], ["hour", 3600], ["minute", 60]];
    const [unit, length] = units.find(([, each]) => seconds >= 2 * each) || ["second", 1];
    const format = new Intl.NumberFormat(this.language, { style: "unit", unit, unitDisplay: "long" });
    return format.format(Math.floor(seconds / length));
  }

  /** Return the time of day as the answer states it, which is in the network's zone, with the day where it is another. */
  clock(instant, today) {
    const time = instant.slice(11, 16);
    return instant.slice(0, 10) === today ? time : `${this.day(instant.slice(0, 10), today)} ${time}`;
  }

  /** Return the weekday and date, with the year if it is not that of `today`. */
  day(date, today) {
    /** @type {Intl.DateTimeFormatOptions} */
    const shape = { weekday: "short", day: "numeric", month: "numeric", timeZone: "UTC" };
    // 11/12 is another day in Britain than in America.
    if (this.language === "en") shape.month = "short";
    if (today && date.slice(0, 4) !== today.slice(0, 4)) shape.year = "numeric";
    return new Intl.DateTimeFormat(this.language, shape).format(new Date(`${date}T00:00:00Z`));
  }
}
