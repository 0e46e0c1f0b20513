package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/file/catalog"
	"muster/app/file/catalog/form"
	"muster/app/humanize"
	"muster/app/template"
	"muster/automators/shell"
	"muster/cmd/muster/cli"
)

// shellcheckBatch is how many scripts one run of shellcheck gets: command lines have a limit.
const shellcheckBatch = 200

// shellcheckScripts adds the errors found by the installed shellcheck. Scripts with syntax errors have already been reported.
func shellcheckScripts(ctx context.Context, r *catalog.Report) error {
	tool, err := exec.LookPath("shellcheck")
	if err != nil {
		return &app.Error{Code: app.EInvalid, Reason: "no_shellcheck", Field: "shellcheck", Message: "shellcheck isn't installed on this host.",
			Hint: "Install it with apt install shellcheck, dnf install ShellCheck or brew install shellcheck, or omit --shellcheck."}
	}
	dir, err := os.MkdirTemp("", "muster-lint-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	files := map[string][]string{} // by language
	for i, s := range r.Scripts {
		language := shell.Language(s.Text)
		if fault := shell.Syntax(s.Text); language == "" || fault != nil && !fault.Warning {
			continue
		}
		name := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(s.Text, "\r\n", "\n")+"\n"), 0o600); err != nil {
			return err
		}
		files[language] = append(files[language], name)
	}
	for _, language := range cli.SortedKeys(files) {
		for batch := range slices.Chunk(files[language], shellcheckBatch) {
			if err := shellcheckFiles(ctx, tool, language, batch, r); err != nil {
				return err
			}
		}
	}
	return nil
}

func shellcheckFiles(ctx context.Context, tool, language string, files []string, r *catalog.Report) error {
	cmd := exec.CommandContext(ctx, tool, append([]string{"--norc", "--severity=error", "--format=json1", "--shell=" + language}, files...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	var ended *exec.ExitError
	if err != nil && !(errors.As(err, &ended) && ended.ExitCode() == 1) { // 1: it found problems
		return fmt.Errorf("shellcheck: %w: %s", err, humanize.CutText(said.String(), 300))
	}
	var answer struct {
		Comments []struct {
			File         string
			Line, Column int
			Code         int
			Message      string
		}
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return fmt.Errorf("shellcheck: its output isn't JSON: %w", err)
	}
	for _, c := range answer.Comments {
		i, err := strconv.Atoi(filepath.Base(c.File))
		if err != nil || i < 0 || i >= len(r.Scripts) {
			continue
		}
		r.Add(r.Scripts[i].Problem(template.ScriptFault{Line: c.Line, Column: c.Column, Message: fmt.Sprintf("SC%d: %s", c.Code, c.Message),
			Hint: fmt.Sprintf("see https://www.shellcheck.net/wiki/SC%d", c.Code)}, form.SeverityError))
	}
	return nil
}
