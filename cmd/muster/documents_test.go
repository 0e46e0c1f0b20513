//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// repository is the module's root.
const repository = "../.."

// A block of code of a page. An indented one is of commands: other languages need a fence, which names them.
type block struct {
	page     string // from the module's root
	line     int    // of the text's first line
	language string
	text     string
	untested string // why it isn't tested, from the comment above its fence: <!-- not tested: REASON -->
	at       int    // the line of that comment
}

// A span is code within a sentence.
type span struct {
	page string
	line int
	text string
}

// A fault is what is wrong in a line of a page.
type fault struct {
	line int
	what string
}

var (
	untestedComment = regexp.MustCompile(`^\s*<!-- not tested: *(.*?) *-->$`)
	codeSpan        = regexp.MustCompile("`([^`]+)`")
)

// readBlocks finds the code of a page, and misplaced comments of untested blocks.
func readBlocks(page, text string) (blocks []block, spans []span, faults []fault) {
	lines := strings.Split(text, "\n")
	prose := make([]string, len(lines)+1) // without blocks
	untested, at := "", 0
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if m := untestedComment.FindStringSubmatch(line); m != nil {
			next := ""
			if i+1 < len(lines) {
				next = strings.TrimSpace(lines[i+1])
			}
			if untested, at = m[1], i+1; untested == "" || !strings.HasPrefix(next, "```") {
				faults = append(faults, fault{i + 1, "the comment needs a reason, and a fence directly below it"})
			}
			continue
		}
		b := block{page: page, line: i + 1, untested: untested, at: at}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case strings.HasPrefix(line[indent:], "```"):
			b.line, b.language = i+2, strings.TrimSpace(line[indent+3:])
			var body []string
			for i++; i < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[i]), "```"); i++ {
				body = append(body, strings.TrimPrefix(lines[i], line[:indent]))
			}
			b.text = strings.Join(body, "\n") + "\n"
			blocks = append(blocks, b)
		case indent >= 4 && line[indent:] != "" && (i == 0 || strings.TrimSpace(lines[i-1]) == ""):
			b.language = "sh"
			for ; i < len(lines) && (strings.HasPrefix(lines[i], "    ") || strings.TrimSpace(lines[i]) == ""); i++ {
				b.text += strings.TrimPrefix(lines[i], "    ") + "\n"
			}
			i--
			blocks = append(blocks, b)
		default:
			prose[i] = line
		}
		untested, at = "", 0
	}
	for from, i := 0, 0; i < len(prose); i++ {
		if strings.TrimSpace(prose[i]) != "" {
			continue
		}
		paragraph := strings.Join(prose[from:i], "\n")
		for _, m := range codeSpan.FindAllStringSubmatchIndex(paragraph, -1) {
			spans = append(spans, span{page, from + 1 + strings.Count(paragraph[:m[0]], "\n"), strings.Join(strings.Fields(paragraph[m[2]:m[3]]), " ")})
		}
		from = i + 1
	}
	return blocks, spans, faults
}

// pagesWithExamples are all pages that people read, except the generated reference.
func pagesWithExamples(t *testing.T) (pages []string) {
	t.Helper()
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		name := filepath.Base(path)
		if err == nil && d.IsDir() && path != repository && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" || name == "bin") {
			return fs.SkipDir
		}
		if filepath.Ext(name) == ".md" && name != filepath.Base(referenceFile) {
			pages = append(pages, strings.TrimPrefix(filepath.ToSlash(path), repository+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// faultsOf finds what is wrong on a page. It counts blocks by language, and those that aren't tested.
func (c *documentCheck) faultsOf(page, text string, count map[string]int) []fault {
	blocks, spans, faults := readBlocks(page, text)
	var err error
	if c.folder, err = c.folderOf(page, text, blocks); err != nil {
		faults = append(faults, fault{1, err.Error()})
	}
	for _, b := range blocks {
		found := c.block(b)
		switch {
		case b.untested == "":
			faults = append(faults, found...)
			count[b.language]++
		case len(found) == 0:
			faults = append(faults, fault{b.at, "the block below passes its test: remove the comment"})
		default:
			count["not tested"]++
		}
	}
	for _, s := range spans {
		if what := c.span(s); what != "" {
			faults = append(faults, fault{s.line, fmt.Sprintf("`%s`: %s", s.text, what)})
		}
	}
	return faults
}

// block finds what is wrong in a block.
func (c *documentCheck) block(b block) []fault {
	switch b.language {
	case "text":
		return nil
	case "sh":
		return c.shell(b)
	case "console":
		return c.console(b)
	case "yaml":
		return c.yaml(b)
	case "json":
		return c.json(b)
	}
	if checkedBy[b.page+" "+b.language] != "" {
		return nil
	}
	if b.language == "" {
		return []fault{{b.line - 1, "the fence needs a language: sh, console, yaml or json; text for output and diagrams"}}
	}
	return []fault{{b.line - 1, fmt.Sprintf("%s isn't tested: add <!-- not tested: REASON --> directly above the fence", b.language)}}
}

// checkedBy are the tests of blocks that this package can't check, by page and language.
var checkedBy = map[string]string{
	"docs/automators/executable.md exchange": "automators/executable/docs_test.go",
	"docs/builds.md json":                    "jobs/webhook/docs_test.go",
	"docs/hooks.md json":                     "jobs/webhook/docs_test.go",
	"docs/notifications.md json":             "jobs/webhook/docs_test.go",
	"docs/notifications.md python":           "jobs/webhook/docs_test.go",
	"docs/providers/aws.md json":             "providers/aws/docs_test.go",
	"docs/providers/azure.md json":           "providers/azure/docs_test.go",
	"docs/providers/executable.md exchange":  "providers/executable/docs_test.go",
	"docs/providers/google.md role.yaml":     "providers/google/docs_test.go",
	"docs/sign-in.md yaml":                   "cmd/muster/server/signin_test.go",
}

// Every block of code in pages is run or validated, or says why it isn't; and so is code within sentences.
func TestExamplesInDocumentsWork(t *testing.T) {
	c := newDocumentCheck(t)
	t.Run("mistakes are found", c.mistakes)
	c.commands, c.asked, c.executed, c.addresses = 0, 0, 0, 0
	count := map[string]int{}
	for _, page := range pagesWithExamples(t) {
		b, err := os.ReadFile(filepath.Join(repository, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range c.faultsOf(page, string(b), count) {
			t.Errorf("%s:%d: %s", page, f.line, f.what)
		}
	}
	for what, test := range checkedBy {
		page, _, _ := strings.Cut(what, " ")
		if b, err := os.ReadFile(filepath.Join(repository, test)); err != nil || !strings.Contains(string(b), page) {
			t.Errorf("%s doesn't test %s: %v", test, page, err)
		}
	}
	if c.commands < 300 || count["sh"] < 60 || count["yaml"] < 30 || count["json"] < 5 {
		t.Errorf("only %d commands were found, and %v blocks", c.commands, count)
	}
	t.Logf("%d commands, %d of them asked a server and %d none; %d addresses; blocks: %v", c.commands, c.asked, c.executed, c.addresses, count)
}

// mistakes checks that each kind of mistake is found, with its line.
func (c *documentCheck) mistakes(t *testing.T) {
	for name, one := range map[string]struct {
		text string
		line int // 0: nothing is wrong
		what string
	}{
		"good lines":               {"\n    muster cluster list   # all\n    echo $(muster version) && FOO=1 muster cluster delete \\\n      shop --yes\n", 0, ""},
		"a good span":              {"Use `muster cluster extend NAME --by LENGTH`, `muster serve --data` or `muster tenant visibility private|tenant`.", 0, ""},
		"no command":               {"\n    muster cluster list\n    muster cluster fly\n", 3, "has no command fly"},
		"no command of the root":   {"\n    muster fly\n", 2, "has no command"},
		"no flag":                  {"\n    muster cluster list | grep x && sudo muster serve --nope\n", 2, "unknown flag: --nope"},
		"a flag's value":           {"\n    muster wait shop --timeout tomorrow\n", 2, "tomorrow"},
		"an argument's value":      {"\n    muster cluster extend shop --by tomorrow\n", 2, "tomorrow"},
		"an output format":         {"\n    muster cluster list --format xml\n", 2, "xml"},
		"too few arguments":        {"\n    muster cluster show\n", 2, "cluster show"},
		"too many arguments":       {"\n    muster cluster show shop two\n", 2, "cluster show"},
		"in a substitution":        {"```sh\necho x\necho $(muster fly)\n```\n", 3, "has no command"},
		"in another shell":         {"\n    runuser -u muster -- sh -c 'exec muster fly'\n", 2, "has no command"},
		"in a container":           {"Run `docker compose exec server muster fly`.", 1, "has no command"},
		"in a sentence":            {"\n\nUse `muster cluster grow shop --sise 5`.\n", 3, "--sise"},
		"on two lines":             {"Use `x` and `muster cluster\n  grow shop --sise 5` or `muster`.", 1, "--sise"},
		"a target":                 {"\n    make love\n", 2, "no target love"},
		"a file":                   {"\n    cp deploy/nothing.yaml x\n", 2, "there is no deploy/nothing.yaml"},
		"a file after cd":          {"\n    cd deploy/compose && ./nothing.sh\n", 2, "there is no deploy/compose/nothing.sh"},
		"another command":          {"\n    frobnicate\n", 2, "isn't a known command"},
		"prose":                    {"\n    This isn't code\n", 2, "not shell"},
		"a run command":            {"\n    muster solve --catalog examples/catalog --template wep --size 5\n", 2, "wep"},
		"its output":               {"```console\n$ muster solve --catalog examples/catalog --template tiny --size 1\ntiny: 2 nodes\n```\n", 2, "it says"},
		"a console of a server":    {"```console\n$ muster cluster list\n```\n", 2, "needs a server"},
		"curl's path":              {"```sh\ncurl https://muster.example.org/api/v1/nothing\n```\n", 2, "the API has no GET"},
		"curl's body":              {"```sh\ncurl -d '{\"sise\": 5}' https://muster.example.org/api/v1/clusters\n```\n", 2, "no field sise"},
		"curl's type":              {"```sh\ncurl -d '{\"size\": \"5\"}' https://muster.example.org/api/v1/clusters\n```\n", 2, "size is integer"},
		"an address":               {"Call `PATCH /api/v1/clusters`.", 1, "the API has no PATCH"},
		"a parameter":              {"Call `GET /api/v1/usage?bye=user`.", 1, "no parameter bye"},
		"no language":              {"```\nx\n```\n", 1, "needs a language"},
		"an unknown language":      {"\n```cobol\nx\n```\n", 2, "cobol isn't tested"},
		"one with a reason":        {"<!-- not tested: there is no compiler -->\n```cobol\nx\n```\n", 0, ""},
		"a reason that is missing": {"<!-- not tested: -->\n```text\nx\n```\n", 1, "needs a reason"},
		"a comment above nothing":  {"<!-- not tested: why -->\n\n```text\nx\n```\n", 1, "directly below"},
		"a stale comment":          {"\n<!-- not tested: why -->\n```sh\nmuster version\n```\n", 2, "remove the comment"},
		"broken YAML":              {"```yaml\na: 1\nb: [\n```\n", 3, "not YAML"},
		"an entry's key":           {"```yaml\nkind: service\nname: a\nactoins: {}\n```\n", 4, "actoins"},
		"a missing entry":          {"```yaml\nkind: template\nname: a\ndefaults: {services: [b]}\n```\n", 0, ""},
		"a provider's setting":     {"```yaml\nkind: provider\nname: a\ntype: aws\nsettings: {regoin: x}\n```\n", 5, "regoin"},
		"a part of an entry":       {"```yaml\nhealth: {intervall: 1m}\n```\n", 2, "intervall"},
		"a part of none":           {"```yaml\nfish: 1\n```\n", 2, "fish"},
		"rules of builds":          {"```yaml\n- {name: a, when: event.evnt == \"x\", do: create, template: web, size: 3}\n```\n", 2, "evnt"},
		"hosts":                    {"```yaml\nhosts: [{nam: a}]\n```\n", 2, "nam"},
		"profiles":                 {"```yaml\nprofiles: {prod: {sever: https://muster.example.com}}\n```\n", 2, "sever"},
		"an automator's trial":     {"```yaml\nok: {a: b}\nok_sais: c\n```\n", 2, "ok_sais"},
		"broken JSON":              {"```json\n{\"a\": 1,\n \"b\": }\n```\n", 3, "not JSON"},
		"a policy":                 {"```json\n{\"name\": \"a\", \"order\": 1, \"when\": \"nods > 1\", \"effect\": \"refuse\", \"reason\": \"b\"}\n```\n", 2, "nods"},
		"a policy's field":         {"```json\n{\"name\": \"a\", \"efect\": 1, \"effect\": \"refuse\"}\n```\n", 2, "efect"},
		"an event of a build":      {"```json\n{\"event\": \"build\", \"bild\": \"x\"}\n```\n", 2, "bild"},
		"an object of no API":      {"```json\n{\"fish\": 1}\n```\n", 2, "neither"},
		"a file that isn't shown":  {"Save it as `a.yaml`.\n", 1, "no such block is near"},
	} {
		faults := c.faultsOf("page.md", one.text, map[string]int{})
		switch {
		case one.line == 0 && len(faults) > 0:
			t.Errorf("%s: %v", name, faults)
		case one.line > 0 && (len(faults) != 1 || faults[0].line != one.line || !strings.Contains(faults[0].what, one.what)):
			t.Errorf("%s: want line %d, %q: %v", name, one.line, one.what, faults)
		}
	}
}
