//go:build unix

package main

import (
	"slices"
	"strings"
	"sync"
)

// promise is what a user requested and was promised. Muster owes what it has accepted.
type promise struct {
	name     string
	id       string // "" while it is not known to have been accepted
	deleting bool   // a delete was accepted
	checked  bool   // looked through after it was gone; it owes nothing any more
}

// book holds the promises.
type book struct {
	mu       sync.Mutex
	promises map[string]*promise // by name
	wrongs   []violation
	seen     map[string]bool
}

// violation is something that must never happen.
type violation struct {
	kind string // one of kinds
	text string
}

// What must never happen, as the summary names it.
const (
	leaked       = "machines leaked"
	lostCluster  = "clusters lost"
	lostOp       = "operations lost or stuck"
	twice        = "step effects twice"
	missing      = "step effects missing"
	unknown      = "effects without a step"
	oldClaim     = "writes by an old claim"
	refused      = "requests wrongly refused"
	crashed      = "unexpected exits"
	raced        = "data races and panics"
	leakedSecret = "secrets leaked"
)

var kinds = []string{leaked, lostCluster, lostOp, twice, missing, unknown, oldClaim, refused, crashed, raced, leakedSecret}

func newBook() *book { return &book{promises: map[string]*promise{}, seen: map[string]bool{}} }

// blame writes down something wrong, once.
func (b *book) blame(kind, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.seen[kind+text] {
		b.seen[kind+text] = true
		b.wrongs = append(b.wrongs, violation{kind, text})
	}
}

func (b *book) found() []violation {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.wrongs)
}

// accepted notes that a cluster has been promised.
func (b *book) accepted(name, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.promises[name] = &promise{name: name, id: id}
}

func (b *book) deleting(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.promises[name].deleting = true
}

func (b *book) done(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.promises[name].checked = true
}

// open returns the promises that are still owed, by name.
func (b *book) open() []promise {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []promise
	for _, p := range b.promises {
		if !p.checked {
			all = append(all, *p)
		}
	}
	slices.SortFunc(all, func(x, y promise) int { return strings.Compare(x.name, y.name) })
	return all
}

// counts returns how many clusters were accepted and how many of those were to be deleted.
func (b *book) counts() (clusters, deletes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.promises {
		clusters++
		if p.deleting {
			deletes++
		}
	}
	return clusters, deletes
}
