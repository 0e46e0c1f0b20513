//go:build unix && !linux

package main

func inNamespace() (exit int, did bool) { return 0, false }
