/** What the page asks: its form in the address, which is the permanent link, and as arguments of the tools. */

const POSITION = /^\s*(-?\d+(?:\.\d+)?)\s*[,;]\s*(-?\d+(?:\.\d+)?)\s*$/;
const BOARD_MINUTES = 90;
const BOARD_ROWS = 30;
const WAYS = 3;

/**
 * Return the question that an address asks, null for none. A place is {token, text}: what the tools take, and what a
 * person reads.
 */
export function readQuestion(search) {
  const fields = new URLSearchParams(search);
  const place = (name) => ({ token: fields.get(name) || "", text: fields.get(name) || "" });
  if (fields.get("stop")) return { kind: "board", stop: place("stop") };
  if (!fields.get("from") && !fields.get("to")) return null;
  const when = fields.get("leave") ? "leave" : fields.get("arrive") ? "arrive" : "now";
  return { kind: "trip", from: place("from"), to: place("to"), when, time: fields.get(when) || "", isStepFree: fields.has("step_free") };
}

/** Return the address's part that asks a question. */
export function writeQuestion(question) {
  const fields = new URLSearchParams();
  if (question.kind === "board") fields.set("stop", question.stop.token);
  else {
    fields.set("from", question.from.token);
    fields.set("to", question.to.token);
    if (question.when !== "now") fields.set(question.when, question.time);
    if (question.isStepFree) fields.set("step_free", "1");
  }
  return `?${fields}`;
}

/** Return the arguments of plan_trip or get_departures. */
export function argumentsOf(question, language) {
  if (question.kind === "board") {
    return { stop: { type: "label", value: question.stop.token }, windowMinutes: BOARD_MINUTES, limit: BOARD_ROWS, language };
  }
  const type = { leave: "depart", arrive: "arrive" }[question.when];
  return {
    origin: endOf(question.from),
    destination: endOf(question.to),
    ...(type && { when: { type, time: question.time } }),
    constraints: { language, ...(question.isStepFree && { accessibility: { stepFree: true } }) },
    limit: WAYS,
  };
}

/** Return a position that is written as "latitude, longitude", null for any other text. */
export function readPosition(text) {
  const found = POSITION.exec(text);
  return found && { lat: Number(found[1]), lon: Number(found[2]) };
}

function endOf({ token }) {
  const position = readPosition(token);
  return position ? { type: "coords", value: position } : { type: "label", value: token };
}
