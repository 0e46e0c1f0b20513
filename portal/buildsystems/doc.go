// Package buildsystems is the list of the build systems whose deliveries Muster understands. A member is a package below this one; to be
// known it stands on the list in buildsystems.go. What the family promises is app.BuildSystems in app/build.go, the suite that every member
// passes is in buildsystemtest, and how to add one in README.md.
//
// Nothing here does input or output or reads a clock: headers and body come as arguments. A member looks at signatures and words of one
// system; limits, lengths, control characters and addresses are the same for all, and this package sees to them once. Errors are EUnauthorized
// for what is not signed rightly, EInvalid with Field for what is not as the system sends it, ETooLarge and ENotFound.
package buildsystems
