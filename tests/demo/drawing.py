"""A demo network small enough to check by eye."""

HEAD = """
[network]
name = "DEMO-TOWN"
zone = "Europe/Helsinki"
language = "fi"
second_language = "sv"
"""

TRAM = """
[group.tram]
route_type = 0
suffix = "-TRAM"
[group.tram.stops]
"Tori" = [60.170, 24.940, "Torget"]
"Itäkeskus (M)" = [60.170, 24.950]
"Satama" = [60.170, 24.960]
"""

METRO = """
[group.metro]
route_type = 1
vehicle_wheelchair = 1
stop_wheelchair = 1
stairs_only = ["Asema"]
[group.metro.stops]
"Tori" = [60.171, 24.940, "Torget"]
"Asema" = [60.200, 24.940]
"""

LINE_7 = """
[[line]]
group = "tram"
name = "7"
title = "Tori - Satama"
stops = "Tori 2 Itäkeskus (M) 3 Satama"
departures = "05:30 /10 06:00 /20 06:30"
"""

LINE_M = """
[[line]]
group = "metro"
name = "M"
title = "Tori - Asema"
stops = "Tori 4 Asema"
departures = "23:50 /20 24:30"
back = "06:00"
towards = ["Pohjoinen", "Keskusta"]
"""

TOWN = HEAD + TRAM + METRO + LINE_7 + LINE_M
