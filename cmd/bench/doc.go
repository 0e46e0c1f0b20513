// Command bench measures what Muster costs on this machine and prints one line per figure.
//
// Of solver and planner: the median, its limit, how it compares with a fixed piece of plain Go work measured in the same run
// (so that machines can be compared), the memory, and where known what Coopr took for the same.
//
// Of the engine (Linux, with redis-server and OpenSSH installed): whole operations through a real Redis, SQLite on disk
// and workers, beside a bare program that does the same and remembers nothing. What answers as a machine runs in a process
// of its own, so that it does not count.
//
// With -check it fails where a limit is passed.
package main
