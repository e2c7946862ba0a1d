"""Networks behind MOTIS 2 servers, such as Transitous."""
