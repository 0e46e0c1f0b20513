package site

import "context"

// Answered returns a use case's result, or its error as a problem.
func Answered[T any](ctx context.Context, p *Site) func(T, error) (*Body[T], error) {
	return func(v T, err error) (*Body[T], error) {
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		return &Body[T]{v}, nil
	}
}
