package nodefile

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"

	"muster/app"
	"muster/app/family"
)

// Folder is what is in a folder of a node.
type Folder struct {
	User  string // who the node is signed in to as
	Path  string // from the root
	Files []family.File
	Found int  // how many there are
	Whole bool // false: the node has more than were read
}

// NodeFiles lists a folder of a node, folders first, to those who may use the cluster. ENotFound where there is no cluster, node or folder; EConflict where
// there is no machine; errors about the folder have a reason of family's. The path is returned with those, too.
func (s *Service) NodeFiles(ctx context.Context, actor app.Actor, at At) (Folder, error) {
	f := Folder{Path: at.Path}
	n, err := s.find(ctx, actor, "NodeFiles", at)
	if err != nil {
		return f, err
	}
	f.User = cmp.Or(n.Node.SSHUser, "root")
	done, err := s.room(actor, "list")
	if err != nil {
		return f, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	l, err := s.connect(ctx, actor, n)
	if err != nil {
		return f, err
	}
	defer l.Close()
	if f.Path, err = l.absolute(ctx, at.Path); err != nil {
		return f, err
	}
	all, whole, err := l.List(ctx, f.Path)
	if err != nil {
		return f, err
	}
	f.Found, f.Whole = len(all), whole
	slices.SortFunc(all, byName) // which are shown of many is by their own kind, before links are followed
	f.Files = all[:min(len(all), MaxShown)]
	var links []*family.File
	for i := range f.Files {
		if f.Files[i].Mode&fs.ModeSymlink != 0 {
			links = append(links, &f.Files[i])
		}
	}
	l.Resolve(ctx, f.Path, links)
	slices.SortFunc(f.Files, byName)
	return f, nil
}

// IsFolder reports whether a file can be listed.
func IsFolder(f family.File) bool { return f.Mode.IsDir() || f.Leads }

// byName puts folders first.
func byName(a, b family.File) int {
	if x, y := IsFolder(a), IsFolder(b); x != y {
		if x {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Name, b.Name)
}

// Parent is the folder that a path is in; "" for the root.
func Parent(p string) string {
	if p == "/" || p == "" {
		return ""
	}
	return path.Dir(p)
}
