//go:build race

package slack_test

func init() { raced = true }
