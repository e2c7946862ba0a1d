"""What a ride costs: what feeds say of it, and how that is put together for a whole trip."""
