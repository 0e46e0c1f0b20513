//go:build real

package portal

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"muster/app/file/catalog"
	"muster/portal/portaltest"
)

// TestBrowserCatalog writes a template with fields and text in step, by keyboard too, and looks at every page of the catalog.
func TestBrowserCatalog(t *testing.T) {
	f := newWithCatalog(newFake(time.Now))
	p := New(Config{UseCases: useCases(f.fake, f), Texts: catalog.Texts{}, Version: "1.0.0", Logger: quiet()})
	srv := httptest.NewServer(p)
	t.Cleanup(func() { _ = p.Close(); srv.Close() })
	b := portaltest.Open(t, srv.URL)
	b.Scheme(false)
	b.Open("/signin?next=%2Fadmin%2Fcatalog")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "root"), chromedp.SendKeys(chromedp.ID("password"), "correct horse"), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname=="/admin/catalog"`)
	b.Shoot("catalog")
	b.Open("/admin/catalog/template/greet")
	b.Shoot("catalog-entry")

	js := func(script string) { t.Helper(); b.Do(chromedp.Evaluate[chromedp.Void](script)) }
	type textValue = string
	value := func(id string) textValue {
		t.Helper()
		v, err := chromedp.Run(b.Ctx, chromedp.Evaluate[string](`document.getElementById("`+id+`").value`))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	// The fields of a provider are of their types.
	b.Open("/admin/catalog/provider/new")
	b.Until(`window.htmx && document.querySelectorAll("#gutter div").length > 2`)
	js(`{const t = document.getElementById("f-type"); t.value = "typed"; t.dispatchEvent(new Event("input", {bubbles: true})); t.dispatchEvent(new Event("change", {bubbles: true}))}`)
	b.Until(`document.getElementById("f-settings-public") && document.getElementById("f-settings-disk_gb").type == "number" && document.getElementById("f-settings-public").checked`)
	js(`document.querySelectorAll("details.part").forEach((d) => d.open = true); document.getElementById("f-settings-public").click()`)
	b.Until(`document.getElementById("text").value.includes("public: false")`)
	b.Shoot("catalog-provider")

	b.Open("/admin/catalog/template/new")
	b.Until(`window.htmx && document.querySelectorAll("#gutter div").length > 10`)
	b.Shoot("catalog-new")

	// A field changes the text.
	js(`document.getElementById("f-label").select()`)
	b.Do(chromedp.SendKeys(chromedp.ID("f-label"), "Web shop"))
	b.Until(`document.getElementById("text").value.includes("label: Web shop")`)
	// The text changes the fields, and is checked while it is typed.
	js(`{const t = document.getElementById("text"); t.focus(); const i = t.value.indexOf("max: 5") + 5; t.setSelectionRange(i, i + 1)}`)
	b.Keys("x")
	b.Until(`document.querySelector("#gutter .mark-error") && document.querySelector("#problems").textContent.includes("whole number")`)
	b.Until(`document.getElementById("err-f-constraints-size-max").textContent.includes("whole number")`)
	b.Shoot("catalog-lint")
	js(`document.getElementById("f-label").focus()`)
	b.Do(chromedp.Click(chromedp.CSS(`#problems [data-jump]`)))
	b.Until(`document.activeElement.id=="text" && document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd).includes("max: x")`)
	js(`{const t = document.getElementById("text"); const i = t.value.indexOf("max: x") + 5; t.setSelectionRange(i, i + 1)}`)
	b.Keys("8")
	b.Until(`document.getElementById("f-constraints-size-max").value=="8" && document.querySelector("#problems .fine")`)

	// Tab indents; after Escape it leaves.
	before := value("text")
	b.Keys("\t")
	if now := value("text"); len(now) != len(before)+2 {
		t.Errorf("Tab does not indent: %q", now)
	}
	b.Keys("\u001b\t")
	b.Until(`document.activeElement.id!="text"`)
	js(`{const t = document.getElementById("text"); t.value = t.value.replace("max: 8  ", "max: 8"); t.dispatchEvent(new Event("input", {bubbles: true}))}`)
	b.Until(`document.querySelector("#problems .fine")`)

	// Sizes are tried.
	js(`document.getElementById("try_sizes").select()`)
	b.Do(chromedp.SendKeys(chromedp.ID("try_sizes"), "2, 9"), chromedp.Click(chromedp.CSS(`button[value=try]`)))
	b.Until(`document.querySelectorAll("#trials .trial").length == 2`)
	if got := b.Text("#trials"); !strings.Contains(got, "you entered 9") || !strings.Contains(got, "Layout 2 machines") {
		t.Errorf("the trials say %q", got)
	}
	b.Shoot("catalog-try")

	// What is typed while an answer is on its way stays.
	js(`{const t = document.getElementById("text"); t.focus(); t.setSelectionRange(t.value.length, t.value.length)}`)
	for _, r := range "version: one two three" {
		b.Keys(string(r))
	}
	b.Until(`document.getElementById("f-version").value=="one two three"`)
	if got := value("text"); !strings.HasSuffix(got, "\nversion: one two three") {
		t.Errorf("the text is %q", got)
	}

	// An output's type brings its fields, and the keyboard follows a row that is added or moved.
	js(`document.querySelectorAll("details.part").forEach((d) => d.open = true)`)
	b.Do(chromedp.Click(chromedp.CSS(`button[value="add:f/links/0/label"]`)))
	b.Until(`document.activeElement.name=="f/links/0/label"`)
	b.Do(chromedp.Click(chromedp.CSS(`button[value="remove:f/links/0"]`)))
	b.Until(`!document.getElementById("f-links-0-label") && document.querySelector("#problems .fine")`)
	for i, name := range []string{"site", "ca"} {
		at := "f/outputs/" + strconv.Itoa(i) + "/name"
		b.Do(chromedp.Click(chromedp.CSS(`button[value="add:` + at + `"]`)))
		b.Until(`document.activeElement.name=="` + at + `"`)
		b.Keys(name)
		b.Until(`document.getElementById("text").value.includes("name: ` + name + `")`)
		js(`{const v = document.getElementById("f-outputs-` + strconv.Itoa(i) + `-value"); v.value = "%ip.service.hello[0]%"; ` +
			`v.dispatchEvent(new Event("input", {bubbles: true}))}`)
		b.Until(`document.querySelector("#problems .fine")`)
	}
	js(`{const t = document.getElementById("f-outputs-1-type"); t.value = "file"; ` +
		`t.dispatchEvent(new Event("input", {bubbles: true})); t.dispatchEvent(new Event("change", {bubbles: true}))}`)
	b.Until(`document.getElementById("f-outputs-1-mode") && !document.getElementById("f-outputs-1-env")`)
	b.Do(chromedp.Click(chromedp.CSS(`button[value="up:f/outputs/1"]`)))
	b.Until(`document.activeElement.value=="down:f/outputs/0" && document.getElementById("f-outputs-0-name").value=="ca"`)
	b.Shoot("catalog-outputs")

	b.Do(chromedp.Click(chromedp.CSS(`button[value=review]`)))
	b.Until(`document.querySelector(".review")`)
	b.Shoot("catalog-review")
	b.Do(chromedp.SendKeys(chromedp.ID("note"), "the first"), chromedp.Click(chromedp.CSS(`.review button[value=save]`)))
	b.Until(`location.search=="?saved"`)
	b.Shoot("catalog-saved")
	b.Open("/admin/catalog/template/my-template/publish")
	b.Shoot("catalog-publish")
	b.Do(chromedp.Click(chromedp.CSS(`.review button[value=save]`)))
	b.Until(`location.search=="?saved"`)
	b.Open("/admin/catalog/template/my-template?from=1&to=2")
	b.Shoot("catalog-changes")
	b.Open("/admin/catalog/template/my-template/revert/1")
	b.Shoot("catalog-revert")
	b.Open("/admin/catalog/service/hello/edit")
	b.Until(`window.htmx && document.querySelectorAll("#gutter div").length > 5`)
	b.Shoot("catalog-service")
	b.Open("/admin/catalog/hardware/small/edit")
	b.Do(chromedp.Click(chromedp.CSS(`button[value="remove:f/providers/sandbox"]`)))
	b.Until(`!document.getElementById("text").value.includes("sandbox") && !document.querySelector("#fields fieldset")`)
	b.Do(chromedp.SendKeys(chromedp.CSS(`input[name=new-provider]`), "sandbox"), chromedp.Click(chromedp.CSS(`button[value="addnamed:f/providers"]`)))
	b.Until(`document.getElementById("text").value.includes("sandbox: {}") && document.querySelector("#fields fieldset")`)
	b.Open("/admin/catalog/import")
	b.Do(chromedp.SendKeys(chromedp.ID("pasted"), "kind: image\nname: one\nproviders: {nowhere: {image: 3}}\n"), chromedp.Click(chromedp.CSS(`button[value=check]`)))
	b.Until(`document.querySelector(".report-problems")`)
	b.Shoot("catalog-import")
}
