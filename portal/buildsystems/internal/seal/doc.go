// Package seal looks at how deliveries are signed: HMACs in the form of each system, and Standard Webhooks, which several share. All compares
// take the same time whatever is given, and try every secret. Its errors are EUnauthorized for what is missing, wrong or too old, and
// EInvalid for headers that make no sense.
package seal
