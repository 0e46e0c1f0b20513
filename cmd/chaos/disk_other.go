//go:build unix && !linux

package main

import "errors"

type smallDisk struct{}

func mountDisk(string) (*smallDisk, error) {
	return nil, errors.New("small disks are only supported on Linux")
}

func (*smallDisk) fill() (func() error, error) { return nil, errors.ErrUnsupported }

func (*smallDisk) close(string) error { return nil }
