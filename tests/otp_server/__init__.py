"""A real OpenTripPlanner on this machine, for ``make test-otp``: fetched, built, started, fed with real time, killed."""
