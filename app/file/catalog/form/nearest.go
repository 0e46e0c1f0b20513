package form

import (
	"fmt"

	"muster/app"
)

// DidYouMean gives a hint that names the candidate nearest to what was written, or "" where none is near.
func DidYouMean(written string, candidates []string) string {
	if n := app.Nearest(written, candidates); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}
