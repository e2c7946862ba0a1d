"""The parts of a line's timetable that are read; hours and minutes are texts, and hours count on beyond 23."""

from pydantic import Field

from fingerpost.transit.remote.kit.wire_shapes import Several, Shape

# A night's timetable ends before noon of the next day.
_MOST_HOURS = 47


class ClockTime(Shape):
    """A wall-clock time of a service day: hour 25 is one o'clock of the next day."""

    hour: int = Field(ge=0, le=_MOST_HOURS)
    minute: int = Field(ge=0, le=59)

    @property
    def minutes(self) -> int:
        """Minutes since the midnight with which the service day begins."""
        return self.hour * 60 + self.minute


class KnownJourney(ClockTime):
    """One departure, and the id of the stops that follow."""

    interval_id: int = 0


class Frequency(Shape):
    """How many minutes lie between two departures, at most and at least; 0 for no service."""

    lowest_frequency: float = 0
    highest_frequency: float = 0


class FrequencyPeriod(Shape):
    """A time of day in which departures are told by a frequency; ``type`` says in which unit."""

    type: str = ""
    from_time: ClockTime
    to_time: ClockTime
    frequency: Frequency | None = None


class Schedule(Shape):
    """The departures of the days that its name means."""

    name: str = ""
    known_journeys: Several[KnownJourney] = ()
    first_journey: KnownJourney | None = None
    last_journey: KnownJourney | None = None
    periods: Several[FrequencyPeriod] = ()


class Interval(Shape):
    """A stop that follows, so many minutes after the departure."""

    stop_id: str
    time_to_arrival: float = 0


class StationInterval(Shape):
    """The stops that follow, in their order, under an id that journeys name."""

    id: int = 0
    intervals: Several[Interval] = ()


class TimetableRoute(Shape):
    """The timetables of one route: alternatives of days."""

    station_intervals: Several[StationInterval] = ()
    schedules: Several[Schedule] = ()


class TflTimetable(Shape):
    """The departures from one stop."""

    departure_stop_id: str = ""
    routes: Several[TimetableRoute] = ()


class TflTimetableStop(Shape):
    """A stop or a station of a timetable."""

    id: str = ""
    name: str = ""


class TimetableOption(Shape):
    """One of the timetables that a question may have meant."""

    uri: str = ""


class TimetableDisambiguation(Shape):
    """What a question may have meant, where a line leaves the stop in several directions."""

    disambiguation_options: Several[TimetableOption] = ()


class TimetableResponse(Shape):
    """A line's timetable from a stop, what else was meant, or a sentence on why there is none."""

    line_id: str = ""
    line_name: str = ""
    direction: str | None = None
    stations: Several[TflTimetableStop] = ()
    stops: Several[TflTimetableStop] = ()
    timetable: TflTimetable | None = None
    disambiguation: TimetableDisambiguation | None = None
    status_error_message: str | None = None
