// Package cel evaluates the CEL in policies and in rules of build hooks: it compiles and checks expressions and runs
// them on the facts of a request. It keeps no policies; how their results are combined is decided by policy.Decide.
//
// Errors of Check are EInvalid with the field, and the message has line and column. Errors of Judge mean that it is
// unknown whether a policy applies, and the request is refused. Both are bounded: in the length and depth of
// expressions, and in the cost and time of an evaluation.
package cel
