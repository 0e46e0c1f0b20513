// Package program is what programs of one's own have alike, of whatever family: how they are found in a directory, who may have written them, what they see of
// Muster's environment, how lines go in and out and how all that they have started is ended (Process), and which of them are members of a family (Host). What the
// lines say is the family's protocol. It uses app only.
package program
