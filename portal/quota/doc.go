// Package quota holds the pages of quotas, usage and costs, with their bars and charts. It uses package page only.
package quota

//go:generate go run ../page/generate.go
