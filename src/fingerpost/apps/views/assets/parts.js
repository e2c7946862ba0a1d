/** Parts that several views have: header, tabs, notes, badges of lines. */

import { element, unseen } from "./dom.js";

const OLD_S = 90;
const COLOR = /^[0-9A-F]{6}$/;
/** Where a result has the colours of its lines, beside the answer. */
export const LINE_COLORS = "fingerpost/lineColors";

/** The title, how live and how old the answer is, and the button that asks again. */
export function header(frame, title, state) {
  const { words } = frame;
  const refresh = frame.canCall && element(
    "button",
    { type: "button", "data-key": "refresh", "aria-disabled": frame.busy && "true", onclick: () => frame.refresh() },
    words.say(frame.busy ? "refreshing" : "refresh"),
  );
  return element("header", {}, element("div", {}, element(frame.heading, { class: "title" }, title), element("p", { class: "state small" }, state)), refresh);
}

/** How live an answer of the transit tools is, and as of when. */
export function freshness(frame, schedule) {
  const { words, body } = frame;
  const told = body.meta.realtimeAgeSeconds;
  const key = { realtime: "live", mixed: "mixed", scheduled: "scheduled" }[schedule];
  const aged = key !== "scheduled" && told > 0;
  const age = Math.max(frame.age, aged ? told : 0);
  const isOld = age > OLD_S;
  return [
    body.meta.demo && element("span", { class: "chip caution", title: words.say("demo_long") }, words.say("demo"), unseen(`: ${words.say("demo_long")}`)),
    (key === "scheduled" || !isOld) && element("span", { class: `chip ${key === "scheduled" ? "dim" : "good"}` }, aged ? words.say(`${key}_age`, { age: words.age(told) }) : words.say(key)),
    element("span", { class: "dim" }, words.say("as_of", { time: body.dataFreshness.slice(11, 16) })),
    body.meta.at && element("strong", {}, words.say("from_time", { time: words.clock(body.meta.at, frame.today) })),
    isOld && element("strong", { class: "caution" }, words.say("old", { age: words.age(age) })),
  ];
}

/**
 * What the line of a part of the answer is painted with, as properties of a style; none where its mode's colour holds.
 * The server lets only pairs through of which the text can be read.
 */
export function paintOf(frame, path) {
  const found = (frame.meta[LINE_COLORS]?.lines || []).find((each) => each.touches.includes(path));
  if (!found || ![found.color, found.textColor].every((each) => COLOR.test(each))) return {};
  return { "--line": `#${found.color}`, "--on-line": `#${found.textColor}` };
}

/** Return a time, below its day unless that is `today`. */
export function stamp(words, instant, today) {
  const date = instant.slice(0, 10);
  return [date !== today && element("span", { class: "day" }, words.day(date, today), unseen(" ")), instant.slice(11, 16)].filter(Boolean);
}

/** A line's name on its own colour, else on that of its mode. */
export function badge(mode, name, paint = {}) {
  return element("span", { class: "line", "data-mode": mode, style: paint }, name);
}

/** Tabs over panels: each {key, title, panel}, of which `panel()` makes the chosen one; `aside` stands beside them. */
export function tabs(frame, name, choices, aside = null) {
  const chosen = choices.find((each) => each.key === frame.choices[name]) || choices[0];
  const turn = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = choices[(choices.indexOf(chosen) + step + choices.length) % choices.length];
    frame.choose(name, next.key);
    frame.main.querySelector(`[data-key="tab-${next.key}"]`)?.focus();
  };
  const buttons = choices.map((each) =>
    element("button", {
      type: "button",
      role: "tab",
      id: `${frame.name}-tab-${each.key}`,
      "data-key": `tab-${each.key}`,
      "aria-selected": String(each === chosen),
      "aria-controls": `${frame.name}-panel`,
      tabindex: each === chosen ? 0 : -1,
      onclick: () => frame.choose(name, each.key),
      onkeydown: turn,
    }, each.title),
  );
  return [
    element("div", { class: "tabs" }, element("div", { role: "tablist" }, buttons), aside),
    element("div", { role: "tabpanel", id: `${frame.name}-panel`, "aria-labelledby": `${frame.name}-tab-${chosen.key}`, tabindex: 0, "data-key": "panel" }, chosen.panel()),
  ];
}

/** A button that has the host open a page, where it can; else the address as text. */
export function link(frame, url, text) {
  if (!String(url).startsWith("https://")) return element("span", {}, text);
  if (!frame.bridge.abilities.openLinks) return element("span", {}, text === url ? url : `${text} (${url})`);
  const label = frame.words.say("open_link", { address: text });
  return element("button", { type: "button", class: "link", "data-key": `link-${url}`, "aria-label": label, onclick: () => frame.openLink(url) }, text);
}

/** Everything that a transit answer says beside itself: alerts, warnings, notes. */
export function listNotes(frame, more = []) {
  const { meta, warnings = [] } = frame.body;
  const alerts = (meta.alerts || []).map((alert) => ({ alert }));
  const unshown = meta.alertsNotShown ? [{ text: frame.words.count("more_alerts", meta.alertsNotShown) }] : [];
  const said = [...warnings.map((each) => each.message), ...(meta.lost || []), ...(meta.notes || [])];
  return [...alerts, ...unshown, ...more.map((text) => ({ text })), ...said.map((text) => ({ text, lang: "en" }))];
}

export function notesTab(frame, notes) {
  const { words } = frame;
  const draw = () => notes.length === 0
    ? element("p", { class: "dim" }, words.say("no_notes"))
    : [element("ul", { class: "notes" }, frame.page(notes).map(([note]) => drawNote(frame, note))), frame.pager()];
  return { key: "notes", title: words.say("notes", { n: notes.length }), panel: draw };
}

function drawNote(frame, { alert, text, lang }) {
  if (!alert) return element("li", { lang }, text);
  const { words } = frame;
  const period = [alert.from && words.say("from_time", { time: words.clock(alert.from, frame.today) }), alert.until && words.say("until_time", { time: words.clock(alert.until, frame.today) })];
  return element("li", { class: "alert" }, [
    element("strong", {}, unseen(`${words.say("alert")}: `), alert.header),
    element("span", { class: "dim small" }, " ", period.filter(Boolean).join(" ")),
    alert.text && element("p", {}, alert.text),
    alert.url && link(frame, alert.url, alert.url),
  ]);
}

/** Return the alerts that touch a part of the answer. */
export function alertsOf(body, path) {
  return (body.meta.alerts || []).filter((alert) => alert.touches.includes(path));
}

/** Whose data it is, and in which zone its times are. */
export function source(frame) {
  const { meta } = frame.body;
  const names = (meta.attribution || []).join(", ");
  return element("footer", {}, [frame.words.say("zone", { zone: meta.timeZone }), names && frame.words.say("data_by", { names })].filter(Boolean).join(" · "));
}

/** The status in words; the minutes of a delay are the difference between the times as they are shown. */
export function lateness(words, status, delaySeconds, expectedTime) {
  if (status === "delayed") {
    const minutes = Math.abs(Math.floor((Number(expectedTime.slice(17, 19)) - delaySeconds) / 60));
    return words.count(delaySeconds < 0 ? "early" : "late", minutes);
  }
  return words.say(status);
}
