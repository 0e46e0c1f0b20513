package site

// Body is an answer in JSON.
type Body[T any] struct{ Body T }

type IDInput struct {
	ID string `path:"id" maxLength:"128" doc:"The cluster's id"`
}

// OrEmpty makes a list that is empty an empty list in JSON too, not null.
func OrEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
