package payload

import (
	"net/url"
	"strings"
)

// Ref takes a Git reference apart: refs/heads/main is the branch main, refs/tags/v1 the tag v1. Any other is given as the branch.
func Ref(ref string) (branch, tag string) {
	if t, ok := strings.CutPrefix(ref, "refs/tags/"); ok {
		return "", t
	}
	return strings.TrimPrefix(ref, "refs/heads/"), ""
}

// Repository returns host and path of a repository's address, as https, ssh or git@host:path has them, without .git and in lower case for the
// host alone; "" where it is none.
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

// SameRepository tells whether two addresses lead to one repository; false where one is none.
func SameRepository(a, b string) bool {
	ah, ap := Repository(a)
	bh, bp := Repository(b)
	return ap != "" && ah == bh && strings.EqualFold(ap, bp)
}

// None tells whether a commit stands for none, as in pushes that make or delete a branch.
func None(commit string) bool { return strings.Trim(commit, "0") == "" }
