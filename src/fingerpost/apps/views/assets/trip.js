/** Itineraries side by side, and the steps and the drawing of the chosen one: of plan_trip, planRoute, planJourney. */

import { element, unseen } from "./dom.js";
import { drawMap, layersOf, linesOf } from "./map.js";
import { readJourneys, readRoutes } from "./other_contracts.js";
import { LINE_COLORS, alertsOf, badge, freshness, header, lateness, listNotes, notesTab, paintOf, source, stamp, tabs } from "./parts.js";
import { isRide, nameRide, sayWalk } from "./rides.js";

const WIDE_PX = 560;
const HIGHEST_MAP_PX = 230;
const HIGHEST_FREE_MAP_PX = 440;
const MARGINS_PX = 28;
const GAP_PX = 14;
const MINUTE_MS = 60000;
const GEOMETRY = "fingerpost/geometry";
const BASEMAP = "fingerpost/basemap";

function drawTrip(frame) {
  const { body, words } = frame;
  const title = words.say("trip", { from: nameEnd(body.origin), to: nameEnd(body.destination) });
  if (body.journeys) return drawJourneys(frame, title);
  const chosen = body.itineraries.find((each) => each.fingerprint === frame.choices.itinerary) || body.itineraries[0];
  if (!chosen) return [header(frame, title, freshness(frame, body.realtimeUsed)), element("p", {}, words.say("no_itineraries")), body.whyEmpty && element("p", { lang: "en" }, body.whyEmpty), ...tabs(frame, "tab", [notesTab(frame, listTripNotes(frame))]), source(frame)];
  const isWide = frame.main.clientWidth >= WIDE_PX;
  const steps = () => [drawSteps(frame, chosen), frame.pager()];
  const map = () => drawMapPanel(frame, chosen);
  const panels = isWide
    ? [{ key: "steps", title: words.say("steps"), panel: () => element("div", { class: "pair" }, element("div", {}, steps()), element("div", {}, map())) }]
    : [{ key: "steps", title: words.say("steps"), panel: steps }, { key: "map", title: words.say("map"), panel: map }];
  return [
    header(frame, title, freshness(frame, body.realtimeUsed)),
    drawChoices(frame, chosen),
    element("div", { class: "under small" }, listFacts(frame, chosen).slice(1).join(" · "), drawTroubles(frame, chosen)),
    ...tabs(frame, "tab", [...panels, notesTab(frame, listTripNotes(frame))], frame.canCall && drawShifts(frame)),
    source(frame),
  ];
}

function nameEnd(end) {
  return end.name || end.address || end.label || `${end.coordinate.lat}, ${end.coordinate.lon}`;
}

/** Journeys of which only begin, end and the number of legs are known. */
function drawJourneys(frame, title) {
  const { body, words } = frame;
  const row = (journey) => element("tr", {}, [
    element("td", { class: "when number" }, element("strong", {}, stamp(words, journey.startDateTime, frame.today))),
    element("td", { class: "when number" }, element("strong", {}, stamp(words, journey.arrivalDateTime, frame.today))),
    element("td", {}, words.say("duration", { n: words.minutes(journey.startDateTime, journey.arrivalDateTime) })),
    element("td", { class: "right" }, words.count("legs", journey.legCount)),
  ]);
  const titles = ["departure", "arrival", "takes", "parts"].map((key) => element("th", { scope: "col", class: key === "parts" && "right" }, words.say(key)));
  return [
    header(frame, title, null),
    body.journeys.length > 0 && element("table", {}, [
      element("caption", { class: "unseen" }, words.say("itineraries")),
      element("thead", {}, element("tr", {}, titles)),
      element("tbody", {}, frame.page(body.journeys).map(([journey]) => row(journey))),
    ]),
    frame.pager(),
    element("p", { class: "banner small", lang: "en" }, body.message),
  ].filter(Boolean);
}

// --------------------------------------------------------------------------------------------- alternatives

function drawChoices(frame, chosen) {
  const all = frame.body.itineraries;
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = all[(all.indexOf(chosen) + step + all.length) % all.length];
    frame.choose("itinerary", next.fingerprint);
    frame.main.querySelector(`[data-key="choice-${next.fingerprint}"]`)?.focus();
  };
  const buttons = all.map((itinerary) =>
    element("button", {
      type: "button",
      role: "radio",
      "data-key": `choice-${itinerary.fingerprint}`,
      "aria-checked": String(itinerary === chosen),
      tabindex: itinerary === chosen ? 0 : -1,
      onclick: () => frame.choose("itinerary", itinerary.fingerprint),
      onkeydown: move,
    }, drawSummary(frame, itinerary)),
  );
  return element("div", { class: "choices", role: "radiogroup", "aria-label": frame.words.say("itineraries") }, buttons);
}

/** What tells the ways apart: all of it where there is room, else times, lines and duration. */
function drawSummary(frame, itinerary) {
  const { words, today } = frame;
  const { legs } = itinerary;
  const { departureTime } = legs[0];
  const { arrivalTime } = legs[legs.length - 1];
  const times = [words.clock(departureTime, today), words.clock(arrivalTime, departureTime.slice(0, 10))];
  const facts = listFacts(frame, itinerary);
  const troubles = drawTroubles(frame, itinerary);
  return [
    element("b", {}, times.join("–")),
    element("div", { class: "strip" }, legs.map((leg, index) => isRide(leg) && badge(leg.mode, nameRide(leg), paintOf(frame, pathOf(frame, itinerary, index))))),
    element("div", { class: "dim small wide" }, facts.join(" · ")),
    element("div", { class: "wide" }, troubles),
    element("div", { class: "dim small under" }, facts[0], troubles.length > 0 && element("strong", { class: "caution", "aria-hidden": "true" }, " !")),
  ];
}

function listFacts(frame, itinerary) {
  const { words } = frame;
  const { legs, numberOfTransfers: changes, walkingDistance } = itinerary;
  return [
    words.say("duration", { n: words.minutes(legs[0].departureTime, legs[legs.length - 1].arrivalTime) }),
    changes === 0 ? words.say("no_changes") : words.count("changes", changes),
    walkingDistance > 0 && words.say("walking", { distance: words.distance(walkingDistance) }),
  ].filter(Boolean);
}

function drawTroubles(frame, itinerary) {
  const difference = (frame.body.meta.differences || []).find((each) => each.fingerprint === itinerary.fingerprint);
  const isInstead = itinerary.DisruptionFlag || (difference && !itinerary.DisruptionNote);
  return [
    itinerary.DisruptionNote && element("div", { class: "danger small", lang: "en" }, itinerary.DisruptionNote),
    isInstead && element("div", { class: "caution small" }, frame.words.say("instead")),
  ].filter(Boolean);
}

/** The buttons that plan the same trip earlier or later than all that is shown. */
function drawShifts(frame) {
  const { words } = frame;
  const { itineraries } = frame.body;
  const shift = (instants, pick, by) => new Date(pick(...instants.map((each) => Date.parse(each))) + by).toISOString();
  const arrivals = itineraries.map(({ legs }) => legs[legs.length - 1].arrivalTime);
  const departures = itineraries.map(({ legs }) => legs[0].departureTime);
  const earlier = whenOf(frame.tool, "arrive", shift(arrivals, Math.min, -MINUTE_MS));
  const later = whenOf(frame.tool, "depart", shift(departures, Math.max, MINUTE_MS));
  const button = (key, sign, when) =>
    element(
      "button",
      { type: "button", "data-key": key, "aria-label": words.say(key), "aria-disabled": frame.busy && "true", onclick: () => frame.refresh(when) },
      frame.main.clientWidth >= WIDE_PX ? words.say(key) : sign,
    );
  return [button("earlier", "‹", earlier), button("later", "›", later)];
}

/** The arguments of a tool that say when; one that is undefined is taken out. */
function whenOf(tool, type, time) {
  if (tool !== "planRoute") return { when: { type, time } };
  return type === "arrive" ? { arrivalTime: time, departureTime: undefined } : { departureTime: time, arrivalTime: undefined };
}

// --------------------------------------------------------------------------------------------- the chosen one

function drawSteps(frame, itinerary) {
  const { legs, fingerprint } = itinerary;
  const seated = (frame.body.meta.staySeated || []).find((each) => each.fingerprint === fingerprint)?.legs || [];
  const end = legs[legs.length - 1];
  /** A step says its day if it is another than that of the step before. */
  const dayBefore = (index) => (index === 0 ? frame.today : legs[index - 1].departureTime.slice(0, 10));
  const steps = [
    ...legs.map((leg, index) => () => drawLeg(frame, leg, pathOf(frame, itinerary, index), seated.includes(index), dayBefore(index))),
    () => drawEnd(frame, end, dayBefore(legs.length)),
  ];
  return element("ol", { class: "steps", "aria-label": frame.words.say("steps") }, frame.page(steps).map(([draw]) => draw()));
}

/** The path of a leg into the answer, as alerts and colours name it. */
function pathOf(frame, itinerary, index) {
  return `itineraries/${frame.body.itineraries.indexOf(itinerary)}/legs/${index}`;
}

function drawStep(style, mode, time, content, paint = {}) {
  return element("li", { class: style }, [
    element("span", { class: "number" }, time),
    element("span", { class: "rail", "data-stroke": mode, style: paint, "aria-hidden": "true" }),
    element("div", {}, content),
  ]);
}

function drawLeg(frame, leg, path, isSeated, dayBefore) {
  const { words } = frame;
  const time = stamp(words, leg.departureTime, dayBefore);
  if (!isRide(leg)) {
    const walk = sayWalk(words, leg);
    return drawStep("walk", null, time, [element("div", {}, walk), drawGoal(frame, leg)]);
  }
  const isCancelled = leg.status === "cancelled";
  const style = { cancelled: "danger", delayed: "caution", on_time: "good" }[leg.status] || "dim";
  const from = [leg.from.name, leg.from.platform && words.say("platform_of", { name: leg.from.platform })].filter(Boolean).join(", ");
  const towards = leg.headsign && words.say("towards", { headsign: leg.headsign });
  const paint = paintOf(frame, path);
  return drawStep("ride", leg.mode, isCancelled ? element("s", {}, time) : time, [
    element("div", {}, element("strong", {}, from), isSeated && element("span", { class: "dim" }, ` (${words.say("stay_seated")})`)),
    element("div", {}, badge(leg.mode, nameRide(leg), paint), " ", towards && (isCancelled ? element("s", {}, towards) : towards), " ", element("span", { class: `${style} small` }, lateness(words, leg.status || "scheduled_only", leg.delaySeconds, leg.departureTime))),
    drawGoal(frame, leg),
    leg.disruptionNote && element("div", { class: "danger small", lang: "en" }, leg.disruptionNote),
    alertsOf(frame.body, path).map((alert) => element("div", { class: "caution small" }, unseen(`${words.say("alert")}: `), alert.header)),
  ], paint);
}

function drawGoal(frame, leg) {
  const { words } = frame;
  const time = words.clock(leg.arrivalTime, leg.departureTime.slice(0, 10));
  return element("div", { class: "dim small" }, words.say("to_stop", { stop: leg.to.name, time }));
}

function drawEnd(frame, leg, dayBefore) {
  return drawStep("end", null, stamp(frame.words, leg.arrivalTime, dayBefore), element("strong", {}, `${frame.words.say("arrive")}: ${leg.to.name}`));
}

function drawMapPanel(frame, itinerary) {
  const { words } = frame;
  const { legs, straight, tolerance } = linesOf(itinerary, frame.meta[GEOMETRY]);
  const label = words.say("map_label", { from: itinerary.legs[0].from.name, to: itinerary.legs[itinerary.legs.length - 1].to.name });
  const room = frame.main.clientWidth - MARGINS_PX;
  const width = frame.main.clientWidth >= WIDE_PX ? (room - GAP_PX) / 2 : room;
  const highest = frame.limit === Infinity ? HIGHEST_FREE_MAP_PX : HIGHEST_MAP_PX - frame.squeezed;
  const basemap = frame.meta[BASEMAP];
  const note = [straight && words.say("map_straight"), tolerance > 0 && words.say("map_thinned", { n: tolerance }), basemap?.leftOut.length > 0 && words.say("map_left_out")];
  const paints = itinerary.legs.map((_, index) => paintOf(frame, pathOf(frame, itinerary, index)));
  const key = `view-${itinerary.fingerprint}`;
  const keepView = (view) => { frame.choices[key] = view; };
  const map = drawMap(itinerary, legs, { label, words, width, highest, paints, view: frame.choices[key], keepView, ground: layersOf(basemap) });
  return [map, element("p", { class: "dim small" }, note.filter(Boolean).join(" "))];
}

function listTripNotes(frame) {
  const { meta, itineraries } = frame.body;
  const differences = (meta.differences || []).map((each) => each.cause.text);
  const accessibility = itineraries.flatMap((each) => each.accessibilityNotes || []);
  return listNotes(frame, [...new Set([...differences, ...accessibility, meta.walking])]);
}

const WANTS = { [GEOMETRY]: true, [LINE_COLORS]: true, [BASEMAP]: true };
const ROUTE_WANTS = { [LINE_COLORS]: true };

/** Return whose answer a body is, the body in the shape of plan_trip, and what that tool gives beside it. */
function readTrip(body, input) {
  if (body.topJourneys !== undefined) return { tool: "planJourney", body: readJourneys(body, input), wants: {} };
  if (body.window !== undefined) return { tool: "planRoute", body: readRoutes(body, input), wants: ROUTE_WANTS, isEmpty: body.itineraries.length === 0 };
  return { tool: "plan_trip", body, wants: WANTS };
}

export const TRIP = { name: "trip", tool: "plan_trip", read: readTrip, draw: drawTrip, wants: WANTS };
