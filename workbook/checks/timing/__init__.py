"""How long things take, against the wallet's limits."""
