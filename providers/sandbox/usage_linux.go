package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// countProcesses counts the processes of a data directory's machines: those in the process namespaces of some, those that are marked as
// another's, and those that work in a machine's directory.
func countProcesses(l layout) (n int) {
	ids, err := l.ids()
	if err != nil || len(ids) == 0 {
		return 0
	}
	marks, spaces := map[string]bool{}, map[string]bool{}
	for _, id := range ids {
		marks[id] = true
		if r, err := l.load(id); err == nil && r.Init.alive() {
			if space, err := os.Readlink("/proc/" + strconv.Itoa(r.Init.PID) + "/ns/pid"); err == nil {
				spaces[space] = true
			}
		}
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0
	}
	nodes := l.nodes()
	for _, proc := range processes {
		if len(spaces) > 0 {
			if space, err := os.Readlink(proc + "/ns/pid"); err == nil && spaces[space] {
				n++
				continue
			}
		}
		if markedAs(proc, marks) {
			n++
		} else if cwd, err := os.Readlink(proc + "/cwd"); err == nil && within(cwd, nodes) {
			n++
		}
	}
	return n
}

// markedAs reports whether a process's environment says that it is of one of the machines.
func markedAs(proc string, ids map[string]bool) bool {
	environ, err := os.ReadFile(proc + "/environ")
	if err != nil {
		return false
	}
	_, after, found := bytes.Cut(environ, []byte(nodeVariable+"="))
	if !found {
		return false
	}
	id, _, _ := bytes.Cut(after, []byte{0})
	return ids[string(id)]
}
