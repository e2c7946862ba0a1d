/** What is a ride among the legs of a trip, and what it is called. */

const ON_FOOT_OR_WHEELS = ["WALK", "BIKE", "SCOOTER"];

/** Whether a leg is a ride; a source need not know its line. */
export function isRide(leg) {
  return !ON_FOOT_OR_WHEELS.includes(leg.mode);
}

/** Return a ride's line, its mode where the source names none. */
export function nameRide(leg) {
  return leg.line || leg.mode;
}
