package app

// HealthUser is in whose name Muster repairs by itself.
const HealthUser = "health"
