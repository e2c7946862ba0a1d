/** What is a ride among the legs of a trip, and how rides and walks are called. */

const ON_FOOT_OR_WHEELS = ["WALK", "BIKE", "SCOOTER"];

/** Whether a leg is a ride; a source need not know its line. */
export function isRide(leg) {
  return !ON_FOOT_OR_WHEELS.includes(leg.mode);
}

/** Return a ride's line, its mode where the source names none. */
export function nameRide(leg) {
  return leg.line || leg.mode;
}

/** Return what a walk is called; a source need not know its length. */
export function sayWalk(words, leg) {
  const minutes = words.minutes(leg.departureTime, leg.arrivalTime);
  return leg.distance === undefined ? words.say("walk_unmeasured", { minutes }) : words.say("walk_to", { distance: words.distance(leg.distance), minutes });
}
