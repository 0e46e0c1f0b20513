// Package cel understands the CEL in policies: it compiles and checks expressions, and evaluates them on the facts of a
// request. It keeps no policies and decides nothing by itself; app.Decide has the rule by which they come together.
//
// Errors of Check are EInvalid, with the field, and line and column in the message. Those of Judge say that nobody can tell
// whether a policy applies: what was asked for is then refused. Both are bounded: in the length and depth of expressions,
// in the cost of an evaluation, and in its time.
package cel
