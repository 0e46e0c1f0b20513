//go:build real

package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"muster/portal/portaltest"
)

// steadyAddress is one to listen on again after a restart: below the ports that programs get that ask for any.
func steadyAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 21000+rand.IntN(9000)))
		if err == nil {
			_ = l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// termPage is a browser with the page of a terminal.
type termPage struct {
	*portaltest.Browser
	t *testing.T
}

// termHangs is reached only where something hangs.
const termHangs = 20 * time.Second

// onScreen is what a terminal shows, in JavaScript.
const onScreen = `(() => { const b = window.musterTerminal.buffer.active, all = [];
	for (let i = 0; i < b.length; i++) all.push(b.getLine(i).translateToString(true)); return all.join("\n") + "\n"; })()`

// shows waits until the screen has a text, which is JavaScript.
func (b termPage) shows(js string) {
	b.until(`!!window.musterTerminal && ` + onScreen + `.includes(` + js + `)`)
}

// until is Until, and says what is shown where it never happens.
func (b termPage) until(js string) {
	b.t.Helper()
	for late := time.Now().Add(termHangs); ; time.Sleep(20 * time.Millisecond) {
		is, err := chromedp.Run(b.Ctx, chromedp.Evaluate[bool](`document.readyState !== "loading" && !!(`+js+`)`))
		if err == nil && is {
			return
		}
		if time.Now().After(late) {
			text, _ := chromedp.Run(b.Ctx, chromedp.Evaluate[string](`(window.musterTerminal ? `+onScreen+` : "") + document.body.innerText`))
			b.t.Fatalf("%s never becomes true (%v), but:\n%s", js, err, text)
		}
	}
}

func (b termPage) state(name string) {
	b.until(`document.getElementById("term-state") && document.getElementById("term-state").dataset.state === "` + name + `"`)
}

func (b termPage) line(text string) { b.Keys(text + "\r") }

func (b termPage) click(css string) { b.Do(chromedp.Click(chromedp.CSS(css))) }

// TestBrowserTerminal is a terminal on a node in a real browser: it outlives a server that is killed, is recorded, and works on a phone.
func TestBrowserTerminal(t *testing.T) {
	t.Parallel()
	const password = "correct horse battery"
	p := newProcessAt(t, steadyAddress(t), "MUSTER_ADMIN_PASSWORD="+password)
	v := p.await(p.create(3).ID)
	b := termPage{portaltest.Open(t, p.client().Settings().URL), t}
	b.Open("/clusters/" + v.ID + "/access")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "admin"), chromedp.SendKeys(chromedp.ID("password"), password), chromedp.Submit(chromedp.ID("password")))
	b.until(`document.querySelector('[aria-label="Open terminal on n1"]')`)
	b.click(`[aria-label="Open terminal on n1"]`)
	b.state("open")
	b.line(`A=be''fore; echo re''ady-$A`)
	b.shows(`"ready-before"`)
	b.line(`top -d 1; echo be''yond`)
	b.shows(`"load average"`)

	p.kill()
	b.state("wait")
	p.start()
	b.state("open")
	b.shows(`"load average"`)
	b.Keys("q")
	b.shows(`"beyond"`) // top drops what is typed until it has ended
	b.line(`echo still-$A`)
	b.shows(`"still-before"`) // the same shell
	b.line(`echo wide-$(tput cols)-`)
	b.shows(`"wide-" + musterTerminal.cols + "-"`)
	wide := b.Eval(`String(musterTerminal.cols)`)
	b.Size(800, 700)
	b.until(`String(musterTerminal.cols) !== "` + wide + `"`)
	b.line(`echo narrow-$(tput cols)-`)
	b.shows(`"narrow-" + musterTerminal.cols + "-"`)
	b.click("#term-quit")
	b.state("end")
	b.until(`document.querySelector(".term-over").textContent.includes("You closed this terminal.")`)

	b.recorded(v.ID)
	b.phone(v.ID)
}

// recorded records a terminal and plays it.
func (b termPage) recorded(cluster string) {
	b.Size(1280, 900)
	b.Open("/terminals")
	b.click(`input[name="record"]`)
	b.Do(chromedp.Submit(chromedp.ID("keep_days")))
	b.until(`location.search === "?saved"`)
	b.Open("/clusters/" + cluster + "/nodes/n1/terminal")
	b.until(`document.getElementById("term-start")`)
	b.until(`document.getElementById("term-state").textContent.trim() === "Not started"`)
	b.until(`document.querySelector(".term-over").textContent.includes("Terminals here are recorded.")`)
	b.click("#term-start")
	b.state("open")
	b.until(`!document.getElementById("term-recorded").hidden`)
	b.line(`echo gr''ün-$(tput cols)-`)
	b.shows(`"grün-"`)
	b.line(`sleep 4; exit`)
	b.state("end")
	b.Open("/terminals")
	b.until(`[...document.querySelectorAll("#terminals a")].some(a => a.textContent.includes("Play recording"))`)
	b.Do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll("#terminals a")].find(a => a.textContent.includes("Play recording")).click()`))
	b.until(`document.getElementById("play-go") && document.getElementById("play-go").textContent.trim() === "Play again"`)
	b.shows(`"exited"`)
	b.Eval(`(at => { at.value = at.max; at.oninput(); return "" })(document.getElementById("play-at"))`)
	b.until(`document.getElementById("play-go").textContent.trim() === "Play again"`)
	// Back from its end, as far as needed: how long the end takes is up to the host. What a position shows is read at the next try, since
	// the terminal writes later.
	const seek = `(at => { if (` + onScreen + `.includes("grün-")) return true;
		at.value = at.value > 0 ? at.value - 0.2 : at.max; at.oninput(); return false })(document.getElementById("play-at"))`
	b.until(seek)
	// However fast positions follow each other, only the last one is shown.
	b.Eval(`(at => { for (const v of [0, at.max, 0]) { at.value = v; at.oninput(); }
		musterTerminal.write("", () => { document.body.dataset.written = "yes" }); return "" })(document.getElementById("play-at"))`)
	b.until(`document.body.dataset.written && !/grün-|exited/.test(` + onScreen + `)`)
}

// phone uses the keys below the terminal.
func (b termPage) phone(cluster string) {
	b.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	b.Open("/clusters/" + cluster + "/nodes/n1/terminal")
	b.until(`document.getElementById("term-start")`)
	b.click("#term-start")
	b.state("open")
	b.until(`getComputedStyle(document.getElementById("term-keys")).display === "flex" && document.documentElement.scrollWidth <= 390`)
	b.until(`/[#$] *\n/.test(` + onScreen + `)`) // what is typed before is shown twice
	b.line(`cat -v`)
	b.shows(`"cat -v"`)
	b.click(`[data-key="up"]`)
	b.click(`[data-key="|"]`)
	b.Keys("\r")
	b.shows(`"^[[A|"`)
	b.click(`[data-key="ctrl"]`)
	b.until(`document.querySelector('[data-key="ctrl"]').getAttribute("aria-pressed") === "true"`)
	b.Keys("c")
	b.until(`/\^C\s*\n.*[#$]/.test(` + onScreen + `)`) // what was typed before is dropped
	b.line(`echo af''ter-$?`)
	b.shows(`"after-130"`)
	b.click("#term-quit")
	b.state("end")
}
