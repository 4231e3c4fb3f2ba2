"""Does an extension keep the wallet's limits? Measured, recorded, simulated or planned: one verdict."""
