// Package program is what programs of one's own have alike, of whatever family: how they are found in a directory, who may have written them, what they see of
// Muster's environment, and how all that they have started is ended.
package program
