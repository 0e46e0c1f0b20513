//go:build !unix

package doctor

import (
	"errors"
	"io/fs"
)

func othersOwn(fs.FileInfo) (owner string, other bool) { return "", false }

func room(string) (free, total int64, err error) { return 0, 0, errors.ErrUnsupported }

func openFiles() (int64, error) { return 0, errors.ErrUnsupported }
