// Package house sets up a Muster that nobody works in: a database, the use cases and the portal, with the people, rules and clusters of
// a company in it, made by the use cases as those people would. Nothing runs by itself, no machine is ever made, and the clock is the
// caller's. It serves what measures pages, what counts their queries, and what takes pictures of them.
package house
