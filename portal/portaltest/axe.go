//go:build real

package portaltest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/chromedp/chromedp"
)

// axe is axe-core, which finds what people with a screen reader, a keyboard alone or weak eyes cannot use.
var axe = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || dir == filepath.Dir(dir) {
			break
		}
	}
	source, err := os.ReadFile(filepath.Join(dir, "deploy", "ci", "tools", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		return "", fmt.Errorf("%w (deploy/ci/setup.sh installs it)", err)
	}
	return string(source), nil
})

// checkAccess has axe-core look at the page as it stands, by the rules of WCAG 2.2 at level AA and what is held good practice. What it
// calls serious or critical fails the test.
func (b *Browser) checkAccess(name string) {
	b.t.Helper()
	source, err := axe()
	if err != nil {
		b.t.Fatal(err)
	}
	found, err := chromedp.Run(b.Ctx, chromedp.Evaluate[string](`(async () => {
		if (!window.axe) (0, eval)(`+quote(source)+`);
		const r = await axe.run(document, {resultTypes: ["violations"],
			runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]});
		return r.violations.filter(v => v.impact == "serious" || v.impact == "critical").map(v => v.impact + ": " + v.help + " (" + v.id + ")\n" +
			v.nodes.slice(0, 4).map(n => "    " + n.html.slice(0, 200) + "\n      " + n.failureSummary.replace(/\s+/g, " ").slice(0, 300)).join("\n") +
			(v.nodes.length > 4 ? "\n    and " + (v.nodes.length - 4) + " more" : "")).join("\n");
	})()`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	if found != "" {
		b.t.Errorf("%s: axe-core says\n%s", name, strings.TrimSpace(found))
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s) // of a string it never fails
	return string(b)
}
