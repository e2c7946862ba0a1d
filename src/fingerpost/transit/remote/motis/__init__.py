"""Networks on MOTIS 2 servers, such as Transitous."""
