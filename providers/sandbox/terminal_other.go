//go:build unix && !linux

package sandbox

import (
	"errors"
	"os/exec"
)

const haveTerminals = false

func (s *session) openTerminal(*exec.Cmd) (*plumbing, error) {
	return nil, errors.New("terminals are only supported on Linux")
}

func (s *session) resize(window) {}
