package payload

import (
	"net/url"
	"strings"
)

// Ref splits a Git reference: refs/heads/main is the branch main, refs/tags/v1 the tag v1. Anything else counts as a branch.
func Ref(ref string) (branch, tag string) {
	if t, ok := strings.CutPrefix(ref, "refs/tags/"); ok {
		return "", t
	}
	return strings.TrimPrefix(ref, "refs/heads/"), ""
}

// Repository returns host and path of a repository's URL (https, ssh or git@host:path), without .git and with the host in lower case; ""
// if it isn't one.
func Repository(address string) (host, path string) {
	if !strings.Contains(address, "://") {
		// user@host:path
		at, rest, ok := strings.Cut(address, ":")
		if !ok || strings.Contains(at, "/") {
			return "", ""
		}
		host, path = at[strings.LastIndex(at, "@")+1:], rest
	} else {
		u, err := url.Parse(address)
		if err != nil {
			return "", ""
		}
		host, path = u.Hostname(), u.Path
	}
	return strings.ToLower(host), strings.TrimSuffix(strings.Trim(path, "/"), ".git")
}

// SameRepository reports whether two URLs name the same repository; false if one is invalid.
func SameRepository(a, b string) bool {
	ah, ap := Repository(a)
	bh, bp := Repository(b)
	return ap != "" && ah == bh && strings.EqualFold(ap, bp)
}

// None reports whether a commit is the zero commit, as in pushes that create or delete a branch.
func None(commit string) bool { return strings.Trim(commit, "0") == "" }
