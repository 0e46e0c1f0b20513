package family

import (
	"context"

	"muster/app"
)

type progressKey struct{}

// WithProgress has what is done with the context write lines into out, such as the log of the step that asks: see ReportProgress.
func WithProgress(ctx context.Context, out Output) context.Context {
	return context.WithValue(ctx, progressKey{}, out)
}

// ReportProgress writes a line for anyone who follows what takes long, such as a provider that fetches an image. Where no
// one does, it is lost. Secrets do not belong in it.
func ReportProgress(ctx context.Context, s app.Stream, line string) {
	if out, ok := ctx.Value(progressKey{}).(Output); ok && out != nil {
		out(s, line)
	}
}
