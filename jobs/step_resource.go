package jobs

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"muster/app"
	"muster/app/archive"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/resource"
	"muster/app/template"
	"muster/jobs/cache"
)

// unpackedResource is a resource as it lies on a node: unpacked in a directory that is named by all that it depends on, so what is there already need not
// be brought again, and is never written to.
type unpackedResource struct {
	template.ResourceRef
	place string
}

// layoutOnNode changes when the way does in which resources lie on nodes.
const layoutOnNode = "1"

func placesOf(refs []template.ResourceRef) (all []unpackedResource, set string) {
	h := sha256.New()
	for _, r := range refs {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %o %s %s", layoutOnNode, r.Format, r.Mode, r.Name, r.Hash))
		p := unpackedResource{r, hex.EncodeToString(sum[:16])}
		fmt.Fprintln(h, p.Name, p.place)
		all = append(all, p)
	}
	return all, "set-" + hex.EncodeToString(h.Sum(nil)[:16])
}

// resourceRoot finds the directory of resources. It is the same on every node for the same user, beside the state of services.
const resourceRoot = `if [ -n "${MUSTER_STATE_ROOT-}" ]; then muster_root=$MUSTER_STATE_ROOT
elif [ -O / ] 2>/dev/null || [ "$(id -u)" = 0 ]; then muster_root=/var/lib/muster
else muster_root=$HOME/.muster; fi
umask 022
muster_root=$muster_root/.resources
mkdir -p "$muster_root" || exit 1
`

// bring sees to it that a step's resources lie on its node, and returns the directory in which they are found by name. A node that has
// them already costs one command.
func (w *actions) bring(ctx context.Context, as *execution.Assignment, sh family.Shell, out family.Output) (dir string, err error) {
	refs := as.Call.Resources
	if len(refs) == 0 {
		return "", nil
	}
	from, ok := w.Coordinator.(execution.ResourceFetcher)
	if !ok || w.Resources == nil {
		return "", app.Errorf(app.EInvalid, "This worker doesn't store resources.")
	}
	places, set := placesOf(refs)
	n := &onNode{ctx: ctx, sh: sh, sudo: true}
	said, err := n.run(lookLine(places, set), nil)
	if err != nil {
		return "", err
	}
	missing := map[string]bool{}
	for _, line := range said {
		if root, ok := strings.CutPrefix(line, "root "); ok {
			dir = root + "/" + set
		} else if place, ok := strings.CutPrefix(line, "missing "); ok {
			missing[place] = true
		}
	}
	if dir == "" {
		return "", app.Errorf(app.ETransient, "The node didn't report its resource directory.")
	}
	if len(missing) == 0 {
		return dir, nil
	}
	for _, p := range places {
		if !missing[p.place] {
			continue
		}
		if err := w.put(ctx, as, from, n, p, out); err != nil {
			return "", err
		}
	}
	_, err = n.run(linkLine(places, set), nil)
	return dir, err
}

// put brings one resource.
func (w *actions) put(ctx context.Context, as *execution.Assignment, from execution.ResourceFetcher, n *onNode, p unpackedResource, out family.Output) error {
	f := cache.Fetch{From: from, As: as, ID: w.id(), Ref: p.ResourceRef, Cache: w.Resources}
	file, fetched, err := f.Open(ctx)
	if err != nil {
		return err
	}
	defer file.Close()
	where := "from this worker's disk"
	if fetched {
		where = "from the server"
	}
	out(family.StreamSystem, fmt.Sprintf("Copying resource %s (%s) to the node, %s.", p.ResourceRef, humanize.Bytes(p.Size), where))
	_, err = n.run(unpackLine(p), func() io.ReadCloser { return pour(ctx, file, p) })
	return err
}

// pour returns a resource as a plain tar: what leads out of it, or grows beyond bounds, ends the stream. Its last entry says that all came before.
func pour(ctx context.Context, file *os.File, p unpackedResource) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		t := tar.NewWriter(w)
		s := archive.Source{R: file, Size: p.Size, Name: p.Name}
		var err error
		if p.Format == resource.FormatArchive {
			if err = archive.Folder(p.Name, t); err == nil {
				err = archive.Rewrite(ctx, s, p.Name, t)
			}
		} else {
			mode := fs.FileMode(p.Mode)
			if mode == 0 {
				mode = 0o644
			}
			err = archive.File(s, "", p.Name, mode, t)
		}
		if err == nil {
			err = archive.File(archive.Source{R: strings.NewReader(p.place), Size: int64(len(p.place))}, "", ".complete", 0o444, t)
		}
		if err == nil {
			err = t.Close()
		}
		w.CloseWithError(err)
	}()
	return r
}

func lookLine(places []unpackedResource, set string) string {
	var b strings.Builder
	b.WriteString(resourceRoot + "echo \"root $muster_root\"\nmuster_gone=\n")
	for _, p := range places {
		fmt.Fprintf(&b, "[ -f \"$muster_root/%s/.complete\" ] || { echo missing %s; muster_gone=1; }\n", p.place, p.place)
	}
	// Where only the names by which they are found are gone, they are made at once.
	fmt.Fprintf(&b, "if [ -z \"$muster_gone\" ] && [ ! -d \"$muster_root/%s\" ]; then\n%sfi\nexit 0\n", set, links(places, set))
	return b.String()
}

func unpackLine(p unpackedResource) string {
	return resourceRoot + fmt.Sprintf(`muster_to=$muster_root/%s
muster_new=$muster_root/.new-%s.$$
trap 'rm -rf "$muster_new"' EXIT
trap 'exit 143' HUP INT TERM
command -v tar >/dev/null || { echo "tar is missing" >&2; exit 1; }
rm -rf "$muster_new" && mkdir "$muster_new" && tar -x -o -f - -C "$muster_new" || exit 1
[ -f "$muster_new/.complete" ] || { echo "the transfer is incomplete" >&2; exit 1; }
if [ -e "$muster_to" ]; then
[ ! -f "$muster_to/.complete" ] || exit 0
rm -rf "$muster_to"
fi
mv "$muster_new" "$muster_to"
`, p.place, p.place)
}

func links(places []unpackedResource, set string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "muster_new=$muster_root/.new-%s.$$\nrm -rf \"$muster_new\" && mkdir \"$muster_new\" || exit 1\n", set)
	for _, p := range places {
		fmt.Fprintf(&b, "ln -s ../%s/%s \"$muster_new/%s\" || exit 1\n", p.place, p.Name, p.Name)
	}
	fmt.Fprintf(&b, "if [ -d \"$muster_root/%s\" ]; then rm -rf \"$muster_new\"; else mv \"$muster_new\" \"$muster_root/%s\" || exit 1; fi\n", set, set)
	return b.String()
}

func linkLine(places []unpackedResource, set string) string {
	return resourceRoot + links(places, set) + "exit 0\n"
}

// onNode runs commands as automators do: with root rights where they can be had.
type onNode struct {
	ctx  context.Context
	sh   family.Shell
	sudo bool
}

func (n *onNode) run(line string, in func() io.ReadCloser) (said []string, err error) {
	do := func() (int, string, error) {
		said = nil
		last := ""
		c := family.Command{Line: line, Sudo: n.sudo}
		if in != nil {
			r := in()
			defer r.Close()
			c.Stdin = r
		}
		exit, err := n.sh.Run(n.ctx, c, func(s app.Stream, line string) {
			if s == family.StreamOut && len(said) < 1000 {
				said = append(said, line)
			} else if s == family.StreamErr && strings.TrimSpace(line) != "" {
				last = strings.TrimSpace(line)
			}
		})
		return exit, last, err
	}
	exit, last, err := do()
	if n.sudo && app.CodeOf(err) == app.ECredentials {
		n.sudo = false
		exit, last, err = do()
	}
	if err != nil {
		return nil, fmt.Errorf("resources: %w", err)
	}
	if exit == 0 {
		return said, nil
	}
	e := &app.Error{Code: app.EScript, Reason: "resource", Message: "Can't copy a resource to the node: " + last, Hint: "The node needs tar, and free space in /var/lib/muster or the user's home."}
	if last == "" {
		e.Message = fmt.Sprintf("Can't copy a resource to the node: exit code %d.", exit)
	}
	return nil, e
}
