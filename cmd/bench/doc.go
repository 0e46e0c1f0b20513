// Command bench measures what solver and planner cost on this machine and prints one line per figure: the median, its
// limit, how it compares with a fixed piece of plain Go work measured in the same run (so that machines can be compared),
// the memory, and where known what Coopr took for the same. With -check it fails where a limit is passed.
package main
