package shell

import "strings"

// interpreter says what runs a script: what its first line asks for after "#!", or sh -eu where that line asks for sh
// or for nothing.
func interpreter(script string) []string {
	sh := []string{"sh", "-eu"}
	first, _, _ := strings.Cut(script, "\n")
	ask, ok := strings.CutPrefix(strings.TrimSuffix(first, "\r"), "#!")
	if !ok {
		return sh
	}
	program, arg, _ := strings.Cut(strings.TrimSpace(ask), " ")
	if program == "" || strings.HasSuffix(program, "/sh") {
		return sh
	}
	if arg = strings.TrimSpace(arg); arg == "" {
		return []string{program}
	}
	if strings.HasSuffix(program, "/env") {
		if name := strings.Fields(arg); len(name) == 1 && name[0] == "sh" {
			return sh
		}
	}
	return []string{program, arg} // the kernel passes the rest of the line as one word, too
}
