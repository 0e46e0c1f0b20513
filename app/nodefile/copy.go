package nodefile

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"unicode"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/sshaccess"
)

// DownloadNodeFile writes a file of a node to what begin returns for it, to those who may use the cluster. Before, the download is in the audit log. Errors
// are those of NodeFiles; ETimeout, reason family.FileStalled, where nothing moves.
func (s *Service) DownloadNodeFile(ctx context.Context, actor app.Actor, at At, begin func(f family.File) (io.Writer, error)) error {
	const useCase = "DownloadNodeFile"
	n, err := s.find(ctx, actor, useCase, at)
	if err != nil {
		return err
	}
	done, err := s.room(actor, "copy")
	if err != nil {
		return err
	}
	defer done()
	ctx, moved, stop := s.watch(ctx, actor, useCase, at)
	defer stop()
	l, err := s.connect(ctx, actor, n)
	if err != nil {
		return cause(ctx, err)
	}
	defer l.Close()
	p, err := l.absolute(ctx, at.Path)
	if err != nil {
		return cause(ctx, err)
	}
	return cause(ctx, l.Read(ctx, p, func(f family.File) (io.Writer, error) {
		if err := s.audit(ctx, actor, "file.download", n, p); err != nil {
			return nil, err
		}
		w, err := begin(f)
		return &moving{w: w, moved: moved}, err
	}))
}

// moving says that bytes move.
type moving struct {
	w     io.Writer
	r     io.Reader
	moved func()
}

// Write implements io.Writer.
func (m *moving) Write(p []byte) (int, error) {
	n, err := m.w.Write(p)
	m.moved()
	return n, err
}

// Read implements io.Reader.
func (m *moving) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.moved()
	return n, err
}

// Upload is a file to be written to a folder of a node.
type Upload struct {
	Folder  At
	Name    string
	Replace bool // a file of that name
}

// tempPrefix begins the names of uploads that haven't ended.
const tempPrefix = ".muster-upload-"

// UploadNodeFile writes a file to a folder of a node, for those who may use the cluster, and returns its path. The content is in a file of another
// name in the same folder until all of it has arrived, and is removed where it doesn't. Then the upload is in the audit log, and the file takes its
// name. EConflict, reason family.FileExists, where there is one already; ETooLarge where it's larger than MaxUpload; other errors are those of
// NodeFiles.
func (s *Service) UploadNodeFile(ctx context.Context, actor app.Actor, u Upload, content io.Reader) (string, error) {
	const useCase = "UploadNodeFile"
	n, err := s.find(ctx, actor, useCase, u.Folder)
	if err != nil {
		return "", err
	}
	if err := checkName(u.Name); err != nil {
		return "", err
	}
	done, err := s.room(actor, "copy")
	if err != nil {
		return "", err
	}
	defer done()
	ctx, moved, stop := s.watch(ctx, actor, useCase, u.Folder)
	defer stop()
	l, err := s.connect(ctx, actor, n)
	if err != nil {
		return "", cause(ctx, err)
	}
	defer l.Close()
	folder, err := l.absolute(ctx, u.Folder.Path)
	if err != nil {
		return "", cause(ctx, err)
	}
	to := path.Join(folder, u.Name)
	mode, err := l.place(ctx, to, u.Replace)
	if err != nil {
		return "", cause(ctx, err)
	}
	temp := path.Join(folder, tempPrefix+strings.ToLower(rand.Text()))
	err = s.write(ctx, actor, l, n, temp, to, mode, u.Replace, &bounded{r: &moving{r: content, moved: moved}, left: s.set.size, name: u.Name, most: s.set.size})
	if err != nil {
		s.tidy(ctx, actor, l, n, temp)
		return "", cause(ctx, err)
	}
	return to, nil
}

// write writes a file of a temporary name, and then renames it.
func (s *Service) write(ctx context.Context, actor app.Actor, l link, n sshaccess.Node, temp, to string, mode fs.FileMode, replace bool, in io.Reader) error {
	if _, err := l.Create(ctx, temp, mode, in); err != nil {
		return err
	}
	if why := s.Nodes.StillMay(ctx, actor, "UploadNodeFile", n.Cluster.ID, n.Node.Name); why != nil {
		return why
	}
	if err := s.audit(ctx, actor, "file.upload", n, to); err != nil {
		return err
	}
	return l.Move(ctx, temp, to, replace)
}

// place refuses paths that a file can't take, and returns the permissions of the file that is replaced.
func (l link) place(ctx context.Context, to string, replace bool) (fs.FileMode, error) {
	f, err := l.Stat(ctx, to)
	name := humanize.FileName(to)
	switch {
	case app.AsError(err).Reason == family.FileMissing && err != nil:
		return 0, nil
	case err != nil:
		return 0, err
	case !f.Mode.IsRegular():
		return 0, &app.Error{Code: app.EConflict, Reason: family.FileKind, Message: name + " already exists, and isn't a file. Only files can be replaced.",
			Hint: "Choose another name or folder."}
	case !replace:
		return 0, &app.Error{Code: app.EConflict, Reason: family.FileExists, Message: name + " already exists.",
			Hint: "To overwrite it, choose Replace existing files."}
	}
	return f.Mode.Perm(), nil
}

// tidy removes what is left of an upload, over a new connection where the old one was lost. Its user may have gone.
func (s *Service) tidy(ctx context.Context, actor app.Actor, l link, n sshaccess.Node, temp string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
	defer cancel()
	_ = l.Files.Close()
	if opener, ok := l.conn.(family.FileOpener); ok {
		if files, err := opener.OpenFiles(ctx); err == nil {
			err := files.Remove(ctx, temp)
			_ = files.Close()
			if err == nil || app.AsError(err).Reason == family.FileMissing {
				return
			}
		}
	}
	if again, err := s.connect(ctx, actor, n); err == nil {
		_ = again.Remove(ctx, temp)
		again.Close()
	}
}

// checkName refuses names of new files that are paths, or that no one could type.
func checkName(name string) error {
	e := &app.Error{Code: app.EInvalid, Field: "file", Message: "The file needs a name that the node can use.", Hint: "Rename it, then upload it again."}
	switch {
	case name == "":
		e.Message, e.Hint = "Choose a file.", ""
	case name == ".", name == "..", strings.ContainsAny(name, "/\x00"):
		e.Message = fmt.Sprintf("%s isn't a name for a file.", strconv.Quote(name))
	case len(name) > maxName:
		e.Message = fmt.Sprintf("The name of a file can have at most %d bytes, not %d.", maxName, len(name))
	case strings.ContainsFunc(name, unicode.IsControl):
		e.Message = humanize.FileName(name) + " has control characters in its name."
	default:
		return nil
	}
	return e
}

// bounded is a reader that fails where there is more.
type bounded struct {
	r    io.Reader
	left int64
	most int64
	name string
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, &app.Error{Code: app.ETooLarge, Reason: family.FileTooLarge, Field: "file",
			Message: fmt.Sprintf("%s is larger than %s.", humanize.FileName(b.name), humanize.Bytes(b.most)), Hint: "Copy larger files with muster cluster cp."}
	}
	return n, err
}
