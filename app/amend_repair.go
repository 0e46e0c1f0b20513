package app

// LostMachines is how the message of a cluster begins of which machines are gone.
const LostMachines = "Lost machines: "
