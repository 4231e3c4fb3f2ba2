"""The client of the server-side HTTP API, and the opaque values it relays."""
