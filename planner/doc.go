// Package planner orders the work of an operation: it turns nodes, services and their dependencies into a graph of
// steps, with the reason for each need and an estimate of how long all of it takes. It also draws plans, as text that
// people like to read and for Graphviz.
//
// It is pure: no clock, no randomness, no input or output but the writer that a drawing goes to. The same question
// gets the same plan, byte for byte, so that a plan's hash can be approved.
//
// The rules are Coopr's, without its stages: a step waits for what it depends on and for nothing else. Where we do
// better:
//
//   - services that wait for each other are refused (EInvalid, reason "cycle") by name; Coopr dropped their order;
//   - a node without services is created, confirmed and bootstrapped like the others; Coopr planned nothing for it;
//   - no service action starts before every machine is confirmed whose name or address the configuration speaks of, so
//     that expanding its macros cannot fail half-way;
//   - "all of these before all of those" is one join step and not a product of edges;
//   - where a service says how to see that it is healthy, what depends on it waits for that.
//
// Changes of running clusters go in waves: new nodes, work on nodes that stay, nodes that go (see update). A rollback undoes
// another operation, last things first (see rollBack).
package planner
