// Package fake is a whole cloud in memory, with delays, quotas and failures to order. It runs on a laptop, passes the
// family's suite first, and lets tests of the engine see what a real cloud does only on a bad day: calls that fail, calls
// whose effect happens though the answer is lost, calls that hang, machines that die, lists that lag behind.
//
// Its machines do not answer by themselves; Bind points them to an SSH server that a test has started, or to Nodes, which
// are such servers, each with a directory of its own. Serve returns an account to other processes, which it outlives.
package fake
