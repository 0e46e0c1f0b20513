package docker

import (
	"strings"
	"testing"

	"muster/app"
)

func TestDockerfiles(t *testing.T) {
	for name, c := range map[string]struct{ text, want, wrong string }{
		"one base":                       {"FROM debian:12\nRUN true\n", "debian:12", ""},
		"a digest":                       {"FROM debian@sha256:" + strings.Repeat("a", 64), "debian@sha256:" + strings.Repeat("a", 64), ""},
		"two stages":                     {"# one\nfrom a:1 as Tool\nRUN x\nFROM b:1\nCOPY --from=tool /x /x\nCOPY --chown=0 --from=0 /y /y", "a:1 b:1", ""},
		"a stage on a stage":             {"FROM a:1 AS one\nFROM one\nRUN x", "a:1", ""},
		"a base twice":                   {"FROM a:1\nFROM a:1", "a:1", ""},
		"continued lines":                {"FROM a:1\r\nRUN x && \\\r\n# a word\n\n  ADD y\nENV A=b", "a:1", ""},
		"a shift":                        {"FROM a:1\nRUN echo $((1 <<2))", "a:1", ""},
		"nothing":                        {"", "", "no FROM"},
		"scratch alone":                  {"FROM scratch", "", "no FROM"},
		"no FROM first":                  {"RUN x\nFROM a:1", "", "start with FROM"},
		"an ADD":                         {"FROM a:1\nADD http://127.0.0.1/x /x", "", "line 2: ADD"},
		"an ADD after two backslashes":   {"FROM a:1\nRUN x \\\\\nADD http://127.0.0.1/x /x", "", "two backslashes"},
		"an ADD that is spelt small":     {"FROM a:1\n \tadd http://127.0.0.1/x /x", "", "ADD"},
		"an ADD by another escape":       {"# escape=`\nFROM a:1\nRUN x \\\nADD http://127.0.0.1/x /x", "", "directives"},
		"another way to read it":         {"# syntax=evil.example.org/x\nFROM a:1", "", "directives"},
		"for later":                      {"FROM a:1\nONBUILD ADD http://127.0.0.1/x /x", "", "ONBUILD"},
		"a base by variable":             {"ARG X=a:1\nFROM ${X}", "", "FROM supports only an image"},
		"a base with options":            {"FROM --platform=x a:1", "", "FROM supports only an image"},
		"a base that is none":            {"FROM A:1", "", "valid image name"},
		"a baked image":                  {"FROM muster-baked:" + strings.Repeat("a", 32), "", "baked image"},
		"a baked image by its full name": {"FROM a:1\nFROM docker.io/library/muster-baked:x AS y", "", "baked image"},
		"a baked image by another name":  {"FROM index.docker.io/muster-baked@sha256:" + strings.Repeat("a", 64), "", "baked image"},
		"a copy of files":                {"FROM a:1\nCOPY . /x", "", "no files to copy"},
		"a copy of an image":             {"FROM a:1\nCOPY --from=b:1 /x /x", "", "isn't an earlier stage"},
		"a copy of a later stage":        {"FROM a:1\nCOPY --from=b /x /x\nFROM c:1 AS b", "", "isn't an earlier stage"},
		"a copy of the stage itself":     {"FROM a:1\nCOPY --from=1 /x /x", "", "isn't an earlier stage"},
		"a mount":                        {"FROM a:1\nRUN --mount=type=bind,from=b:1 x", "", "RUN"},
		"a stage hidden in a text":       {"FROM a:1\nRUN <<EOF\nFROM a:1 AS b\nEOF\nCOPY --from=b /x /x", "", "here-documents"},
		"a character that is not seen":   {"FROM a:1\nRUN x\x00y", "", "invisible character"},
		"a mark of byte order":           {"\uFEFFFROM a:1", "", "invisible character"},
		"an end that is missing":         {"FROM a:1\nRUN x \\\n", "", "no line follows"},
		"a stage of a name twice":        {"FROM a:1 AS x\nFROM b:1 AS x", "", "valid stage name"},
		"more than a Dockerfile may be":  {"FROM a:1\n#" + strings.Repeat("x", longestDockerfile), "", "exceeds"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := bases(c.text)
			if c.wrong == "" {
				if err != nil || strings.Join(got, " ") != c.want {
					t.Errorf("%q, %v", got, err)
				}
				return
			}
			if e := app.AsError(err); err == nil || e.Code != app.EInvalid || e.Field != imageField || !strings.Contains(e.Message, c.wrong) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
