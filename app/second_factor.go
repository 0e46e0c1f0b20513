package app

// FactorKind is what a person shows beside the password.
type FactorKind string

// Reasons of errors about second factors.
const (
	SecondFactorReason = "second_factor" // the password is right, and a second factor is needed
	MustAddReason      = "must_add_second_factor"
)
