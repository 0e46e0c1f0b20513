package fake

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// endMarked kills every process that has this in its environment, and what it starts meanwhile.
func endMarked(mark string) {
	for again := true; again; {
		again = false
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, f := range files {
			env, err := os.ReadFile(f)
			if err != nil || !bytes.Contains(append([]byte{0}, append(env, 0)...), []byte("\x00"+mark+"\x00")) {
				continue
			}
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
				again = true
			}
		}
	}
}
