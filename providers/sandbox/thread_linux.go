package sandbox

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// onThread runs f on an operating-system thread that is thrown away afterwards, so that f may move it to other
// namespaces. All that f does on its own goroutine happens there; goroutines that it starts run elsewhere.
func onThread(f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if unix.Gettid() == os.Getpid() {
			// The first thread is the whole process in /proc and is never thrown away. While this goroutine
			// keeps it busy, the next one gets another.
			result <- onThread(f)
			runtime.UnlockOSThread()
			return
		}
		result <- f()
	}()
	return <-result
}
