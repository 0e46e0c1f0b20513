package form

import (
	"fmt"

	"muster/app/humanize"
)

// DidYouMean returns a hint that names the candidate nearest to what was written, or "" where none is near.
func DidYouMean(written string, candidates []string) string {
	if n := humanize.Nearest(written, candidates); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}
