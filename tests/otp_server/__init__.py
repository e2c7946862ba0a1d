"""A real OpenTripPlanner on this machine, for ``make test-otp``: fetched, built, started, fed and killed."""
