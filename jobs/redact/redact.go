package redact

import (
	"muster/app"
	"muster/app/family"
	"muster/app/secret"
)

const longPiece = 32 << 10 // a line so long may be a piece of one continued in the next

// Redactor takes the secrets that a step was given out of what it says; see app.Redactor. It is made for one step.
type Redactor struct{ values *secret.Redactor }

// New returns nil where there is nothing to hide; that redactor hides nothing.
func New(secrets []string) *Redactor {
	values := secret.NewRedactor(secrets)
	if values == nil {
		return nil
	}
	return &Redactor{values}
}

// Hide returns the text without secrets; skip bytes at its beginning are looked at, and left out.
func (r *Redactor) Hide(text string, skip int) string {
	if r == nil {
		return text[skip:]
	}
	return r.values.HideAfter(text, skip)
}

// Over returns an output that passes everything on without secrets. A secret over the border of two pieces of a very long line is
// hidden in the second; the log keeps only the beginning of the first.
func (r *Redactor) Over(out family.Output) family.Output {
	if r == nil {
		return out
	}
	streams := newTails()
	return func(s app.Stream, line string) {
		before := streams.swap(s, line, r.values.Longest())
		out(s, r.Hide(before+line, len(before)))
	}
}

// Error hides secrets in what is notified of a failure.
func (r *Redactor) Error(e *app.Error) *app.Error {
	if r == nil || e == nil {
		return e
	}
	out := *e
	out.Message, out.Hint = r.Hide(e.Message, 0), r.Hide(e.Hint, 0)
	if e.Err != nil {
		if text := e.Err.Error(); r.Hide(text, 0) != text {
			out.Err = hiddenError(r.Hide(text, 0))
		}
	}
	return &out
}

type hiddenError string

func (h hiddenError) Error() string { return string(h) }
