"""What a lesson calls: the session, plays, panels, exercises, and the judges of own code."""
