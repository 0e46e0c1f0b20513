package app

// Who deletes without having been asked by a person.
const (
	Expirer = "lease"  // clusters whose lease has ended
	Retrier = "muster" // what could not be deleted before, and what is to be rolled back by itself
)
