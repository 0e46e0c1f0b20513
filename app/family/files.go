package family

import (
	"context"
	"io"
	"io/fs"
	"time"
)

// Reasons of errors about a file of a node.
const (
	FileMissing  = "file_missing"  // ENotFound: there is no such file or folder
	FileDenied   = "file_denied"   // EForbidden: the node's user may not
	FileExists   = "file_exists"   // EConflict: there is one of that name
	FileKind     = "file_kind"     // EInvalid: a folder, device or link where a file is needed, or the other way round
	FileDiskFull = "file_disk"     // ECapacity: the node's disk is full
	FileFailed   = "file_failed"   // EInvalid: the node refused for another reason
	FileNoSFTP   = "file_no_sftp"  // EInvalid: the node's SSH server doesn't offer SFTP
	FileTooLarge = "file_size"     // ETooLarge: more than may be uploaded
	FileStalled  = "file_stalled"  // ETimeout: nothing has moved for too long
	FileTransfer = "file_transfer" // ERateLimit: too many are being copied
)

// File is a file, folder or link of a node. Its name and target are what the node says: any bytes but "/".
type File struct {
	Name     string
	Mode     fs.FileMode
	Size     int64
	Modified time.Time
	Target   string // of a link
	Leads    bool   // a link to a folder
}

// FileOpener is a NodeConnection over which files are listed, read and written.
type FileOpener interface {
	// OpenFiles starts a session; Close it. EInvalid, reason FileNoSFTP, where the node doesn't offer SFTP.
	OpenFiles(ctx context.Context) (Files, error)
}

// Files are the files of a node, as its login user may use them. Paths are absolute. Errors about a path have one of the reasons above. The end of ctx
// ends the session.
type Files interface {
	// Home is the folder of the login user.
	Home(ctx context.Context) (string, error)
	// Stat describes what has a path, without following a link.
	Stat(ctx context.Context, path string) (File, error)
	// List returns what is in a folder, in no order. Of a very large folder it returns a part, and false.
	List(ctx context.Context, path string) (files []File, whole bool, err error)
	// Resolve adds to links what they lead to, as far as the node says so.
	Resolve(ctx context.Context, folder string, links []*File)
	// Read reads a file into what begin returns for it. Links are followed; what isn't a file is EInvalid, and never opened.
	Read(ctx context.Context, path string, begin func(f File) (io.Writer, error)) error
	// Create writes a file that mustn't exist, and returns its size. With a mode of 0 it
	// has the mode of other new files there. A failure leaves what was written.
	Create(ctx context.Context, path string, mode fs.FileMode, in io.Reader) (int64, error)
	// Move renames a file. Where the new path exists, it's replaced, or EConflict.
	Move(ctx context.Context, from, to string, replace bool) error
	// Remove removes a file.
	Remove(ctx context.Context, path string) error
	Close() error
}
