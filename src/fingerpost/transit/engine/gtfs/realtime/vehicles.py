"""Reads vehicle positions: occupancy, and when the vehicle was last seen."""

from google.transit.gtfs_realtime_pb2 import VehiclePosition

from fingerpost.transit.engine.gtfs.realtime.messages import find_vehicle_name
from fingerpost.transit.engine.timetable.overlay import VehicleReport

_SILENT = VehiclePosition.OccupancyStatus.NO_DATA_AVAILABLE


def read_vehicle(position: VehiclePosition, updated: int) -> VehicleReport:
    status = position.occupancy_status if position.HasField("occupancy_status") else _SILENT
    return VehicleReport(
        updated=updated,
        vehicle=find_vehicle_name(position.vehicle),
        occupancy=None if status == _SILENT else VehiclePosition.OccupancyStatus.Name(status),
        occupancy_percent=position.occupancy_percentage if position.HasField("occupancy_percentage") else None,
    )
