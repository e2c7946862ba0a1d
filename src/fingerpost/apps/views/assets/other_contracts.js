/** Answers of planRoute, planJourney and getStopTimetable in the shapes of plan_trip and get_departures. */

const MODES = { SUBWAY: "METRO", COACH: "BUS", UNKNOWN: "OTHER" };

/** Return an instant as local time of a zone with its offset, as plan_trip and get_departures write it. */
export function writeLocally(instant, zone) {
  /** @type {Intl.DateTimeFormatOptions} */
  const shape = { timeZone: zone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" };
  const parts = Object.fromEntries(new Intl.DateTimeFormat("en-US", shape).formatToParts(new Date(instant)).map(({ type, value }) => [type, value]));
  const local = `${parts.year}-${parts.month}-${parts.day}T${parts.hour}:${parts.minute}:${parts.second}`;
  const minutes = Math.round((Date.parse(`${local}Z`) - Date.parse(instant)) / 60000);
  const two = (number) => String(Math.trunc(number)).padStart(2, "0");
  return `${local}${minutes < 0 ? "-" : "+"}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
}

/** Return a zone that this browser knows, UTC in place of one that it does not. */
function knownZone(zone) {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: zone }).resolvedOptions().timeZone && zone;
  } catch {
    return "UTC";
  }
}

/** Return a body of planRoute as one of plan_trip; `input` says what was asked. */
export function readRoutes(body, input) {
  const { warnings = [], noResultsReason } = body.metadata;
  const timeZone = knownZone(body.metadata.timeZone);
  const at = (instant) => writeLocally(instant, timeZone);
  const point = ({ name, lat, lon }) => ({ name, coordinate: { lat, lon } });
  const readLeg = (leg) => ({
    mode: MODES[leg.mode] || leg.mode,
    from: point(leg.from),
    to: point(leg.to),
    departureTime: at(leg.departureTime),
    arrivalTime: at(leg.arrivalTime),
    duration: (Date.parse(leg.arrivalTime) - Date.parse(leg.departureTime)) / 1000,
    distance: leg.distanceMeters,
    ...(leg.mode !== "WALK" && { line: leg.lineName ?? "", headsign: leg.headsign }),
  });
  const itineraries = body.itineraries.map((each) => ({
    fingerprint: each.id,
    legs: each.legs.map(readLeg),
    totalDuration: each.durationMinutes * 60,
    numberOfTransfers: each.numberOfTransfers,
    walkingDistance: each.totalWalkDistanceMeters,
  }));
  const [first] = itineraries;
  const nameEnd = (end, leg) => end?.rawText || end?.name || leg?.name || "";
  return {
    origin: { name: nameEnd(input.origin, first?.legs[0].from) },
    destination: { name: nameEnd(input.destination, first?.legs[first.legs.length - 1].to) },
    itineraries,
    realtimeUsed: body.meta.realtimeAgeSeconds === undefined ? "scheduled" : "mixed",
    dataFreshness: at(body.meta.retrievedAt),
    whyEmpty: [noResultsReason, body.meta.whyEmpty].filter(Boolean).join(": "),
    warnings,
    meta: { ...localise(body.meta, at), timeZone },
  };
}

/** Return a body of getStopTimetable as one of get_departures; `input` says what was asked. */
export function readTimetable(body, input) {
  const { warnings = [], noResultsReason, cancelledLeftOut } = body.metadata;
  const timeZone = knownZone(body.metadata.timeZone);
  const at = (instant) => writeLocally(instant, timeZone);
  const { stop, whyEmpty } = body.meta;
  return {
    stopId: stop.id,
    stopName: stop.name,
    realtimeUsed: false,
    dataFreshness: at(body.meta.retrievedAt),
    departures: body.departures.map((row) => ({
      line: row.routeShortName,
      mode: MODES[row.mode] || row.mode,
      destination: row.headsign ?? row.routeLongName ?? "",
      scheduledTime: at(row.scheduledTime),
      status: "scheduled_only",
    })),
    cancelledLeftOut,
    warnings,
    meta: { ...localise(body.meta, at), timeZone, whyEmpty: [noResultsReason, whyEmpty].filter(Boolean).join(": "), ...(input.at && { at: at(input.at) }) },
  };
}

/** Return a body of planJourney with its summaries as itineraries without legs. */
export function readJourneys(body, input) {
  const [first] = body.topJourneys;
  return {
    origin: { name: String(input.from ?? "") },
    destination: { name: String(input.to ?? "") },
    message: body.message,
    today: first?.startDateTime.slice(0, 10),
    journeys: body.topJourneys,
  };
}

function localise(meta, at) {
  if (!meta.alerts) return meta;
  const alerts = meta.alerts.map((alert) => ({ ...alert, ...(alert.from && { from: at(alert.from) }), ...(alert.until && { until: at(alert.until) }) }));
  return { ...meta, alerts };
}
