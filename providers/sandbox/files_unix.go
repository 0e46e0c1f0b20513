//go:build unix

package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// fileServer is SFTP within one folder. Clients see the folder under the name that commands see it by, so that a path means
// the same to both; whatever lies outside of it is refused.
type fileServer struct {
	home string
	root *os.Root
}

// serveFiles speaks SFTP on a channel until the client ends it.
func serveFiles(ch ssh.Channel, home string) status {
	root, err := os.OpenRoot(home)
	if err != nil {
		return status{code: 1}
	}
	defer func() { _ = root.Close() }()
	f := &fileServer{home: home, root: root}
	s := sftp.NewRequestServer(ch, sftp.Handlers{FileGet: f, FilePut: f, FileCmd: f, FileList: f}, sftp.WithStartDirectory(home))
	err = s.Serve()
	_ = s.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		return status{code: 1}
	}
	return status{}
}

// local turns a client's path into one below the root.
func (f *fileServer) local(p string) (string, error) {
	if !path.IsAbs(p) {
		p = path.Join(f.home, p)
	}
	rel, err := filepath.Rel(f.home, path.Clean(p))
	if err != nil || !filepath.IsLocal(rel) {
		return "", os.ErrPermission
	}
	return rel, nil
}

// RealPath answers what a path is; "." is the folder itself.
func (f *fileServer) RealPath(p string) (string, error) {
	if !path.IsAbs(p) {
		p = path.Join(f.home, p)
	}
	return path.Clean(p), nil
}

// Fileread opens a file for reading.
func (f *fileServer) Fileread(r *sftp.Request) (io.ReaderAt, error) {
	p, err := f.local(r.Filepath)
	if err != nil {
		return nil, err
	}
	return f.root.Open(p)
}

// Filewrite opens a file for writing.
func (f *fileServer) Filewrite(r *sftp.Request) (io.WriterAt, error) { return f.OpenFile(r) }

// OpenFile opens a file for whatever the client says.
func (f *fileServer) OpenFile(r *sftp.Request) (sftp.WriterAtReaderAt, error) {
	p, err := f.local(r.Filepath)
	if err != nil {
		return nil, err
	}
	asked := r.Pflags()
	flags := os.O_RDONLY
	if asked.Write {
		flags = os.O_WRONLY
		if asked.Read {
			flags = os.O_RDWR
		}
	}
	// Append is not passed on: the client says where it writes, and Go refuses that on files opened for appending.
	for flag, on := range map[int]bool{os.O_CREATE: asked.Creat, os.O_TRUNC: asked.Trunc, os.O_EXCL: asked.Excl} {
		if on {
			flags |= flag
		}
	}
	mode := fs.FileMode(0o644)
	if r.AttrFlags().Permissions {
		mode = r.Attributes().FileMode().Perm()
	}
	return f.root.OpenFile(p, flags, mode)
}

// Filecmd changes something by name.
func (f *fileServer) Filecmd(r *sftp.Request) error {
	if r.Method == "Symlink" {
		link, err := f.local(r.Target)
		if err != nil {
			return err
		}
		return f.root.Symlink(r.Filepath, link) // what it points to is only text
	}
	p, err := f.local(r.Filepath)
	if err != nil {
		return err
	}
	switch r.Method {
	case "Setstat":
		return f.setAttributes(p, r)
	case "Mkdir":
		return f.root.Mkdir(p, 0o755)
	case "Remove", "Rmdir":
		return f.root.Remove(p)
	}
	target, err := f.local(r.Target)
	if err != nil {
		return err
	}
	switch r.Method {
	case "Rename":
		if _, err := f.root.Lstat(target); err == nil {
			return os.ErrExist // as the protocol has it; PosixRename replaces
		}
		return f.root.Rename(p, target)
	case "Link":
		return f.root.Link(p, target)
	}
	return sftp.ErrSSHFxOpUnsupported
}

// PosixRename renames and replaces what is there.
func (f *fileServer) PosixRename(r *sftp.Request) error {
	from, err := f.local(r.Filepath)
	if err != nil {
		return err
	}
	to, err := f.local(r.Target)
	if err != nil {
		return err
	}
	return f.root.Rename(from, to)
}

func (f *fileServer) setAttributes(p string, r *sftp.Request) error {
	has, a := r.AttrFlags(), r.Attributes()
	if has.Size {
		file, err := f.root.OpenFile(p, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		err = file.Truncate(int64(a.Size))
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	if has.Permissions {
		if err := f.root.Chmod(p, a.FileMode().Perm()); err != nil {
			return err
		}
	}
	if has.UidGid {
		if err := f.root.Chown(p, int(a.UID), int(a.GID)); err != nil {
			return err
		}
	}
	if has.Acmodtime {
		return f.root.Chtimes(p, a.AccessTime(), a.ModTime())
	}
	return nil
}

// Filelist lists a directory or describes a file.
func (f *fileServer) Filelist(r *sftp.Request) (sftp.ListerAt, error) {
	p, err := f.local(r.Filepath)
	if err != nil {
		return nil, err
	}
	if r.Method == "List" {
		dir, err := f.root.Open(p)
		if err != nil {
			return nil, err
		}
		defer func() { _ = dir.Close() }()
		infos, err := dir.Readdir(-1)
		return infoList(infos), err
	}
	info, err := f.root.Stat(p)
	if err != nil {
		return nil, err
	}
	return infoList{info}, nil
}

// Lstat describes a file without following a link.
func (f *fileServer) Lstat(r *sftp.Request) (sftp.ListerAt, error) {
	p, err := f.local(r.Filepath)
	if err != nil {
		return nil, err
	}
	info, err := f.root.Lstat(p)
	if err != nil {
		return nil, err
	}
	return infoList{info}, nil
}

// Readlink returns a link's text.
func (f *fileServer) Readlink(name string) (string, error) {
	p, err := f.local(name)
	if err != nil {
		return "", err
	}
	return f.root.Readlink(p)
}

// infoList is a list that is handed out piece by piece.
type infoList []os.FileInfo

// ListAt returns the entries from an offset on.
func (l infoList) ListAt(to []os.FileInfo, offset int64) (int, error) {
	if offset >= int64(len(l)) {
		return 0, io.EOF
	}
	n := copy(to, l[offset:])
	if n < len(to) {
		return n, io.EOF
	}
	return n, nil
}
