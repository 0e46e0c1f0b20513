package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"muster/app"
)

// kubeconfigPath is the file that kubectl changes: the first one of $KUBECONFIG, or ~/.kube/config.
func kubeconfigPath() (string, error) {
	for _, file := range filepath.SplitList(os.Getenv("KUBECONFIG")) {
		if file != "" {
			return file, nil
		}
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".kube", "config"), err
}

// mergeKubeconfig merges a cluster's kubeconfig into a file, which no program of Kubernetes changes meanwhile: they use the same lock.
func mergeKubeconfig(file, source, value string, m mark, keepCurrent bool) (context string, err error) {
	from, err := readKubeconfig(source, []byte(value))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	unlock, err := lockKubeconfig(file)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	text, err := readBounded(file)
	if err != nil {
		return "", err
	}
	to, err := readKubeconfig(file, text)
	if err != nil {
		return "", err
	}
	if context, err = to.merge(from, source, m, keepCurrent); err != nil {
		return "", err
	}
	if text, err = to.bytes(); err != nil {
		return "", err
	}
	if _, err = readKubeconfig(file+" (merged)", text); err != nil {
		return "", err
	}
	return context, writeConfig(file, text)
}

// readBounded reads a file that may be missing, and no more of it than is needed to refuse it.
func readBounded(file string) ([]byte, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxKubeconfig+1))
}

// lockKubeconfig takes the lock as client-go does: by creating a file beside it.
func lockKubeconfig(file string) (unlock func() error, err error) {
	lock := file + ".lock"
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL, 0)
	if errors.Is(err, fs.ErrExist) {
		return nil, &app.Error{Code: app.EConflict, Message: fmt.Sprintf("another program is changing %s: %s exists", file, lock),
			Hint: "Nothing was changed. Try again, or delete the lock file if no such program is running."}
	}
	if err != nil {
		return nil, err
	}
	return func() error { return os.Remove(lock) }, f.Close()
}
