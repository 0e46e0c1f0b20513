// Package migrations holds the numbered SQL files that make and change Muster's tables, embedded for goose. It has no
// logic. A file is one thought and is left alone once it has been merged.
package migrations

import "embed"

// FS holds the migrations, in goose's form.
//
//go:embed *.sql
var FS embed.FS
