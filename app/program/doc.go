// Package program runs external programs that extend Muster, of any family: it finds them in a directory, checks who
// may have written them, limits what they see of Muster's environment, exchanges lines with them, ends everything that
// they started (Process), and lists those that are members of a family (Host). What the lines mean is up to the family.
// It uses app only.
package program
