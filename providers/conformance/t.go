package conformance

import "context"

// TB is what a check asks of who runs it, in the words of testing.TB, which is one.
type TB interface {
	Context() context.Context
	Cleanup(func())
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Skip(args ...any)
	Logf(format string, args ...any)
}

// T is one who also runs checks within checks: *testing.T is a T[*testing.T].
type T[S any] interface {
	TB
	Run(name string, check func(S)) bool
}
