"""Between a back end and a real API: pass everything on, keep a redacted record, and compare it with the simulator."""
