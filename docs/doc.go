// Package docs holds the documentation's pages, so that the portal can show those of its own version. Pictures and API descriptions
// aren't embedded. Package portal/docs renders the pages.
package docs

import "embed"

// Files are the pages, by their path in this folder.
//
//go:embed *.md */*.md
var Files embed.FS
