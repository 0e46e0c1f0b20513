package main

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watched are the folders with the server's code, pages, migrations and catalog.
var watched = []string{"app", "automators", "bot", "cmd/muster", "jobs", "migrations", "planner", "portal", "providers", "solver", catalog}

// quiet is how long no file may have changed before changes are passed on: editors write in steps, and Git writes many files.
const quiet = 50 * time.Millisecond

// watch sends the changed files, together, until the context is done.
func watch(ctx context.Context) (<-chan []string, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	for _, dir := range watched {
		if err := watchBelow(w, dir); err != nil {
			return nil, fmt.Errorf("%s can't be watched: %w", dir, err)
		}
	}
	changes := make(chan []string)
	go func() {
		defer w.Close()
		names := map[string]bool{}
		var calm <-chan time.Time
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-w.Events:
				if info, err := os.Stat(e.Name); err == nil && info.IsDir() {
					_ = watchBelow(w, e.Name)
				} else if relevant(e) {
					names[e.Name] = true
					calm = time.After(quiet)
				}
			case err := <-w.Errors:
				fmt.Fprintln(os.Stderr, "Watching files:", err)
			case <-calm:
				select {
				case changes <- slices.Sorted(maps.Keys(names)):
					clear(names)
				case <-time.After(quiet): // still building: collect more
					calm = time.After(quiet)
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return changes, nil
}

func watchBelow(w *fsnotify.Watcher, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "testdata" {
			return fs.SkipDir
		}
		return w.Add(path)
	})
}

// relevant reports whether an event can change the server. Generated code changes with its template; tests and editors' own files don't count.
func relevant(e fsnotify.Event) bool {
	name := filepath.Base(e.Name)
	switch {
	case e.Op == fsnotify.Chmod, strings.HasSuffix(name, "_templ.go"), strings.HasSuffix(name, "_test.go"):
		return false
	}
	return slices.Contains([]string{".go", ".templ", ".sql", ".css", ".js", ".svg", ".yaml", ".yml", ".sh", ".tmpl", ".json"}, filepath.Ext(name)) &&
		!strings.HasPrefix(name, ".")
}
