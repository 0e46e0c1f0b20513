package app

// Limits of groups.
const (
	MostExternal  = 500
	LongestGroup  = 200 // bytes
	LongestAbout  = 500
	MostInOneCall = 1000
)
