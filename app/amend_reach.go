package app

// SameValue tells whether two values of a configuration are the same as JSON.
func SameValue(a, b any) bool {
	switch x := a.(type) {
	case string:
		y, is := b.(string)
		return is && x == y
	case bool:
		y, is := b.(bool)
		return is && x == y
	}
	return sameJSON(a, b)
}
