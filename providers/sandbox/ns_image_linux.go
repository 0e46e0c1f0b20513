package sandbox

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// programTrees are the host's directories (or, with merged /usr, symbolic links) that hold programs.
var programTrees = []string{"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"}

// hostEtc is all that the image host takes of the host's /etc: what programs need to start. It is a list of what is let
// through, because the rest of /etc is full of secrets.
var hostEtc = []string{
	"alternatives", "bash.bashrc", "ca-certificates", "ca-certificates.conf", "debian_version", "ethertypes", "inputrc",
	"java-*", "java", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "login.defs", "lsb-release", "magic", "magic.mime",
	"mime.types", "networks", "os-release", "perl", "pki/ca-trust/extracted", "pki/tls/cert.pem", "pki/tls/certs", "protocols", "python3*",
	"redhat-release", "services", "shells", "skel", "ssl/cert.pem", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone",
}

// baseDirs are the empty directories of the image host.
var baseDirs = map[string]fs.FileMode{
	"dev": 0o755, "proc": 0o755, "sys": 0o755, "run": 0o755, "tmp": 0o777 | fs.ModeSticky, "root": 0o700, "home": 0o755,
	"opt": 0o755, "srv": 0o755, "mnt": 0o755, "media": 0o755, "etc": 0o755, "var": 0o755, "var/backups": 0o755, "var/cache": 0o755,
	"var/empty": 0o755, "var/lib": 0o755, "var/local": 0o755, "var/log": 0o755, "var/mail": 0o755, "var/opt": 0o755,
	"var/spool": 0o755, "var/tmp": 0o777 | fs.ModeSticky,
}

// hostBase returns the name, in the data directory, of the lower directory of machines made from this host: a root without programs. It is built when it is
// first needed, and again when what it was built from has changed.
func (l layout) hostBase(ctx context.Context) (string, error) {
	name := "host-" + hostPrint()
	base := filepath.Join(l.dir, name)
	if _, err := os.Stat(base); err == nil {
		return name, nil
	}
	unlock, err := lockFile(ctx, l.lock())
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(base); err == nil {
		return name, nil
	}
	build, err := os.MkdirTemp(l.trash(), "host-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(build) }()
	if err := os.Chmod(build, 0o755); err != nil {
		return "", err
	}
	if err := buildHostBase(build); err != nil {
		return "", err
	}
	return name, os.Rename(build, base)
}

// dropBases removes those that machines were built on, which must all be gone, except the one that still fits.
func (l layout) dropBases() {
	bases, _ := filepath.Glob(filepath.Join(l.dir, "host-*"))
	for _, b := range bases {
		if b != filepath.Join(l.dir, "host-"+hostPrint()) {
			_ = os.RemoveAll(b)
		}
	}
}

// hostPrint changes when the host's programs or accounts did, by the times of the files that go along with that.
func hostPrint() string {
	h := sha256.New()
	_, _ = io.WriteString(h, "1\n") // the version of this code's result
	for _, f := range []string{"ld.so.cache", "alternatives", "passwd", "group", "ssl/certs", "os-release", "localtime"} {
		if info, err := os.Stat("/etc/" + f); err == nil {
			_, _ = fmt.Fprintln(h, f, info.Size(), info.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

func buildHostBase(root string) error {
	for _, d := range slices.Sorted(maps.Keys(baseDirs)) {
		path := filepath.Join(root, d)
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(path, baseDirs[d]); err != nil {
			return err
		}
	}
	for _, tree := range programTrees {
		if err := copyTreeTop(root, tree); err != nil {
			return err
		}
	}
	for link, target := range map[string]string{"var/run": "/run", "var/lock": "/run/lock", "etc/mtab": "/proc/self/mounts"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			return err
		}
	}
	for _, pattern := range hostEtc {
		matches, err := filepath.Glob("/etc/" + pattern)
		if err != nil {
			return err
		}
		for _, m := range matches {
			if err := copyTree(m, filepath.Join(root, m)); err != nil {
				return err
			}
		}
	}
	return writeAccounts(root)
}

// copyTreeTop makes a place for a tree of programs, or the same symbolic link as the host has.
func copyTreeTop(root, tree string) error {
	info, err := os.Lstat("/" + tree)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := os.Readlink("/" + tree)
		if err != nil {
			return err
		}
		return os.Symlink(target, filepath.Join(root, tree))
	}
	return os.Mkdir(filepath.Join(root, tree), 0o755)
}

// copyTree copies regular files that everyone may read, directories and symbolic links (as they are).
func copyTree(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(path, from)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case d.Type() == fs.ModeSymlink:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case d.Type().IsRegular() && info.Mode()&0o004 != 0:
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(target, content, info.Mode().Perm())
		}
		return nil
	})
}

// writeAccounts writes the account files: root and the host's system accounts, none with a password.
func writeAccounts(root string) error {
	shell := "/bin/sh"
	if _, err := os.Stat("/bin/bash"); err == nil {
		shell = "/bin/bash"
	}
	passwd := []string{"root:x:0:0:root:/root:" + shell}
	shadow := []string{"root:*:19000:0:99999:7:::"}
	for _, f := range systemEntries("/etc/passwd", 7) {
		passwd = append(passwd, strings.Join(append([]string{f[0], "x"}, f[2:]...), ":"))
		shadow = append(shadow, f[0]+":*:19000:0:99999:7:::")
	}
	if !hasEntry(passwd, "sshd") {
		passwd = append(passwd, "sshd:x:74:65534::/run/sshd:/usr/sbin/nologin")
		shadow = append(shadow, "sshd:*:19000:0:99999:7:::")
	}
	group := []string{"root:x:0:"}
	for _, f := range systemEntries("/etc/group", 4) {
		group = append(group, f[0]+":x:"+f[2]+":") // members may be people
	}
	for path, lines := range map[string][]string{"passwd": passwd, "shadow": shadow, "group": group} {
		if err := writeLines(filepath.Join(root, "etc", path), lines); err != nil {
			return err
		}
	}
	if err := os.Chmod(filepath.Join(root, "etc/shadow"), 0o640); err != nil {
		return err
	}
	const profile = "export PATH=" + nodePath + "\n"
	const names = "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\nprotocols: files\nservices: files\n"
	for path, content := range map[string]string{"profile": profile, "nsswitch.conf": names, "resolv.conf": "", "fstab": "",
		"../var/log/lastlog": "", "../var/log/wtmp": "", "../var/log/btmp": ""} {
		if err := os.WriteFile(filepath.Join(root, "etc", path), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// systemEntries returns the entries of passwd or group that belong to the system rather than to people, save root's.
func systemEntries(path string, fields int) [][]string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	var out [][]string
	for s := bufio.NewScanner(f); s.Scan(); {
		e := strings.Split(s.Text(), ":")
		if len(e) != fields {
			continue
		}
		if id, err := strconv.Atoi(e[2]); err == nil && (id > 0 && id < 1000 || id == 65534) {
			out = append(out, e)
		}
	}
	return out
}

func hasEntry(lines []string, name string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, name+":") })
}

func writeLines(path string, lines []string) error {
	return os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}
