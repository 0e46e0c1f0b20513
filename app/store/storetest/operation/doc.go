// Package operation has the cases of every store about operations that people stop, pause, resume, roll back and follow with others: what
// is called off changes nothing, and a delete takes over from everything. It uses kit.
package operation
