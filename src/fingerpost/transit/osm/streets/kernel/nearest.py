"""Find the point on a way that is nearest to a position, using a grid of cells."""

import math

import numpy as np

from fingerpost.transit.kernel_mode import entry, kernel
from fingerpost.transit.osm.streets.kernel.ways import AT_NODE_M, ENDS_ONLY

CELLS_PER_ROW = 1 << 32


@kernel
def _search_cell(graph, grid, row, lat, lon, north_m, east_m, refused, nearest):
    """Update ``nearest`` (distance in metres, segment, fraction along it) if a segment in the cell is nearer."""
    for index in range(grid.cell_first[row], grid.cell_first[row + 1]):
        point = grid.segment[index]
        y = (graph.shape_lat_e7[point] * 1e-7 - lat) * north_m
        x = (graph.shape_lon_e7[point] * 1e-7 - lon) * east_m
        dy = (graph.shape_lat_e7[point + 1] - graph.shape_lat_e7[point]) * 1e-7 * north_m
        dx = (graph.shape_lon_e7[point + 1] - graph.shape_lon_e7[point]) * 1e-7 * east_m
        square = dx * dx + dy * dy
        ratio = 0.0
        if square > 0:
            ratio = min(1.0, max(0.0, -(x * dx + y * dy) / square))
        away_m = math.hypot(x + ratio * dx, y + ratio * dy)
        if away_m >= nearest[0]:
            continue
        # Edge flags are stored elsewhere in memory, so they are read only for nearby segments.
        flags = graph.edge_flags[grid.edge_of_point[point]]
        # Where a private way meets a public one, the public one is preferred.
        if flags & ENDS_ONLY:
            away_m += AT_NODE_M
        if away_m < nearest[0] and not flags & refused:
            nearest[0], nearest[1], nearest[2] = away_m, point, ratio


@kernel
def _find_gap_m(degrees, cell, width, metres):
    """Return the metres between a position and a row or column of cells, slightly reduced; 0 if inside."""
    return max(0.0, cell * width - degrees, degrees - (cell + 1) * width) * metres - AT_NODE_M


@entry
@kernel
def snap(graph, grid, lats, lons, limit_m, metres_per_degree, refused, nearest, found):
    """Find the nearest point on a way for each position, ignoring edges with a flag in ``refused``.

    Write to ``found`` the edge (-1: none within ``limit_m``), and the distances along it and to it in metres.
    """
    for index in range(len(lats)):
        lat, lon = lats[index], lons[index]
        east_m = metres_per_degree * math.cos(math.radians(lat))
        middle_y, middle_x = math.floor(lat / grid.cell_lat), math.floor(lon / grid.cell_lon)
        # The shorter side of a cell, in metres.
        cell_m = min(metres_per_degree * grid.cell_lat, grid.cell_lon * east_m)
        nearest[0], nearest[1], nearest[2] = limit_m, -1, 0.0
        ring = 0
        while (ring - 1) * cell_m < nearest[0]:
            for y in range(middle_y - ring, middle_y + ring + 1):
                if _find_gap_m(lat, y, grid.cell_lat, metres_per_degree) >= nearest[0]:
                    continue
                is_rim = abs(y - middle_y) == ring
                step = 1 if is_rim or ring == 0 else 2 * ring
                for x in range(middle_x - ring, middle_x + ring + 1, step):
                    if _find_gap_m(lon, x, grid.cell_lon, east_m) >= nearest[0]:
                        continue
                    cell = y * CELLS_PER_ROW + x
                    row = np.searchsorted(grid.cells, cell)
                    if row < len(grid.cells) and grid.cells[row] == cell:
                        _search_cell(graph, grid, row, lat, lon, metres_per_degree, east_m, refused, nearest)
            ring += 1
        point = int(nearest[1])
        found.edge[index] = -1
        found.away_m[index] = nearest[0]
        if point >= 0:
            found.edge[index] = grid.edge_of_point[point]
            length_m = graph.shape_m[point + 1] - graph.shape_m[point]
            found.offset_m[index] = graph.shape_m[point] + nearest[2] * length_m
