// Package terminal keeps which terminals people have opened on nodes, and what was shown in them.
package terminal
