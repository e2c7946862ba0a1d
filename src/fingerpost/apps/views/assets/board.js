/** The board of a stop: an answer of get_departures or getStopTimetable. */

import { element, unseen } from "./dom.js";
import { readTimetable } from "./other_contracts.js";
import { LINE_COLORS, alertsOf, badge, freshness, header, lateness, listNotes, notesTab, paintOf, source, stamp, tabs } from "./parts.js";

const COLOURS = { cancelled: "danger", delayed: "caution", on_time: "good", scheduled_only: "dim" };

function drawBoard(frame) {
  const { body, words } = frame;
  const here = listAlertsOfAll(body);
  const departures = { key: "departures", title: words.say("departures"), panel: () => drawDepartures(frame) };
  return [
    header(frame, body.stopName || body.stopId, freshness(frame, body.realtimeUsed ? "realtime" : "scheduled")),
    here.length > 0 && element("p", { class: "banner" }, unseen(`${words.say("alert")}: `), here.map((each) => each.header).join(" · ")),
    ...tabs(frame, "tab", [departures, notesTab(frame, listNotes(frame))]),
    body.cancelledLeftOut && element("p", { class: "caution small" }, words.count("left_out", body.cancelledLeftOut)),
    source(frame),
  ].filter(Boolean);
}

/** Return the alerts of the stop, and those that touch every one of several departures: these are told once. */
function listAlertsOfAll(body) {
  const paths = body.departures.map((_, index) => `departures/${index}`);
  const touchesAll = (alert) => paths.length > 1 && paths.every((path) => alert.touches.includes(path));
  return (body.meta.alerts || []).filter((alert) => alert.touches.includes("stopId") || touchesAll(alert));
}

function drawDepartures(frame) {
  const { body, words } = frame;
  if (body.departures.length === 0) {
    return [element("p", {}, words.say("no_departures")), body.meta.whyEmpty && element("p", { lang: "en" }, body.meta.whyEmpty)];
  }
  const hasPlatforms = body.departures.some((each) => each.platform);
  const titles = [["time"], ["line"], ["destination"], ...(hasPlatforms ? [["platform", "wide"]] : []), ["status", "wide right"]];
  return [
    element("table", {}, [
      element("caption", { class: "unseen" }, words.say("board_caption", { stop: body.stopName || body.stopId })),
      element("thead", {}, element("tr", {}, titles.map(([key, style]) => element("th", { scope: "col", class: style }, words.say(key))))),
      element("tbody", {}, frame.page(body.departures).map(([row, index]) => drawRow(frame, row, index, hasPlatforms))),
    ]),
    frame.pager(),
  ];
}

function drawRow(frame, row, index, hasPlatforms) {
  const { body, words } = frame;
  const struck = (text) => (row.status === "cancelled" ? element("s", {}, text) : text);
  const status = lateness(words, row.status, row.delaySeconds, row.realtimeTime || row.scheduledTime);
  const style = COLOURS[row.status] || "dim";
  const ofAll = listAlertsOfAll(body);
  const alerts = alertsOf(body, `departures/${index}`).filter((each) => !ofAll.includes(each));
  const platform = row.platform && words.say("platform_of", { name: row.platform });
  return element("tr", { "data-status": row.status }, [
    element("td", { class: "when number" }, drawTime(frame, row)),
    element("td", {}, badge(row.mode, row.line, paintOf(frame, `departures/${index}`))),
    element("td", {}, [
      struck(row.destination),
      element("span", { class: "under small" }, element("span", { class: style }, status), platform && ` · ${platform}`),
      alerts.map((each) => element("p", { class: "caution small" }, unseen(`${words.say("alert")}: `), each.header)),
    ]),
    hasPlatforms && element("td", { class: "wide" }, row.platform),
    element("td", { class: `wide right ${style}` }, status),
  ]);
}

/** The expected time, and the timetable's struck through beside it where it is another minute. */
function drawTime(frame, row) {
  const { words, today } = frame;
  const planned = row.scheduledTime;
  if (row.status === "cancelled") return element("s", {}, stamp(words, planned, today));
  const expected = row.realtimeTime || planned;
  if (expected.slice(0, 16) === planned.slice(0, 16)) return element("strong", {}, stamp(words, planned, today));
  const [time, before] = [words.clock(expected, today), words.clock(planned, expected.slice(0, 10))];
  return [
    unseen(`${words.say("expected_at", { time })}, ${words.say("timetabled_at", { time: before })}`),
    element("strong", { "aria-hidden": "true" }, stamp(words, expected, today)),
    element("s", { "aria-hidden": "true" }, before),
  ];
}

/** Return whose answer a body is, and the body in the shape of get_departures. */
function readBoard(body, input) {
  return body.applied === undefined ? { tool: "get_departures", body } : { tool: "getStopTimetable", body: readTimetable(body, input) };
}

export const BOARD = { name: "board", tool: "get_departures", read: readBoard, draw: drawBoard, wants: { [LINE_COLORS]: true } };
