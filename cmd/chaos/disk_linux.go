package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// smallDisk is a file system of its own that can be full.
type smallDisk struct{ dir string }

// diskSize is plenty for the database of a run.
const diskSize = "512m"

// mountDisk makes a directory a small disk; the error says why not.
func mountDisk(dir string) (*smallDisk, error) {
	if os.Getenv(insideVariable) == "" {
		return nil, errors.New("mounting a small disk requires root and its own mount namespace")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "mode=0700,size="+diskSize); err != nil {
		return nil, fmt.Errorf("can't mount a small disk: %w", err)
	}
	return &smallDisk{dir}, nil
}

// fill takes all that is left; the returned function frees it.
func (d *smallDisk) fill() (free func() error, err error) {
	name := filepath.Join(d.dir, "full")
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	block := make([]byte, 1<<20)
	for len(block) >= 512 {
		if _, err = f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
	_ = f.Close()
	if !errors.Is(err, syscall.ENOSPC) {
		return nil, errors.Join(err, os.Remove(name))
	}
	return func() error { return os.Remove(name) }, nil
}

// close returns the disk up after what is on it was copied to another place ("": nowhere).
func (d *smallDisk) close(copyTo string) error {
	var err error
	if copyTo != "" {
		err = copyFiles(d.dir, copyTo)
	}
	return errors.Join(err, syscall.Unmount(d.dir, syscall.MNT_DETACH))
}

// copyFiles copies the plain files of one directory, so that the database can be looked at later.
func copyFiles(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		in, err := os.Open(filepath.Join(from, e.Name()))
		if err != nil {
			return err
		}
		out, err := os.OpenFile(filepath.Join(to, e.Name()), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err == nil {
			_, err = io.Copy(out, in)
			err = errors.Join(err, out.Close())
		}
		_ = in.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
