// Command bench measures what Muster costs on this machine and prints one line per figure. Nothing is compared with numbers of another
// day or another machine: references are measured in the same run, in turn with Muster, several times (-runs), and a figure with a
// reference is the ratio of both in the same round, with its spread. A figure whose runs are far apart is marked as noisy.
//
// Of solver and planner: the median, its limit, and the memory.
//
// Of the engine (Linux, with redis-server and OpenSSH installed): whole operations through a queue, SQLite on disk and workers, beside a
// bare program that does the same and remembers nothing, a bare queue, bare rows, and Ansible and Terraform if they are installed. What
// answers as a machine runs in a process of its own, so that it does not count.
//
// Of the portal: first bytes and open pages in a tenant with 10,000 clusters, and reads of the API.
//
// With -check it fails where a limit is passed. With -json it writes all figures to a file. With -base it runs the bench of another
// commit and this one in turn, and says which figures differ by more than their spread.
//
// Each scenario has a short form (-short), which tests run.
package main
