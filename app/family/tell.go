package family

import (
	"context"

	"muster/app"
)

type tellKey struct{}

// Telling has what is done with the context write lines into out, such as the log of the step that asks: see Tell.
func Telling(ctx context.Context, out Output) context.Context {
	return context.WithValue(ctx, tellKey{}, out)
}

// Tell writes a line for anyone who follows what takes long, such as a provider that fetches an image. Where no one does, it is lost. Secrets do not belong in it.
func Tell(ctx context.Context, s app.Stream, line string) {
	if out, ok := ctx.Value(tellKey{}).(Output); ok && out != nil {
		out(s, line)
	}
}
