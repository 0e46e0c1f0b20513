//go:build real

package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"

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
type termPage struct{ *portaltest.Browser }

// onScreen is what a terminal shows, in JavaScript.
const onScreen = `(() => { const b = window.musterTerminal.buffer.active, all = [];
	for (let i = 0; i < b.length; i++) all.push(b.getLine(i).translateToString(true)); return all.join("\n") + "\n"; })()`

// shows waits until the screen has a text, which is JavaScript.
func (b termPage) shows(js string) {
	b.Until(`window.musterTerminal && ` + onScreen + `.includes(` + js + `)`)
}

func (b termPage) state(name string) {
	b.Until(`document.getElementById("term-state") && document.getElementById("term-state").dataset.state === "` + name + `"`)
}

func (b termPage) line(text string) { b.Do(chromedp.KeyEvent(text + "\r")) }

func (b termPage) click(css string) { b.Do(chromedp.Click(chromedp.CSS(css))) }

// TestBrowserTerminal is a terminal on a node in a real browser: it outlives a server that is killed, is recorded, and works on a phone.
func TestBrowserTerminal(t *testing.T) {
	t.Parallel()
	const password = "correct horse battery"
	p := newProcessAt(t, steadyAddress(t), "MUSTER_ADMIN_PASSWORD="+password)
	v := p.await(p.create(2).ID)
	b := termPage{portaltest.Open(t, p.client().Settings().URL)}
	b.Open("/clusters/" + v.ID + "/access")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "admin"), chromedp.SendKeys(chromedp.ID("password"), password), chromedp.Submit(chromedp.ID("password")))
	b.Until(`document.querySelector('[aria-label="Open terminal on n1"]')`)
	b.click(`[aria-label="Open terminal on n1"]`)
	b.state("open")
	b.line(`A=be''fore; echo re''ady-$A`)
	b.shows(`"ready-before"`)
	b.line("top -d 1")
	b.shows(`"load average"`)

	p.kill()
	b.state("wait")
	p.start()
	b.state("open")
	b.shows(`"load average"`)
	b.Do(chromedp.KeyEvent("q"))
	b.line(`echo still-$A`)
	b.shows(`"still-before"`) // the same shell
	b.line(`echo wide-$(tput cols)-`)
	b.shows(`"wide-" + musterTerminal.cols + "-"`)
	wide := b.Eval(`String(musterTerminal.cols)`)
	b.Size(800, 700)
	b.Until(`String(musterTerminal.cols) !== "` + wide + `"`)
	b.line(`echo narrow-$(tput cols)-`)
	b.shows(`"narrow-" + musterTerminal.cols + "-"`)
	b.click("#term-quit")
	b.state("end")
	b.Until(`document.querySelector(".term-over").textContent.includes("You closed this terminal.")`)

	b.recorded(v.ID)
	b.phone(v.ID)
}

// recorded records a terminal and plays it.
func (b termPage) recorded(cluster string) {
	b.Size(1280, 900)
	b.Open("/terminals")
	b.click(`input[name="record"]`)
	b.Do(chromedp.Submit(chromedp.ID("keep_days")))
	b.Until(`location.search === "?saved"`)
	b.Open("/clusters/" + cluster + "/nodes/n1/terminal")
	b.Until(`document.getElementById("term-start")`)
	b.Until(`document.getElementById("term-state").textContent.trim() === "Not started"`)
	b.Until(`document.querySelector(".term-over").textContent.includes("Terminals here are recorded.")`)
	b.click("#term-start")
	b.state("open")
	b.Until(`!document.getElementById("term-recorded").hidden`)
	b.line(`echo gr''ün-$(tput cols)-; exit`)
	b.state("end")
	b.Open("/terminals")
	b.Until(`[...document.querySelectorAll("#terminals a")].some(a => a.textContent.includes("Play recording"))`)
	b.Do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll("#terminals a")].find(a => a.textContent.includes("Play recording")).click()`))
	b.shows(`"grün-"`)
}

// phone uses the keys below the terminal.
func (b termPage) phone(cluster string) {
	b.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	b.Open("/clusters/" + cluster + "/nodes/n1/terminal")
	b.Until(`document.getElementById("term-start")`)
	b.click("#term-start")
	b.state("open")
	b.Until(`getComputedStyle(document.getElementById("term-keys")).display === "flex" && document.documentElement.scrollWidth <= 390`)
	b.line(`echo on-a-ph''one`)
	b.shows(`"on-a-phone"`)
	b.click(`[data-key="up"]`)
	b.Do(chromedp.KeyEvent("\r"))
	b.Until(onScreen + `.split("on-a-phone").length === 3`)
	b.line(`sleep 1000 || echo st''opped; echo ba''ck-$?`)
	b.shows(`"sleep 1000"`)
	b.click(`[data-key="ctrl"]`)
	b.Until(`document.querySelector('[data-key="ctrl"]').getAttribute("aria-pressed") === "true"`)
	b.Do(chromedp.KeyEvent("c"))
	b.line(`echo af''ter`)
	b.shows(`"after"`)
	b.click("#term-quit")
	b.state("end")
}
