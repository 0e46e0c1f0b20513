// Package plan is the contract of the planner: what it is asked, and the Plan that it answers with, steps in an order that they can be carried out in,
// with how long each is expected to take.
package plan
