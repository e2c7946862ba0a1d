"""The only room that speaks HTTP outwards: one client, polite and bounded, that lets no key escape."""
