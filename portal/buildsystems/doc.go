// Package buildsystems is the list of build systems whose deliveries Muster understands. A member is a package below
// this one and an entry in buildsystems.go. The contract is build.Systems in app/build, the suite that every
// member passes is in buildsystemtest, and README.md says how to add one.
//
// Nothing here does input or output or reads a clock: headers and body are arguments. A member checks the signature and
// reads the payload of one system; limits, lengths, control characters and addresses are the same for all and are
// checked once, in this package. Errors are EUnauthorized for a wrong signature, EInvalid with Field for a payload that
// isn't as the system sends it, ETooLarge and ENotFound.
package buildsystems
